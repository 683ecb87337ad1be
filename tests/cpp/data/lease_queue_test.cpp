#include "tandem/lease_queue.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "cpp/data/expect_error.h"

namespace tandem::lease_queue_test {
namespace {

using Answer = LeaseQueue::Answer;

constexpr LeasePlan kPlan{.positions = 20, .batch_size = 8, .micro_batch = 3};

LeaseQueue begun(std::int32_t world_size, const LeasePlan& plan = kPlan) {
  LeaseQueue queue(plan);
  EXPECT_EQ(queue.begin(1, world_size, 0, 0, {}), Answer::kDone);
  return queue;
}

Lease must_lease(LeaseQueue& queue, std::int32_t rank, std::int64_t step, std::int64_t epoch = 0) {
  Lease lease;
  EXPECT_EQ(queue.lease(queue.generation(), rank, epoch, step, &lease), Answer::kDone);
  return lease;
}

Answer try_lease(LeaseQueue& queue, std::int32_t rank, std::int64_t step, std::int64_t epoch = 0) {
  Lease lease;
  return queue.lease(queue.generation(), rank, epoch, step, &lease);
}

// Has `rank` compute what is left of a step.
void finish(LeaseQueue& queue, std::int32_t rank, std::int64_t step, std::int64_t epoch = 0) {
  Lease lease;
  while (queue.lease(queue.generation(), rank, epoch, step, &lease) == Answer::kDone) {
    EXPECT_EQ(queue.complete(queue.generation(), rank, lease, lease.size), Answer::kDone);
  }
}

CommittedStep must_commit(LeaseQueue& queue, std::int32_t rank, std::int64_t step, std::int64_t epoch = 0) {
  CommittedStep done;
  EXPECT_EQ(queue.commit(queue.generation(), rank, epoch, step, &done), Answer::kDone);
  return done;
}

TEST(LeaseQueue, DealsAStepOutToWhoeverAsks) {
  LeaseQueue queue = begun(3);
  const Lease a = must_lease(queue, 1, 0);
  EXPECT_EQ(a, (Lease{0, 0, 0, 0, 3}));
  const Lease b = must_lease(queue, 0, 0);
  EXPECT_EQ(b, (Lease{0, 0, 1, 3, 3}));
  EXPECT_EQ(queue.complete(1, 1, a, 3), Answer::kDone);
  const Lease c = must_lease(queue, 1, 0);
  EXPECT_EQ(c, (Lease{0, 0, 2, 6, 2}));
  EXPECT_EQ(try_lease(queue, 2, 0), Answer::kWait);  // nothing left for it
  CommittedStep done;
  EXPECT_EQ(queue.commit(1, 0, 0, 0, &done), Answer::kWait);
  EXPECT_EQ(queue.complete(1, 1, c, 2), Answer::kDone);
  EXPECT_EQ(queue.complete(1, 0, b, 2), Answer::kDone);
  for (const std::int32_t rank : {0, 1, 2}) EXPECT_EQ(try_lease(queue, rank, 0), Answer::kWhole);
  EXPECT_EQ(queue.record(0, 0).samples(), 7);  // rank 0 had left one out

  EXPECT_EQ(queue.commit(1, 2, 0, 0, &done), Answer::kDone);  // also by the one without a part
  EXPECT_EQ(done, (CommittedStep{1, 0, 0, {{0, 1, 3}, {1, 0, 2}, {2, 1, 2}}, {}}));
  EXPECT_EQ(queue.position(), 8);
  EXPECT_EQ(queue.record(0, 0), done);
  EXPECT_EQ(must_commit(queue, 0, 0), done);  // the others find it done
  EXPECT_EQ(queue.position(), 8);
  EXPECT_EQ(try_lease(queue, 1, 0), Answer::kWhole);
}

TEST(LeaseQueue, LastStepsAndEpochs) {
  for (const Tail tail : {Tail::kShort, Tail::kDrop, Tail::kRepeat}) {
    LeasePlan plan = kPlan;
    plan.tail = tail;
    LeaseQueue queue = begun(1, plan);
    for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
      const std::int64_t steps = tail == Tail::kDrop ? 2 : 3;
      for (std::int64_t step = 0; step < steps; ++step) {
        EXPECT_EQ(queue.epoch(), epoch);
        EXPECT_EQ(queue.position(), step * 8);
        std::int64_t samples = 0;
        Lease lease;
        while (queue.lease(1, 0, epoch, step, &lease) == Answer::kDone) {
          EXPECT_EQ(lease.begin, step * 8 + samples);
          samples += lease.size;
          queue.complete(1, 0, lease, lease.size);
        }
        EXPECT_EQ(samples, step == 2 && tail == Tail::kShort ? 4 : 8);
        must_commit(queue, 0, step, epoch);
      }
      EXPECT_EQ(try_lease(queue, 0, steps, epoch), Answer::kEnd);
      EXPECT_EQ(try_lease(queue, 0, steps - 1, epoch), Answer::kWhole);
    }
    EXPECT_EQ(queue.epoch(), 2);
    EXPECT_EQ(queue.position(), 0);
  }
}

TEST(LeaseQueue, PartsLargerThanABatchAreTheBatch) {
  LeasePlan plan = kPlan;
  plan.micro_batch = std::numeric_limits<std::int64_t>::max();
  LeaseQueue queue = begun(1, plan);
  EXPECT_EQ(try_lease(queue, 0, 3), Answer::kEnd);
  EXPECT_EQ(must_lease(queue, 0, 0), (Lease{0, 0, 0, 0, 8}));
  EXPECT_EQ(try_lease(queue, 0, 0), Answer::kWait);
}

TEST(LeaseQueue, StepsAheadAreLeasedButNotCommitted) {
  LeaseQueue queue = begun(2);
  const Lease early = must_lease(queue, 0, 1);
  EXPECT_EQ(early, (Lease{0, 1, 0, 8, 3}));
  EXPECT_EQ(try_lease(queue, 0, 2), Answer::kWait);  // two ahead
  CommittedStep done;
  EXPECT_ERROR(queue.commit(1, 0, 0, 1, &done), ErrorCode::kInvalidArgument, "step 1", "next is step 0");
  finish(queue, 1, 0);
  must_commit(queue, 1, 0);
  EXPECT_EQ(queue.complete(1, 0, early, 3), Answer::kDone);
  finish(queue, 1, 1);
  EXPECT_EQ(must_commit(queue, 0, 1).parts.front(), (CommittedStep::Part{0, 0, 3}));
}

TEST(LeaseQueue, PartsOfALostRankGoBackTheComputedOnesToo) {
  LeaseQueue queue = begun(2);
  const Lease computed = must_lease(queue, 0, 0);
  queue.complete(1, 0, computed, 3);
  const Lease leased = must_lease(queue, 0, 0);
  const Lease ahead = must_lease(queue, 0, 1);
  EXPECT_EQ(queue.lose(1, 0), Answer::kDone);
  EXPECT_EQ(queue.lose(1, 0), Answer::kDone);  // by another that noticed
  std::set<std::int64_t> begins;
  for (int i = 0; i < 3; ++i) begins.insert(must_lease(queue, 1, 0).begin);
  EXPECT_EQ(begins, (std::set<std::int64_t>{0, 3, 6}));
  EXPECT_EQ(must_lease(queue, 1, 1), ahead);

  // The lost one, which lived on, changes nothing.
  const auto before = queue.holders(0, 0);
  EXPECT_EQ(try_lease(queue, 0, 0), Answer::kStale);
  EXPECT_EQ(queue.complete(1, 0, leased, 3), Answer::kStale);
  EXPECT_EQ(queue.fail(1, 0, leased, 5, "?"), Answer::kStale);
  CommittedStep done;
  EXPECT_EQ(queue.commit(1, 0, 0, 0, &done), Answer::kStale);
  EXPECT_EQ(queue.holders(0, 0), before);
  EXPECT_EQ(queue.position(), 0);
  EXPECT_TRUE(queue.quarantine().empty());
}

TEST(LeaseQueue, WhatWasSkippedIsInTheRecordOfWhoeverComputedThePart) {
  LeaseQueue queue = begun(2);
  const Lease lost = must_lease(queue, 0, 0);
  queue.complete(1, 0, lost, 1, {{lost.micro, 0, 2}});
  queue.lose(1, 0);  // another rank may be able to read them
  const Lease first = must_lease(queue, 1, 0), second = must_lease(queue, 1, 0), third = must_lease(queue, 1, 0);
  queue.complete(1, 1, second, second.size - 2, {{second.micro, 0, 1}, {second.micro, 2, 1}});
  queue.complete(1, 1, third, third.size);
  queue.complete(1, 1, first, first.size - 1, {{first.micro, 1, 1}});
  const std::vector<CommittedStep::Skipped> expected = {
      {first.micro, 1, 1}, {second.micro, 0, 1}, {second.micro, 2, 1}};
  EXPECT_EQ(must_commit(queue, 1, 0).skipped, expected);
  EXPECT_EQ(queue.record(0, 0).skipped, expected);
}

TEST(LeaseQueue, AStepWhoseExchangeMayHaveBegunStaysWhole) {
  LeaseQueue queue = begun(2);
  finish(queue, 0, 0);
  queue.lose(1, 0);
  EXPECT_EQ(try_lease(queue, 1, 0), Answer::kWhole);
  must_commit(queue, 1, 0);  // its optimizer stepped
  EXPECT_EQ(queue.position(), 8);
}

TEST(LeaseQueue, AGenerationBeginsWhereItsModelIs) {
  LeaseQueue queue = begun(2);
  finish(queue, 0, 0);
  must_commit(queue, 0, 0);
  const Lease old = must_lease(queue, 0, 1);
  // The models that survived are from before the step.
  EXPECT_EQ(queue.begin(2, 1, 0, 0, {}), Answer::kDone);
  EXPECT_EQ(queue.position(), 0);
  EXPECT_EQ(queue.complete(1, 0, old, 3), Answer::kStale);
  Lease lease;
  EXPECT_EQ(queue.lease(1, 0, 0, 0, &lease), Answer::kStale);
  EXPECT_EQ(queue.begin(1, 2, 0, 8, {}), Answer::kStale);
  EXPECT_EQ(must_lease(queue, 0, 0).begin, 0);
  // Ranks that come later must have the same model.
  EXPECT_EQ(queue.begin(2, 1, 0, 0, {}), Answer::kDone);
  EXPECT_ERROR(queue.begin(2, 1, 0, 8, {}), ErrorCode::kInvalidArgument, "position 0 of epoch 0", "position 8");
  // From the middle of a batch, with batches from there on.
  queue.begin(3, 1, 4, 3, {});
  EXPECT_EQ(must_lease(queue, 0, 0, 4).begin, 3);
  finish(queue, 0, 0, 4);
  EXPECT_ERROR(queue.complete(3, 0, {4, 0, 1, 6, 3}, 3), ErrorCode::kInvalidArgument, "rank 0", "part 1");
}

TEST(LeaseQueue, SamplesThatFailAgainAndAgainAreNamed) {
  LeaseQueue queue = begun(2);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const Lease lease = must_lease(queue, attempt % 2, 0);
    EXPECT_EQ(lease.begin, 0);  // it went back
    EXPECT_EQ(queue.fail(1, attempt % 2, lease, 77, "bad JPEG " + std::to_string(attempt)), Answer::kDone);
    EXPECT_EQ(queue.quarantine().size(), attempt == 3 ? 1u : 0u);
  }
  EXPECT_EQ(queue.quarantine()[0], (Quarantined{77, 0, 0, 3, "bad JPEG 3"}));
  finish(queue, 0, 0);
  const CommittedStep done = must_commit(queue, 0, 0);
  EXPECT_EQ(done.left_out, queue.quarantine());
  finish(queue, 0, 1);
  EXPECT_TRUE(must_commit(queue, 0, 1).left_out.empty());
  // The next generation is told, as the model that survived has it.
  queue.begin(2, 1, 0, 0, queue.quarantine());
  EXPECT_EQ(queue.quarantine().size(), 1u);
}

