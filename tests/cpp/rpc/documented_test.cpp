// What docs/rpc.md shows runs, with the headers that it names: they come first here.
#include "cpp/rpc/documented.h"

#include <gmock/gmock.h>

#include "cpp/rpc/workers.h"

namespace tandem::testing::rpc_documented_test {
namespace {

using namespace workers;

const Role kDocumented("as documented", [] {
  say(std::to_string(call_worker1(at::full({2}, 3), at::ones({2})).sum().item<double>()));
});

TEST(Documented, TheFirstExcerptRuns) {
  const Job job;
  for (const auto& worker : start(job, {"as documented", "as documented"})) {
    EXPECT_EQ(worker->line(), std::to_string(2.0 * (3 + 1) * (2 * 3)));
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

}  // namespace
}  // namespace tandem::testing::rpc_documented_test
