#include "gpu/two_ranks.h"
#include "support/run_tests.h"

int main(int argc, char** argv) {
  if (argc < 3 || std::string(argv[1]) != "--role") return tandem::testing::run_tests(argc, argv);
  return tandem::testing::two_ranks::run_role({argv + 2, argv + argc});
}
