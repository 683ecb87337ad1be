// What a shell and `man` know of the tool, written from its own commands and flags.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tandem::launch {

// Adds `tandem completion SHELL` and `tandem man`, which print.
void add_page_commands(CLI::App& app);

// A script that completes subcommands, flags and, in their place, names of files. `shell` is bash, zsh or fish. Throws
// Failure for another.
std::string completion_script(const CLI::App& app, const std::string& shell);

// The manual page tandem(1), for man's macros.
std::string manual_page(const CLI::App& app);

}  // namespace tandem::launch
