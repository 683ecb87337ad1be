// `tandem doctor`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tandem::doctor {

// Adds the subcommand; its exit code is put into *exit_code: 1 where there is a problem. `release`: the tool's version.
// It throws launch::Failure.
void add_doctor_command(CLI::App& app, const std::string& release, int* exit_code);

}  // namespace tandem::doctor