TEST(LeaseQueue, ReasonsAreTextOfWholeLetters) {
  LeaseQueue queue = begun(1);
  const std::string letters(499, 'a');
  for (int i = 0; i < 3; ++i) queue.fail(1, 0, must_lease(queue, 0, 0), 7, letters + "\xc3\xa9");
  for (int i = 0; i < 3; ++i) queue.fail(1, 0, must_lease(queue, 0, 0), 8, "\xff, \xc3\xa9");
  ASSERT_EQ(queue.quarantine().size(), 2u);
  EXPECT_EQ(queue.quarantine()[0].reason, letters);
  EXPECT_EQ(queue.quarantine()[1].reason, "\xef\xbf\xbd, \xc3\xa9");
}

TEST(LeaseQueue, FailuresAreCountedByStepAndLimitedInAll) {
  LeasePlan plan = kPlan;
  plan.most_quarantined = 1;
  LeaseQueue queue = begun(1, plan);
  const auto fail = [&](std::int64_t step, std::int64_t sample) {
    return queue.fail(1, 0, must_lease(queue, 0, step), sample, "bad");
  };
  // Of a step ahead: that one's record names it, and a commit of the one before forgets nothing of it.
  for (int i = 0; i < 3; ++i) fail(1, 9);
  for (int i = 0; i < 2; ++i) fail(0, 5);
  finish(queue, 0, 0);
  EXPECT_TRUE(queue.record(0, 0).left_out.empty());
  EXPECT_TRUE(must_commit(queue, 0, 0).left_out.empty());
  EXPECT_EQ(queue.quarantine(), (std::vector<Quarantined>{{9, 0, 1, 3, "bad"}}));
  // What failed in step 0, and then did not, begins at none.
  for (int i = 0; i < 2; ++i) fail(1, 5);
  EXPECT_ERROR(fail(1, 5), ErrorCode::kDataLoss, "most_quarantined", "sample 5", "bad");
  EXPECT_EQ(queue.holders(0, 1), (std::map<std::int32_t, int>{{0, 1}}));
}

