#include "checkpoint/folder.h"

#include <gmock/gmock.h>

namespace tandem::checkpoint {
namespace {

TEST(CheckpointNames, AreNumbersInOneSpelling) {
  EXPECT_EQ(step_name(0), "step-000000000");
  EXPECT_EQ(step_name(INT64_MAX), "step-9223372036854775807");
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{7}, std::int64_t{1000000000}, INT64_MAX}) {
    EXPECT_EQ(step_of(step_name(step)), step);
  }
  for (const char* name : {"", "step-", "step-7", "step--00000007", "step-000000007.tmp", "step-0000000007",
                           "step-00000000x", "step-9223372036854775808", "Step-000000007"}) {
    EXPECT_FALSE(step_of(name)) << name;
  }
}

}  // namespace
}  // namespace tandem::checkpoint
