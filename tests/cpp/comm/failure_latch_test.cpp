// The states of a group, who is told of them, and what the first failure leaves to the others.
#include "comm/failure_latch.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

namespace tandem::testing::failure_latch_test {
namespace {

using ::testing::ElementsAre;
using State = FailureLatch::State;
using std::chrono::milliseconds;

const Error kLost(ErrorCode::kPeerLost, "rank 1 died");
const Error kLate(ErrorCode::kTimeout, "rank 2 did not take part");

class Told {
 public:
  explicit Told(FailureLatch& latch) {
    latch.listen([this](const Error& reason) { reasons_.push_back(reason.what()); });
  }
  std::vector<std::string> reasons_;
};

TEST(FailureLatch, IsOpenWithoutAReason) {
  FailureLatch latch;
  EXPECT_TRUE(latch.is_open());
  EXPECT_FALSE(latch.has_ended());
  EXPECT_FALSE(latch.reason().has_value());
  EXPECT_FALSE(latch.wait_until_ended(milliseconds(1)));
}

TEST(FailureLatch, KeepsTheFirstFailureAndTellsItOnce) {
  FailureLatch latch;
  const Told told(latch);
  EXPECT_TRUE(latch.fail(kLost));
  EXPECT_FALSE(latch.fail(kLate));
  EXPECT_FALSE(latch.close("closed"));
  EXPECT_EQ(latch.state(), State::kFailed);
  EXPECT_EQ(latch.reason()->code(), ErrorCode::kPeerLost);
  EXPECT_THAT(told.reasons_, ElementsAre("rank 1 died"));
}

TEST(FailureLatch, AnAbortEndsWhatFailedAndWhatIsClosing) {
  FailureLatch failed, closing;
  const Told of_failed(failed), of_closing(closing);
  failed.fail(kLost);
  EXPECT_TRUE(failed.abort("given up"));
  EXPECT_FALSE(failed.abort("given up again"));
  EXPECT_EQ(failed.reason()->code(), ErrorCode::kAborted);
  EXPECT_THAT(of_failed.reasons_, ElementsAre("rank 1 died", "given up"));
  EXPECT_TRUE(closing.close("closed"));
  EXPECT_TRUE(closing.abort("given up"));
  EXPECT_THAT(of_closing.reasons_, ElementsAre("given up"));
}

TEST(FailureLatch, NothingBeginsInAClosingGroupAndWhatWaitsGoesOn) {
  FailureLatch latch;
  const Told told(latch);
  EXPECT_TRUE(latch.close("closed"));
  EXPECT_FALSE(latch.close("closed again"));
  EXPECT_FALSE(latch.fail(kLost)) << "a rank that goes now is not missed";
  EXPECT_FALSE(latch.is_open());
  EXPECT_FALSE(latch.has_ended());
  EXPECT_EQ(latch.reason()->code(), ErrorCode::kAborted);
  EXPECT_TRUE(told.reasons_.empty());
}

TEST(FailureLatch, WhoListensLateIsToldAtOnce) {
  FailureLatch latch;
  latch.fail(kLost);
  EXPECT_THAT(Told(latch).reasons_, ElementsAre("rank 1 died"));
}

TEST(FailureLatch, OnlyTheFailureItKeepsIsExplained) {
  FailureLatch latch;
  const Error explained(ErrorCode::kPeerLost, "all_reduce #3 failed: rank 1 died");
  EXPECT_FALSE(latch.explain(kLost, explained));
  latch.fail(kLost);
  EXPECT_FALSE(latch.explain(kLate, explained));
  EXPECT_FALSE(latch.explain(Error(ErrorCode::kTimeout, kLost.what()), explained));
  EXPECT_TRUE(latch.explain(kLost, explained));
  EXPECT_STREQ(latch.reason()->what(), explained.what());
  EXPECT_FALSE(latch.explain(kLost, explained)) << "another collective's, which came to the same end";
  latch.abort("given up");
  EXPECT_FALSE(latch.explain(explained, kLost));
  EXPECT_STREQ(latch.reason()->what(), "given up");
}

// A listener may report, close and abort in its turn: nothing is locked while it is told.
TEST(FailureLatch, ListenersMayUseIt) {
  FailureLatch latch;
  std::vector<std::string> seen;
  latch.listen([&](const Error& reason) {
    seen.push_back(reason.what());
    EXPECT_FALSE(latch.fail(kLate));
    latch.abort("given up");
  });
  latch.fail(kLost);
  EXPECT_THAT(seen, ElementsAre("rank 1 died", "given up"));
}

TEST(FailureLatch, OneOfManyThreadsIsTheFirst) {
  for (int round = 0; round < 200; ++round) {
    FailureLatch latch;
    std::atomic<int> told{0}, first{0};
    latch.listen([&](const Error&) { ++told; });
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] { first += latch.fail(Error(ErrorCode::kPeerLost, std::to_string(i))); });
    }
    threads.emplace_back([&] { EXPECT_TRUE(latch.wait_until_ended(milliseconds(20000))); });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(first, 1);
    EXPECT_EQ(told, 1);
  }
}

}  // namespace
}  // namespace tandem::testing::failure_latch_test
