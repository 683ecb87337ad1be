// `tandem run`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tandem::launch {

// Adds the subcommand `run`; its exit code is put into *exit_code. `arguments`, all after argv[0], are those of agents
// that it has Slurm start on other nodes. Throws Failure.
void add_run_command(CLI::App& app, int* exit_code, std::vector<std::string> arguments);

// The arguments after argv[0] as CLI11 takes them, last one first. `tandem run` leaves every "--" to the program but
// one that stands before it; CLI11 would take the first for itself.
std::vector<std::string> arguments_for_parser(std::vector<std::string> arguments);

}  // namespace tandem::launch
