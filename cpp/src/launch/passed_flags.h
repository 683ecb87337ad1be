// A command's flags, written again for another process.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

namespace tandem::launch {

// Those that `command` was given, by words or by variables, as words; without those of the names `but` ("--node-rank").
std::vector<std::string> passed_flags(const CLI::App& command, const std::set<std::string>& but);

}  // namespace tandem::launch
