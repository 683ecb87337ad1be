// A program that ends while native threads compute ends cleanly.
#include <gmock/gmock.h>

#include <cstdlib>

#include "capi/process.h"
#include "tandem/tandem.h"

namespace {

void ends_cleanly(const std::string& mode, int times) {
  for (int i = 0; i < times; ++i) {
    const Ended ended = run_program(LEAVE_PROGRAM " " + mode);
    EXPECT_EQ(ended.exit_code, 7) << mode << ", run " << i;
    EXPECT_EQ(ended.output, "bye");
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Leave, WhileThreadsCompute) {
  ends_cleanly("compute", 15);
}
TEST(Leave, WhileThreadsRunBackward) {
  ends_cleanly("backward", 15);
}
TEST(Leave, AfterShutdown) {
  ends_cleanly("shutdown", 5);
}
TEST(Leave, WithAForkedChild) {
  // The child has what the parent's threads kept on their stacks, but not those threads: LeakSanitizer takes it for lost.
  const char* options = std::getenv("ASAN_OPTIONS");
  const std::string before = options ? options : "";
  setenv("ASAN_OPTIONS", (before + ":detect_leaks=0").c_str(), 1);
  ends_cleanly("fork", 3);
  setenv("ASAN_OPTIONS", before.c_str(), 1);
}

TEST(Leave, WithACallThatNeverEnds) {
  const Ended ended = run_program(LEAVE_PROGRAM " stuck");
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_THAT(ended.output, testing::StartsWith(std::to_string(TDM_ERROR_TIMEOUT) + " after 50 ms"));
  EXPECT_THAT(ended.output, testing::HasSubstr("tdm_tensor_free"));
  EXPECT_THAT(ended.output, testing::EndsWith("\nbye"));
}

}  // namespace
