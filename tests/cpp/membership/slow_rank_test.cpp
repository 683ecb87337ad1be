// Ranks that all others wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace tandem::membership {
namespace {

// Seconds of a job of three ranks, in each of which they report: `awaited` alone waits for nobody.
void pass_seconds(Job& job, int count, std::int64_t& step, std::int64_t steps_a_second, Member awaited) {
  for (int second = 0; second < count; ++second) {
    step += steps_a_second;
    for (Member member = 0; member < 3; ++member) job.say(member, Progress{1, step, member != awaited, ""});
    job.pass(milliseconds(1000));
  }
}
constexpr Member kNobody = 9;

TEST(SlowRanks, NamesASlowRankOnce) {
  Job job = three();
  std::int64_t step = 0;
  for (int i = 0; i < 300; ++i) {  // half of the time the others compute as well
    pass_seconds(job, 1, step, 2, 2);
    for (Member member = 0; member < 3; ++member) job.say(member, Progress{1, step, false, ""});
    job.pass(milliseconds(1000));
  }
  ASSERT_EQ(job.count(Event::Kind::kSlow), 1);
  EXPECT_EQ(job.events.back().member, 2);
  EXPECT_THAT(job.events.back().text, ::testing::HasSubstr("all others waited for it"));
  pass_seconds(job, 60, step, 2, 0);  // another one from here on
  ASSERT_EQ(job.count(Event::Kind::kSlow), 2);
  EXPECT_EQ(job.events.back().member, 0);
  EXPECT_EQ(job.count(Event::Kind::kHung), 0);
}

TEST(SlowRanks, RanksThatTakeTurnsInBeingTheLastAreNotSlow) {
  Job job = three();
  std::int64_t step = 0;
  for (int i = 0; i < 100; ++i) pass_seconds(job, 3, step, 2, i % 3);
  pass_seconds(job, 100, step, 2, kNobody);  // a collective of some size
  EXPECT_EQ(job.count(Event::Kind::kSlow), 0);
}

TEST(SlowRanks, NamesWhoIsLongInOneStepAndNoLongStepsAsSuch) {
  Job job = three();
  std::int64_t step = 0;
  pass_seconds(job, 40, step, 1, kNobody);
  pass_seconds(job, 9, step, 0, 1);  // a checkpoint, say
  pass_seconds(job, 40, step, 1, kNobody);
  EXPECT_EQ(job.count(Event::Kind::kSlow), 0);
  pass_seconds(job, 12, step, 0, 1);
  ASSERT_EQ(job.count(Event::Kind::kSlow), 1);
  EXPECT_EQ(job.events.back().member, 1);
  EXPECT_THAT(job.events.back().text, ::testing::HasSubstr("in which no step was completed"));

  Job slow = three();
  std::int64_t other = 0;
  for (int i = 0; i < 12; ++i) {  // steps of 20 s, at whose end one is waited for
    pass_seconds(slow, 9, other, 0, kNobody);
    pass_seconds(slow, 8, other, 0, 1);
    pass_seconds(slow, 3, other, 0, kNobody);
    ++other;
  }
  EXPECT_EQ(slow.count(Event::Kind::kSlow), 0);
}

TEST(SlowRanks, OneRankAloneOrAnEpochThatEndsIsNotSlow) {
  Job job(1);
  job.start(1);
  job.join(0);
  job.serve(0);
  for (int second = 0; second < 100; ++second) {
    job.say(0, Progress{1, second, false, ""});
    job.pass(milliseconds(1000));
  }
  EXPECT_EQ(job.count(Event::Kind::kSlow), 0);
  Job two = three();
  std::int64_t step = 0;
  pass_seconds(two, 15, step, 2, 2);
  two.lose(1);  // what was seen so far is of another epoch
  pass_seconds(two, 15, step, 2, 2);
  EXPECT_EQ(two.count(Event::Kind::kSlow), 0);
}

}  // namespace
}  // namespace tandem::membership
