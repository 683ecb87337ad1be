#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "job.h"

namespace tandem::membership {
namespace {

TEST(Coordinator, FormsWhenAllThatWereStartedHaveJoined) {
  Job job(3);
  job.start(3);
  job.join(2);
  job.join(0);
  EXPECT_EQ(job.coordinator.epoch(), 0);
  job.join(1);
  ASSERT_EQ(job.told<Form>(0).size(), 1u);
  EXPECT_TRUE(job.told<Form>(0)[0].serves);
  EXPECT_EQ(job.told<Form>(0)[0].rank, 0);
  // The others hear of it once there is a store to meet at.
  EXPECT_THAT(job.told<Form>(1), IsEmpty());
  job.serve(0);
  ASSERT_EQ(job.told<Form>(2).size(), 1u);
  EXPECT_EQ(job.told<Form>(2)[0].rank, 2);
  EXPECT_EQ(job.told<Form>(2)[0].port, 1234);
  EXPECT_THAT(job.told<Form>(2)[0].committed, ElementsAre(-1, -1, -1));
}

TEST(Coordinator, GoesOnWithTheOthersWhenOneIsLost) {
  Job job = three();
  job.lose(0);
  ASSERT_EQ(job.told<Interrupt>(1).size(), 1u);
  EXPECT_EQ(job.told<Interrupt>(1)[0].epoch, 1);
  EXPECT_EQ(job.told<Interrupt>(1)[0].reason, "it was killed");
  job.join(2, 20, "peer lost");
  EXPECT_EQ(job.coordinator.epoch(), 1);
  job.join(1, 10, "peer lost");
  EXPECT_EQ(job.coordinator.epoch(), 2);
  ASSERT_EQ(job.told<Form>(1).size(), 1u);  // the lowest that is left is the first
  EXPECT_TRUE(job.told<Form>(1)[0].serves);
  EXPECT_THAT(job.told<Form>(1)[0].committed, ElementsAre(10, 20));
}

TEST(Coordinator, TellsTheOthersOfAGroupThatFailed) {
  Job job = three();
  job.join(1, 10, "a collective timed out");
  EXPECT_EQ(job.told<Interrupt>(0).size(), 1u);
  EXPECT_EQ(job.told<Interrupt>(2).size(), 1u);
  EXPECT_THAT(job.told<Interrupt>(1), IsEmpty());
}

TEST(Coordinator, PutsASpareInTheLostOnesPlaceAtOnce) {
  Job job(2);
  job.start(3);
  for (Member member = 0; member < 3; ++member) job.join(member);
  job.serve(0);
  EXPECT_THAT(job.told<Form>(2), IsEmpty());
  EXPECT_THAT(job.told<Pause>(0), IsEmpty());
  job.forget();
  job.lose(0);
  job.join(1, 5, "peer lost");
  ASSERT_EQ(job.told<Form>(1).size(), 1u);
  EXPECT_THAT(job.told<Form>(1)[0].committed, ElementsAre(5, -1));
  job.serve(1);
  ASSERT_EQ(job.told<Form>(2).size(), 1u);
  EXPECT_EQ(job.told<Form>(2)[0].rank, 1);
}

TEST(Coordinator, DoesNotWaitForSparesAtTheBeginning) {
  Job job(2);
  job.start(3);
  job.join(0);
  job.join(1);
  EXPECT_EQ(job.coordinator.epoch(), 1);
}

TEST(Coordinator, StopsAllRanksAtOneStepForOneThatJoins) {
  Job job = three(4);
  const Member fourth = job.start_in(3);
  job.join(fourth);
  EXPECT_THAT(job.told<Pause>(0), IsEmpty());  // others may come, too
  job.pass(milliseconds(100));
  ASSERT_EQ(job.told<Pause>(0).size(), 1u);
  const auto first = job.told<Pause>(0)[0];
  job.forget();
  for (Member member = 0; member < 3; ++member) job.say(member, PauseAnswer{1, first.number, 7 + member, false});
  ASSERT_EQ(job.told<Pause>(1).size(), 1u);
  const auto second = job.told<Pause>(1)[0];
  EXPECT_EQ(second.step, 10);  // none is past it
  job.say(0, PauseAnswer{1, second.number, 9, true});
  job.say(1, PauseAnswer{1, second.number, 10, false});
  job.forget();
  job.say(2, PauseAnswer{1, second.number, 9, true});
  EXPECT_THAT(job.told<Go>(0), IsEmpty());
  ASSERT_EQ(job.told<Pause>(0).size(), 1u);
  const auto third = job.told<Pause>(0)[0];
  EXPECT_GT(third.step, 10);
  for (Member member = 0; member < 3; ++member) job.say(member, PauseAnswer{1, third.number, 10, true});
  ASSERT_EQ(job.told<Go>(2).size(), 1u);
  EXPECT_EQ(job.told<Go>(2)[0].number, third.number);
  job.forget();
  for (Member member = 0; member < 3; ++member) job.join(member, third.step);
  EXPECT_THAT(job.told<Interrupt>(2), IsEmpty());
  EXPECT_EQ(job.coordinator.epoch(), 2);
  ASSERT_EQ(job.told<Form>(0).size(), 1u);
  EXPECT_THAT(job.told<Form>(0)[0].committed, ElementsAre(third.step, third.step, third.step, -1));
}

TEST(Coordinator, ARankThatIsLostOnTheWayToAStopInterruptsTheOthers) {
  Job job = three(4);
  job.join(job.start_in(3));
  job.pass(milliseconds(100));
  const auto pause = job.told<Pause>(0)[0];
  for (Member member = 0; member < 3; ++member) job.say(member, PauseAnswer{1, pause.number, 0, true});
  ASSERT_EQ(job.told<Go>(1).size(), 1u);
  job.join(0, 5);  // it is there; the others have yet to make their step, with one that dies
  job.lose(2);
  EXPECT_EQ(job.told<Interrupt>(1).size(), 1u);
  job.join(1, 0, "peer lost");
  EXPECT_EQ(job.coordinator.epoch(), 2);
}

TEST(Coordinator, AStopThatTheTrainingsEndOvertakesIsCalledOff) {
  Job job = three(4);
  job.join(job.start_in(3));
  job.pass(milliseconds(100));
  const auto pause = job.told<Pause>(0)[0];
  job.say(0, PauseAnswer{1, pause.number, 9, true});
  job.forget();
  job.say(1, Done{1});
  // Rank 0 may wait there by now.
  ASSERT_EQ(job.told<Pause>(0).size(), 1u);
  EXPECT_GT(job.told<Pause>(0)[0].step, 1'000'000'000);
  job.say(0, Done{1});
  job.say(2, Done{1});
  EXPECT_TRUE(job.coordinator.finished());
  EXPECT_EQ(job.told<Finished>(3).size(), 1u);
}

TEST(Coordinator, OnceOneHasEndedNobodyNewComesIn) {
  Job job(2);
  job.start(3);
  for (Member member = 0; member < 3; ++member) job.join(member);
  job.serve(0);
  job.say(0, Done{1});
  job.forget();
  job.lose(1);  // in its last step: nobody has to make it
  EXPECT_TRUE(job.coordinator.finished());
  EXPECT_EQ(job.told<Finished>(2).size(), 1u);
  EXPECT_THAT(job.told<Form>(2), IsEmpty());
}

TEST(Coordinator, ARankBesideOneThatHasEndedFinishesByItself) {
  Job job = three();
  job.say(0, Done{1});
  job.lose(1);
  job.join(2, 30, "peer lost");
  ASSERT_EQ(job.told<Form>(2).size(), 1u);
  EXPECT_THAT(job.told<Form>(2)[0].committed, ElementsAre(30));
  job.serve(2);
  job.say(2, Done{2});
  EXPECT_TRUE(job.coordinator.finished());
}

TEST(Coordinator, SaysWhenThereAreTooFew) {
  Job job(2, 2);
  job.start(2);
  job.join(0);
  job.join(1);
  job.serve(0);
  job.lose(1);
  EXPECT_EQ(job.count(Event::Kind::kTooFew), 0);
  job.join(0, 4, "peer lost");
  EXPECT_EQ(job.count(Event::Kind::kTooFew), 1);
}

TEST(Coordinator, WaitsForOneThatIsStartedAgainWhereThereAreTooFew) {
  Job job(2, 2);
  job.start(2);
  job.join(0);
  job.join(1);
  job.serve(0);
  const Member again = job.start_in(1);
  job.lose(1);
  job.join(0, 4, "peer lost");
  EXPECT_EQ(job.count(Event::Kind::kTooFew), 0);
  job.join(again);
  ASSERT_EQ(job.coordinator.epoch(), 2);
}

TEST(Coordinator, NamesRanksThatDoNotMeet) {
  Job job = three();
  job.lose(0);
  job.join(1, 4, "peer lost");
  job.pass(milliseconds(31000));
  ASSERT_EQ(job.count(Event::Kind::kHung), 1);
  EXPECT_EQ(job.events.back().member, 2);
  job.lose(2);
  EXPECT_EQ(job.coordinator.epoch(), 2);
}

TEST(Coordinator, NamesAFirstRankThatMakesNoStore) {
  Job job(2);
  job.start(2);
  job.join(0);
  job.join(1);
  job.pass(milliseconds(31000));
  ASSERT_EQ(job.count(Event::Kind::kHung), 1);
  EXPECT_EQ(job.events.back().member, 0);
  job.lose(0);
  // Rank 1 was never told of that epoch, and waits still.
  ASSERT_EQ(job.told<Form>(1).size(), 1u);
  EXPECT_TRUE(job.told<Form>(1)[0].serves);
}

TEST(Coordinator, NamesOneThatGivesNoSignOfLife) {
  Job job = three();
  for (int second = 0; second < 29; ++second) {
    job.pass(milliseconds(1000));
    for (const Member member : {0, 2}) job.say(member, Progress{1, 5, true, ""});
  }
  EXPECT_EQ(job.count(Event::Kind::kHung), 0);
  job.pass(milliseconds(1000));
  job.pass(milliseconds(1000));
  ASSERT_EQ(job.count(Event::Kind::kHung), 1);
  EXPECT_EQ(job.events.back().member, 1);
}

TEST(Coordinator, TimeInWhichItStoodStillItselfMakesNobodyLate) {
  Job job = three();
  job.pass(milliseconds(1000));
  job.pass(milliseconds(3'600'000));
  EXPECT_EQ(job.count(Event::Kind::kHung), 0);
}

TEST(Coordinator, NamesWhomTheOthersWaitFor) {
  Job job = three(3, milliseconds(10000));
  const auto seconds = [&](int count, std::int64_t step, bool second_waits) {
    for (int second = 0; second < count; ++second) {
      job.pass(milliseconds(1000));
      for (Member member = 0; member < 3; ++member) job.say(member, Progress{1, step, member != 1 || second_waits, ""});
    }
  };
  seconds(8, 1, false);
  seconds(8, 2, false);
  EXPECT_EQ(job.count(Event::Kind::kHung), 0);
  seconds(4, 2, false);
  ASSERT_EQ(job.count(Event::Kind::kHung), 1);
  EXPECT_EQ(job.events.back().member, 1);
  EXPECT_THAT(job.told<Interrupt>(0), IsEmpty());
}

TEST(Coordinator, RanksThatAllWaitForEachOtherBeginAnew) {
  Job job = three(3, milliseconds(10000));
  for (int second = 0; second < 12; ++second) {
    job.pass(milliseconds(1000));
    for (Member member = 0; member < 3; ++member) job.say(member, Progress{1, 3, true, ""});
  }
  EXPECT_EQ(job.count(Event::Kind::kHung), 0);
  EXPECT_EQ(job.told<Interrupt>(0).size(), 1u);
  EXPECT_EQ(job.told<Interrupt>(2).size(), 1u);
}

TEST(Coordinator, ARankLeavesBetweenTwoSteps) {
  Job job = three();
  job.say(1, Leave{1});
  job.pass(milliseconds(100));
  const auto pause = job.told<Pause>(1)[0];
  for (Member member = 0; member < 3; ++member) job.say(member, PauseAnswer{1, pause.number, 0, true});
  job.join(0, 1);
  job.say(1, Bye{1});
  EXPECT_EQ(job.coordinator.epoch(), 1);
  job.join(2, 1);
  ASSERT_EQ(job.coordinator.epoch(), 2);
  EXPECT_EQ(job.coordinator.world_size(), 2);
  EXPECT_TRUE(job.coordinator.is_done(1));
  EXPECT_THAT(job.told<Interrupt>(0), IsEmpty());
}

TEST(Coordinator, OneThatWantsToLeaveWhileItWaitsIsReleased) {
  Job job(1);
  job.start(2);
  job.join(0);
  job.join(1);
  job.serve(0);
  job.say(1, Leave{0});  // a spare
  EXPECT_EQ(job.told<Released>(1).size(), 1u);
  EXPECT_TRUE(job.coordinator.has_left(1));

  Job others = three();
  others.say(1, Leave{1});
  others.lose(2);  // before there was a stop
  others.join(1, 7, "peer lost");
  EXPECT_TRUE(others.told<Released>(1).empty());  // it may be the only one with the newest commit
  others.join(0, 7, "peer lost");
  EXPECT_EQ(others.told<Released>(1).size(), 1u);
  ASSERT_EQ(others.told<Form>(0).size(), 1u);
  EXPECT_THAT(others.told<Form>(0)[0].committed, ElementsAre(7));
}

TEST(Coordinator, TheOnlyOneWithTheStateLeavesOnceAnotherHasIt) {
  Job job(1);
  job.start(2);
  job.join(0);
  job.join(1);
  job.serve(0);
  job.say(0, Leave{1});
  job.pass(milliseconds(100));
  job.say(0, PauseAnswer{1, job.told<Pause>(0)[0].number, 0, true});
  ASSERT_EQ(job.told<Go>(0).size(), 1u);
  EXPECT_FALSE(job.told<Go>(0)[0].may_leave);
  job.forget();
  job.join(0, 5);
  ASSERT_EQ(job.told<Form>(0).size(), 1u);
  EXPECT_THAT(job.told<Form>(0)[0].committed, ElementsAre(5, -1));
  job.serve(0);
  job.pass(milliseconds(100));
  const auto pause = job.told<Pause>(0)[0];
  for (const Member member : {0, 1}) job.say(member, PauseAnswer{2, pause.number, 5, true});
  EXPECT_TRUE(job.told<Go>(0)[0].may_leave);
  job.say(0, Bye{2});
  job.forget();
  job.join(1, 6);
  EXPECT_THAT(job.told<Form>(1)[0].committed, ElementsAre(6));
}

TEST(Coordinator, OneWhoseConnectionEndedIsNotLostBeforeItsProcessIs) {
  Job job(1);
  job.start(1);
  job.join(0);
  job.serve(0);
  job.coordinator.disconnected(0, "it closed its connection", job.now);
  job.pass(milliseconds(1));
  EXPECT_EQ(job.count(Event::Kind::kTooFew), 0);
  const Member again = job.start_in(0);
  job.lose(0);
  EXPECT_EQ(job.count(Event::Kind::kTooFew), 0);
  job.join(again);
  EXPECT_EQ(job.coordinator.epoch(), 2);
}

TEST(Coordinator, WhoJoinsAfterItsEndIsTold) {
  Job job(1);
  job.start(1);
  job.join(0);
  job.serve(0);
  job.say(0, Done{1});
  job.join(0, 9);
  EXPECT_EQ(job.told<Finished>(0).size(), 1u);
}

TEST(Coordinator, PermitsWhatOnlyAnEpochThatRunsMayDo) {
  Job job = three();
  job.say(0, Permit{1, 5});
  EXPECT_TRUE(job.coordinator.is_asked());
  EXPECT_THAT(job.told<Permitted>(0), IsEmpty());
  job.coordinator.permit();
  job.pass(milliseconds(1));
  ASSERT_EQ(job.told<Permitted>(0).size(), 1u);
  EXPECT_EQ(job.told<Permitted>(0)[0].number, 5);
  EXPECT_EQ(job.told<Permitted>(0)[0].why_not, "");
  EXPECT_FALSE(job.coordinator.is_asked());
  // Who asked when it ended is told, and so is who asks later.
  job.say(1, Permit{1, 6});
  job.lose(2);
  ASSERT_EQ(job.told<Permitted>(1).size(), 1u);
  EXPECT_NE(job.told<Permitted>(1)[0].why_not, "");
  job.say(0, Permit{1, 7});
  ASSERT_EQ(job.told<Permitted>(0).size(), 2u);
  EXPECT_NE(job.told<Permitted>(0)[1].why_not, "");
  EXPECT_FALSE(job.coordinator.is_asked());
}

TEST(Coordinator, PassesOverWhatAnEarlierEpochSays) {
  Job job = three();
  job.lose(0);
  job.join(1, 4, "peer lost");
  job.join(2, 4, "peer lost");
  job.serve(1);
  job.forget();
  job.say(2, Done{1});
  job.say(2, Serve{1, "127.0.0.1", 99});
  job.say(1, PauseAnswer{1, 1, 3, true});
  EXPECT_FALSE(job.coordinator.is_done(2));
  EXPECT_EQ(job.coordinator.world_size(), 2);
}

// Whatever happens in whatever order, members that behave come to an end, all with the same epochs.
TEST(Coordinator, AnyOrderOfLossesAndJoinsComesToAnEnd) {
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto chance = [&](int of) { return random() % static_cast<std::uint32_t>(of) == 0; };
    Job job(3);
    job.start(3);
    struct Process {
      bool joined = false;
      bool done = false;
      std::int64_t epoch = 0;
      std::int64_t step = 0;
      std::optional<Pause> stop;
      bool agreed = false;
    };
    std::map<Member, Process> processes;
    for (Member member = 0; member < 3; ++member) processes[member];
    constexpr std::int64_t kSteps = 20;
    int losses = 6;
    int turns = 0;
    const auto all_done = [&] {
      return std::ranges::all_of(processes, [](const auto& item) { return item.second.done; });
    };
    while (!all_done() && ++turns < 5000) {
      auto at = processes.begin();
      std::advance(at, random() % processes.size());
      const Member member = at->first;
      Process& process = at->second;
      if (process.done) continue;
      if (losses > 0 && chance(40)) {
        --losses;
        processes.erase(member);
        const Member again = chance(3) && !processes.empty() ? -1 : job.start_in(static_cast<int>(random() % 3));
        job.lose(member);
        if (again >= 0) processes[again];
        if (processes.empty()) break;
        continue;
      }
      if (process.epoch == 0 && !process.joined) {
        process.joined = true;
        job.join(member, -1);
      } else if (process.joined) {
        if (!job.told<Finished>(member).empty()) {
          process.done = true;
          continue;
        }
        const auto forms = job.told<Form>(member);
        if (forms.empty() || forms.back().epoch <= process.epoch) {
          job.pass(milliseconds(20));
          continue;
        }
        process.epoch = forms.back().epoch;
        process.joined = false;
        process.stop.reset();
        process.agreed = false;
        process.step = std::max<std::int64_t>(std::ranges::max(forms.back().committed), 0);
        ASSERT_EQ(forms.back().rank < static_cast<int>(forms.back().committed.size()), true);
        if (forms.back().serves) job.say(member, Serve{process.epoch, "127.0.0.1", 1});
      } else {
        const auto interrupts = job.told<Interrupt>(member);
        if (!interrupts.empty() && interrupts.back().epoch == process.epoch) {
          process.joined = true;
          job.join(member, process.step, "interrupted");
          continue;
        }
        const auto pauses = job.told<Pause>(member);
        if (!pauses.empty() && pauses.back().epoch == process.epoch &&
            (!process.stop || process.stop->number != pauses.back().number)) {
          process.stop = pauses.back();
          job.say(member, PauseAnswer{process.epoch, process.stop->number, process.step, process.step < process.stop->step});
          continue;
        }
        const auto gos = job.told<Go>(member);
        process.agreed = process.stop && !gos.empty() && gos.back().number == process.stop->number;
        if (process.stop && process.step >= process.stop->step && process.stop->step > 0) {
          if (!process.agreed) {
            job.pass(milliseconds(5));
            continue;
          }
          process.joined = true;
          job.join(member, process.step);
        } else if (process.step == kSteps) {
          process.done = true;
          job.say(member, Done{process.epoch});
        } else {
          ++process.step;
        }
      }
    }
    if (processes.empty()) continue;
    EXPECT_TRUE(all_done()) << turns;
    EXPECT_TRUE(job.coordinator.finished());
    EXPECT_EQ(job.count(Event::Kind::kHung), 0);
  }
}

}  // namespace
}  // namespace tandem::membership