TEST(LeaseQueue, ASampleThatAnOrderRepeatsIsInQuarantineOnce) {
  LeasePlan plan = kPlan;
  plan.most_failures = 1;
  plan.most_quarantined = 1;
  LeaseQueue queue = begun(2, plan);
  const Lease first = must_lease(queue, 0, 0), second = must_lease(queue, 1, 0), ahead = must_lease(queue, 1, 1);
  EXPECT_EQ(queue.fail(1, 0, first, 77, "bad"), Answer::kDone);
  EXPECT_EQ(queue.fail(1, 1, second, 77, "bad"), Answer::kDone);
  EXPECT_EQ(queue.fail(1, 1, ahead, 77, "bad"), Answer::kDone);
  EXPECT_EQ(queue.quarantine(), (std::vector<Quarantined>{{77, 0, 0, 1, "bad"}}));
  EXPECT_TRUE(queue.holders(0, 0).empty());
  EXPECT_TRUE(queue.holders(0, 1).empty());
  EXPECT_ERROR(queue.fail(1, 0, must_lease(queue, 0, 0), 78, "bad"), ErrorCode::kDataLoss, "most_quarantined");
}

TEST(LeaseQueue, AllRanksOfAGenerationHaveOneQuarantine) {
  const std::vector<Quarantined> known = {{4, 0, 0, 3, "bad"}};
  LeaseQueue queue(kPlan);
  EXPECT_EQ(queue.begin(1, 2, 0, 8, known), Answer::kDone);
  EXPECT_EQ(queue.begin(1, 2, 0, 8, known), Answer::kDone);
  EXPECT_ERROR(queue.begin(1, 2, 0, 8, {}), ErrorCode::kInvalidArgument, "quarantine", "model");
  finish(queue, 0, 1);
  EXPECT_TRUE(must_commit(queue, 0, 1).left_out.empty());  // it is known
}

