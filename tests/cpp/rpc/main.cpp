#include <cstdio>
#include <string>

#include "cpp/comm/network.h"
#include "cpp/rpc/workers.h"
#include "support/run_tests.h"

int main(int argc, char** argv) {
  using tandem::testing::Network;
  if (argc != 3 || std::string(argv[1]) != "--role") {
    // Of these alone: in a network of its own a test's listeners are no other test's.
    if (argc == 2 && std::string(argv[1]) == "--file=hogwild_test") Network::enter();
    return tandem::testing::run_tests(argc, argv);
  }
  Network::join();
  if (std::string(argv[2]) == "host") return Network::be_host();
  const auto& roles = tandem::testing::workers::roles();
  const auto found = roles.find(argv[2]);
  if (found == roles.end()) {
    std::fprintf(stderr, "no role is named '%s'\n", argv[2]);
    return 2;
  }
  tandem::testing::say_error(found->second);
  return 0;
}
