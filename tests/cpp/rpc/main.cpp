#include <cstdio>
#include <string>

#include "cpp/rpc/workers.h"
#include "support/run_tests.h"

int main(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != "--role") return tandem::testing::run_tests(argc, argv);
  const auto& roles = tandem::testing::workers::roles();
  const auto found = roles.find(argv[2]);
  if (found == roles.end()) {
    std::fprintf(stderr, "no role is named '%s'\n", argv[2]);
    return 2;
  }
  tandem::testing::say_error(found->second);
  return 0;
}