TEST(LeaseQueue, RecordsAreOfWholeSteps) {
  LeaseQueue queue = begun(2);
  EXPECT_ERROR(queue.record(0, 0), ErrorCode::kInvalidArgument, "step 0", "meet");
  must_lease(queue, 1, 0);
  EXPECT_ERROR(queue.record(0, 0), ErrorCode::kInvalidArgument, "step 0");
  EXPECT_EQ(queue.holders(0, 0), (std::map<std::int32_t, int>{{1, 1}}));
  EXPECT_EQ(queue.complete(1, 1, {0, 0, 0, 0, 3}, 3), Answer::kDone);
  finish(queue, 0, 0);
  const CommittedStep record = queue.record(0, 0);
  EXPECT_EQ(must_commit(queue, 0, 0), record);
  finish(queue, 0, 1);
  must_commit(queue, 0, 1);
  EXPECT_ERROR(queue.record(0, 0), ErrorCode::kInvalidArgument, "step 0", "step 2");
}

// Calls come from other processes, which may mean anything.
TEST(LeaseQueue, CountsAreWithinThePart) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  LeaseQueue queue = begun(1);
  must_lease(queue, 0, 0), must_lease(queue, 0, 0);
  Lease part = must_lease(queue, 0, 0);
  ASSERT_EQ(part.size, 2);
  part.size = kFar;  // as it is said to be
  EXPECT_ERROR(queue.complete(1, 0, part, 3), kInvalid, "part 2 of step 0", "2 samples", "3");
  EXPECT_ERROR(queue.complete(1, 0, part, -1), kInvalid, "within it");
  for (const CommittedStep::Skipped run : {CommittedStep::Skipped{1, 0, 1}, {2, -1, 1}, {2, 1, 2}, {2, kFar, kFar}}) {
    EXPECT_ERROR(queue.complete(1, 0, part, 1, {run}), kInvalid, "within it");
  }
  EXPECT_EQ(queue.complete(1, 0, part, 1, {{2, 1, 1}}), Answer::kDone);
  EXPECT_EQ(try_lease(queue, 0, kFar), Answer::kEnd);
  EXPECT_EQ(try_lease(queue, 0, kFar, kFar), Answer::kWait);
  EXPECT_ERROR(queue.record(kFar, kFar), kInvalid, "no record");
}

