// The subcommands, by file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tandem::data_tool {

// Before `output` is said to be whole: throws Error(kDataLoss) where a file was cut off while it was read.
void require_all_read(const std::string& output);

// inspect_commands.cpp: what reads only
void add_info(CLI::App& record);
void add_cat(CLI::App& record);
// verify_command.cpp
void add_verify(CLI::App& record);
// repair_commands.cpp
void add_index(CLI::App& record);
void add_repair(CLI::App& record);
// write_commands.cpp: one file of records out of others
void add_write(CLI::App& record);
void add_convert(CLI::App& record);
void add_shuffle(CLI::App& record);
// divide_commands.cpp
void add_merge(CLI::App& record);
void add_split(CLI::App& record);
// import_command.cpp
void add_import(CLI::App& record);

}  // namespace tandem::data_tool
