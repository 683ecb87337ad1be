// The main() of test programs that have none of their own.
#include "support/run_tests.h"

int main(int argc, char** argv) {
  return tandem::testing::run_tests(argc, argv);
}
