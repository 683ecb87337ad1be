// `tandem record …`.
#pragma once

#include <CLI/CLI.hpp>

namespace tandem {

// Adds the subcommands to the tool's `app`. They throw tandem::Error.
void add_record_commands(CLI::App& app);

}  // namespace tandem