TEST(LeaseQueue, NamesWhatAnotherPlanHas) {
  const LeaseQueue queue = begun(1);
  queue.require(kPlan);
  LeasePlan other = kPlan;
  other.micro_batch = 4;
  EXPECT_ERROR(queue.require(other), ErrorCode::kInvalidArgument, "another plan",
               "micro_batch 3 rather than 4; give all ranks the same data set and options");
  other = kPlan;
  other.content = 1;
  EXPECT_ERROR(queue.require(other), ErrorCode::kInvalidArgument, "with another data set, order or seed;");
}

TEST(LeaseQueue, RefusesWhatCannotBe) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  const auto make = [](auto change) {
    LeasePlan plan = kPlan;
    change(plan);
    LeaseQueue queue(plan);
  };
  EXPECT_ERROR(make([](LeasePlan& plan) { plan.batch_size = 0; }), kInvalid, "batch_size");
  EXPECT_ERROR(make([](LeasePlan& plan) { plan.micro_batch = 0; }), kInvalid, "micro_batch");
  EXPECT_ERROR(make([](LeasePlan& plan) { plan.tail = Tail::kPad; }), kInvalid, "tail");
  EXPECT_ERROR(make([](LeasePlan& plan) { plan.positions = 0; }), kInvalid, "positions");
  EXPECT_ERROR(make([](LeasePlan& plan) { plan.batch_size = std::int64_t{1} << 60; }), kInvalid, "batch_size");
  EXPECT_ERROR(make([](LeasePlan& plan) { plan.batch_size = 1 << 20; }), kInvalid, "too many parts", "65536");
  EXPECT_ERROR(make([](LeasePlan& plan) { plan.batch_size = 21, plan.tail = Tail::kDrop; }), kInvalid, "no batch");
  LeaseQueue queue(kPlan);
  EXPECT_ERROR(queue.begin(0, 1, 0, 0, {}), kInvalid, "generation");
  EXPECT_ERROR(queue.begin(1, 1, 0, 21, {}), kInvalid, "position 21");
  EXPECT_EQ(try_lease(queue, 0, 0), Answer::kStale);  // nobody began
}

