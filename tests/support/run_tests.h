// What test programs do: GoogleTest, and --file=NAME, which runs only the tests of NAME.cpp. So a room's tests are one
// program and still one CTest test a file, each with its own process, environment and limit.
#pragma once

namespace tandem::testing {

// What main() returns.
int run_tests(int argc, char** argv);

}  // namespace tandem::testing
