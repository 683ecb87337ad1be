// Another coordinator that goes on where the one before is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace tandem::membership {
namespace {

Returned was(int state, std::int64_t epoch, int rank, std::int64_t committed = -1) {
  Returned process;
  process.slot = rank;
  process.state = state;
  process.elastic = true;
  process.rank = rank;
  process.epoch = process.history = epoch;
  process.committed = committed;
  return process;
}

TEST(TakeOver, WaitsForAllThatTookPartAndGoesOnFromTheirCommits) {
  Job job(3);
  job.coordinator.take_over(5);
  job.coordinator.returned(10, was(Returned::kWaiting, 5, 2, 40), job.now);
  job.coordinator.returned(11, was(Returned::kTaking, 5, 1), job.now);
  job.coordinator.open(job.now);
  job.pass(milliseconds(1));
  EXPECT_EQ(job.told<Interrupt>(11).size(), 1u);
  EXPECT_THAT(job.told<Interrupt>(10), IsEmpty());
  EXPECT_THAT(job.told<Form>(10), IsEmpty());
  job.say(11, Join{5, 41, "its group failed"});
  ASSERT_EQ(job.told<Form>(11).size(), 1u);  // in the order of their ranks
  EXPECT_TRUE(job.told<Form>(11)[0].serves);
  EXPECT_EQ(job.told<Form>(11)[0].epoch, 6);
  EXPECT_THAT(job.told<Form>(11)[0].committed, ElementsAre(41, 40));
}

TEST(TakeOver, NumbersNoEpochAsOneThatWasConfirmed) {
  Job job(1);
  job.coordinator.take_over(9);  // of which nobody that came back has heard
  job.coordinator.returned(0, was(Returned::kWaiting, 7, 0, 3), job.now);
  job.coordinator.open(job.now);
  job.pass(milliseconds(1));
  ASSERT_EQ(job.told<Form>(0).size(), 1u);
  EXPECT_EQ(job.told<Form>(0)[0].epoch, 10);
}

TEST(TakeOver, BeginsTheFirstEpochOnceAllHaveJoined) {
  Job job(2);
  job.coordinator.take_over(0);
  Returned early = was(Returned::kWaiting, 0, -1);
  early.slot = 0;
  Returned late = was(Returned::kStarting, 0, -1);
  late.slot = 1;
  job.coordinator.returned(0, early, job.now);
  job.coordinator.returned(1, late, job.now);
  job.coordinator.open(job.now);
  job.pass(milliseconds(1));
  EXPECT_EQ(job.coordinator.epoch(), 0);
  job.join(1);
  EXPECT_EQ(job.coordinator.epoch(), 1);
}

TEST(TakeOver, WhoHasComeToTheEndIsNotAskedToBeginAnew) {
  Job job(2);
  job.coordinator.take_over(3);
  job.coordinator.returned(0, was(Returned::kDone, 3, 0), job.now);
  job.coordinator.returned(1, was(Returned::kTaking, 3, 1), job.now);
  job.coordinator.open(job.now);
  job.pass(milliseconds(1));
  job.say(1, Done{3});  // it was past its last collective
  EXPECT_TRUE(job.coordinator.finished());
  EXPECT_THAT(job.told<Form>(0), IsEmpty());
}

TEST(TakeOver, ARankBesideOneThatHasEndedFinishesByItself) {
  Job job(2);
  job.coordinator.take_over(3);
  job.coordinator.returned(0, was(Returned::kDone, 3, 0), job.now);
  job.coordinator.returned(1, was(Returned::kTaking, 3, 1), job.now);
  job.coordinator.open(job.now);
  job.say(1, Join{3, 39, "its group failed"});
  ASSERT_EQ(job.told<Form>(1).size(), 1u);
  EXPECT_THAT(job.told<Form>(1)[0].committed, ElementsAre(39));
}

TEST(TakeOver, WhatWasComputedBesideTheNewestEpochDoesNotCount) {
  Job job(2);
  job.coordinator.take_over(6);
  job.coordinator.returned(0, was(Returned::kWaiting, 6, 0, 50), job.now);
  job.coordinator.returned(1, was(Returned::kWaiting, 5, 1, 90), job.now);  // went on alone, in an epoch that was over
  job.coordinator.open(job.now);
  job.pass(milliseconds(1));
  ASSERT_EQ(job.told<Form>(0).size(), 1u);
  EXPECT_THAT(job.told<Form>(0)[0].committed, ElementsAre(50, -1));
}

TEST(TakeOver, NobodyBeginsAnewWhileWhoHasTheStateMayComeBack) {
  for (const bool comes : {true, false}) {
    Job job(2);
    job.coordinator.take_over(6);
    job.coordinator.returned(0, was(Returned::kWaiting, 0, -1), job.now);
    job.coordinator.open(job.now);
    job.pass(milliseconds(3000));
    EXPECT_THAT(job.told<Form>(0), IsEmpty());
    if (comes) {
      job.coordinator.returned(1, was(Returned::kTaking, 6, 0), job.now);
      job.say(1, Join{6, 30, "its keeper was lost"});
      ASSERT_EQ(job.told<Form>(0).size(), 1u);
      EXPECT_THAT(job.told<Form>(0)[0].committed, ElementsAre(-1, 30));
    } else {
      job.pass(milliseconds(3000));
      ASSERT_EQ(job.told<Form>(0).size(), 1u);
    }
  }
}

TEST(TakeOver, WhoIsDoneBeforeAllAreBackIsNotWaitedFor) {
  Job job(2);
  job.coordinator.take_over(3);
  job.coordinator.returned(0, was(Returned::kTaking, 3, 0), job.now);
  job.coordinator.returned(1, was(Returned::kTaking, 3, 1), job.now);
  job.say(0, Done{3});
  job.coordinator.open(job.now);
  job.say(1, Done{3});
  EXPECT_TRUE(job.coordinator.finished());
}

TEST(TakeOver, OneThatComesBackLateIsTakenInBetweenTwoSteps) {
  Job job(2);
  job.coordinator.take_over(3);
  job.coordinator.returned(0, was(Returned::kWaiting, 3, 0, 20), job.now);
  job.coordinator.open(job.now);
  job.pass(milliseconds(1));
  job.serve(0);
  job.coordinator.returned(1, was(Returned::kWaiting, 3, 1, 20), job.now);
  job.pass(milliseconds(100));
  EXPECT_EQ(job.told<Pause>(0).size(), 1u);
}

TEST(TakeOver, RanksOfAnOlderEpochAreOnTheirWay) {
  Job job(2, /*least=*/2);
  job.coordinator.take_over(4);
  job.coordinator.returned(0, was(Returned::kWaiting, 4, 0, 20), job.now);
  job.coordinator.returned(1, was(Returned::kTaking, 3, 1), job.now);
  job.coordinator.open(job.now);
  job.pass(milliseconds(1));
  EXPECT_EQ(job.count(Event::Kind::kTooFew), 0);
  job.say(1, Join{3, 18, "its keeper was lost"});
  EXPECT_EQ(job.told<Form>(0).size(), 1u);
}

TEST(TakeOver, OneThatMissedAnEpochWithoutAnyStepLosesNothing) {
  Job job = three();
  for (Member member = 0; member < 3; ++member) job.say(member, Join{1, 10, "its group failed"});
  // The first rank of epoch 2 is lost before the others heard of it.
  ASSERT_EQ(job.coordinator.epoch(), 2);
  job.lose(0);
  job.forget();
  job.pass(milliseconds(1));
  job.serve(1);
  ASSERT_EQ(job.told<Form>(2).size(), 1u);
  EXPECT_THAT(job.told<Form>(2)[0].committed, ElementsAre(10, 10));
}

}  // namespace
}  // namespace tandem::membership
