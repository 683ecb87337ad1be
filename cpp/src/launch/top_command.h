// `tandem top`.
#pragma once

#include <CLI/CLI.hpp>

namespace tandem::launch {

// Adds the subcommand to the tool's `app`. It throws Failure.
void add_top_command(CLI::App& app);

}  // namespace tandem::launch