// Ranks that lease, compute, fail and die in any order: what is committed is each position once an epoch, in order.
TEST(LeaseQueue, CommitsEveryPositionOnceWhateverHappens) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    LeasePlan plan = kPlan;
    plan.positions = 1 + any(40);
    plan.batch_size = 1 + any(12);
    plan.micro_batch = 1 + any(5);
    plan.steps_ahead = any(3);
    LeaseQueue queue(plan);
    // The model: what is committed in it, by epoch. Between generations ranks take that of one which lives.
    struct Rank {
      bool lives = true;
      std::int64_t epoch = 0, position = 0, step = 0;
      std::vector<Lease> held;
    };
    std::map<std::int64_t, std::multiset<std::int64_t>> model;
    std::vector<Rank> ranks(static_cast<std::size_t>(1 + any(4)));
    std::int64_t generation = 1;
    const auto begin = [&](std::int64_t epoch, std::int64_t position) {
      for (Rank& rank : ranks) {
        rank = {true, epoch, position, position / plan.batch_size, {}};
        ASSERT_EQ(queue.begin(generation, static_cast<std::int32_t>(ranks.size()), epoch, position, {}), Answer::kDone);
      }
    };
    begin(0, 0);
    for (int tick = 0; queue.epoch() < 3; ++tick) {
      ASSERT_LT(tick, 100000);
      const auto who = static_cast<std::int32_t>(any(static_cast<int>(ranks.size())));
      Rank& rank = ranks[static_cast<std::size_t>(who)];
      if (!rank.lives) continue;
      const int event = any(100);
      if (event < 2) {  // it dies; the others notice, or all begin anew
        rank.lives = false;
        if (any(2) == 0) queue.lose(generation, who);
        const bool none = std::none_of(ranks.begin(), ranks.end(), [](const Rank& r) { return r.lives; });
        if (none || any(2) == 0) {
          const std::int64_t epoch = queue.epoch(), position = queue.position();
          ranks.resize(static_cast<std::size_t>(1 + any(4)));
          ++generation;
          begin(epoch, position);
        }
      } else if (event < 50) {
        Lease lease;
        const Answer answer = queue.lease(generation, who, queue.epoch(), queue.position() / plan.batch_size, &lease);
        if (answer == Answer::kDone) rank.held.push_back(lease);
      } else if (event < 90 && !rank.held.empty()) {
        ASSERT_EQ(queue.complete(generation, who, rank.held.back(), rank.held.back().size), Answer::kDone);
        rank.held.pop_back();
      } else {
        const std::int64_t epoch = queue.epoch(), position = queue.position(), step = position / plan.batch_size;
        if (queue.look(generation, who, epoch, step) != Answer::kWhole) {
          // A part that a dead rank holds, and that nobody gave up, waits for that.
          for (std::size_t i = 0; i < ranks.size() && event > 95; ++i) {
            if (!ranks[i].lives) queue.lose(generation, static_cast<std::int32_t>(i));
          }
          continue;
        }
        CommittedStep done;
        ASSERT_EQ(queue.commit(generation, who, epoch, step, &done), Answer::kDone);
        std::set<std::int32_t> parts;
        for (const auto& part : done.parts) parts.insert(part.micro);
        ASSERT_EQ(parts.size(), done.parts.size());
        const std::int64_t end = queue.epoch() == epoch ? queue.position() : plan.positions;
        for (std::int64_t at = position; at < end; ++at) model[epoch].insert(at);
      }
    }
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      ASSERT_EQ(model[epoch].size(), static_cast<std::size_t>(plan.positions)) << "seed " << seed;
      ASSERT_EQ(std::set(model[epoch].begin(), model[epoch].end()).size(), model[epoch].size());
    }
  }
}

}  // namespace
}  // namespace tandem::lease_queue_test
