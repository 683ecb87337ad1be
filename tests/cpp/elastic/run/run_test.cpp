// Elastic training under the real launcher: what happens to a rank, and what comes of the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>

#include "training.h"

namespace tandem::elastic {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OnBackend : public ::testing::TestWithParam<const char*> {
 protected:
  Words settings(const Words& more) const { return joined({std::string("BACKEND=") + GetParam()}, more); }
};
INSTANTIATE_TEST_SUITE_P(Elastic, OnBackend, ::testing::Values("gloo", "shm"));

TEST_P(OnBackend, TrainsAsOneProcessWould) {
  Training two({"-n", "2"}, settings({}));
  EXPECT_EQ(two.wait(), 0) << two.said();
  EXPECT_EQ(two.result(0), two.result(1));
  expect_close(two.result(), undisturbed({"-n", "1"}, settings({})));
}

struct Harm {
  const char* fault;
  const char* said;
};

// Members 0 and 1 are the first ranks; of three, one does itself harm, and the other two go on.
TEST_P(OnBackend, GoesOnWithoutALostRank) {
  for (const Harm& harm : {Harm{"kill-forward@10/1", "killed by SIGKILL"}, Harm{"segv-backward@13/0", "killed by SIGSEGV"},
                           Harm{"exit-step@17/2", "exited with code 3"}, Harm{"throw-forward@6/1", "exited with code 1"}}) {
    SCOPED_TRACE(harm.fault);
    Training training({"-n", "3"}, settings({std::string("FAULTS=") + harm.fault}));
    EXPECT_EQ(training.wait(), 0) << training.said();
    EXPECT_THAT(training.said(), HasSubstr(harm.said));
    EXPECT_THAT(training.said(), HasSubstr("now 2 ranks, from step"));
    EXPECT_THAT(training.result(), HasSubstr("world 2"));
    EXPECT_EQ(training.result(0), training.result(1));
    expect_close(training.result(), undisturbed({"-n", "1"}, settings({})));
  }
}

TEST_P(OnBackend, ASpareTakesTheLostRanksPlaceWithTheSameBits) {
  const Words dropout = settings({"DROPOUT=0.3"});
  Training training({"-n", "2", "--spares", "1"}, joined(dropout, {"FAULTS=kill-backward@15/0", "AWAIT=2"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  // The other one may have had the sum of step 16 when rank 0 went.
  EXPECT_THAT(training.said(), AnyOf(HasSubstr("now 2 ranks, from step 12 on"), HasSubstr("now 2 ranks, from step 16 on")));
  EXPECT_EQ(training.result(0), training.result(1));
  EXPECT_EQ(training.result(0), undisturbed({"-n", "2"}, dropout));
}

TEST_P(OnBackend, ALostRankIsReplacedAndTheOthersDoNotWait) {
  Training training({"-n", "2", "--max-restarts", "1"}, settings({"PAUSE=100", "STEPS=60"}));
  ASSERT_TRUE(training.reaches(10));
  kill(training.pid(1), SIGKILL);
  EXPECT_TRUE(training.says("now 2 ranks, from step")) << training.said();
  training.hurry();
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.said(), HasSubstr("another one takes its place"));
  EXPECT_THAT(training.said(), HasSubstr("at batch "));  // what the first rank says of itself
  EXPECT_THAT(training.said(), HasSubstr("now 1 rank, from step"));
  EXPECT_THAT(training.said(), HasSubstr("now 2 ranks, from step"));
  EXPECT_EQ(training.result(0), training.result(1));
  expect_close(training.result(), undisturbed({"-n", "1"}, settings({"STEPS=60"})));
}

TEST_P(OnBackend, RanksThatBeginWithOtherWeightsGetThoseOfTheFirst) {
  Training training({"-n", "2"}, settings({"SEEDS=differ", "STEPS=8"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_EQ(training.result(0), training.result(1));
}

TEST_P(OnBackend, AllLostGoOnFromTheCheckpoint) {
  TemporaryFolder kept;
  // Time for both that take their places to come before the training is over.
  const Words saved = settings({"CHECKPOINTS=" + kept.path() + "/run", "CHECKPOINT_EVERY=8", "PAUSE=60"});
  Training training({"-n", "2", "--max-restarts", "2"}, joined(saved, {"FAULTS=kill-forward@21/0,kill-forward@21/1"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_EQ(training.result(0), training.result(1));
  expect_close(training.result(), undisturbed({"-n", "1"}, settings({})));
  EXPECT_EQ(training.times(8), 1);
  EXPECT_EQ(training.times(17), 2);
}

class ElasticOnGpu : public OnBackend {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "needs a GPU";
  }
  Words settings(const Words& more) const { return joined({"DEVICE=cuda", "TIMEOUT=60000"}, OnBackend::settings(more)); }
  // A GPU adds in another order than a CPU.
  static void expect_near(const std::string& result, const std::string& expected) {
    const auto values = parameters_of(result), wanted = parameters_of(expected);
    ASSERT_EQ(values.size(), wanted.size());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], wanted[i], 1e-9) << i;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ElasticOnGpu, ::testing::Values("gloo", "nccl", "cuda:nccl,cpu:gloo"));

TEST_P(ElasticOnGpu, TrainsAsOneCpuWould) {
  Training two({"-n", "2"}, settings({}));
  EXPECT_EQ(two.wait(), 0) << two.said();
  EXPECT_EQ(two.result(0), two.result(1));
  expect_near(two.result(), undisturbed({"-n", "1"}, {}));
}

TEST_P(ElasticOnGpu, GoesOnWithoutALostRank) {
  for (const char* fault : {"kill-forward@10/1", "kill-backward@13/0", "throw-forward@6/1"}) {
    SCOPED_TRACE(fault);
    Training training({"-n", "2"}, settings({std::string("FAULTS=") + fault}));
    EXPECT_EQ(training.wait(), 0) << training.said();
    EXPECT_THAT(training.said(), HasSubstr("now 1 rank, from step"));
    expect_near(training.result(), undisturbed({"-n", "1"}, {}));
  }
}

TEST_P(ElasticOnGpu, ASpareTakesTheLostRanksPlaceWithTheSameBits) {
  const Words dropout = settings({"DROPOUT=0.3"});
  Training training({"-n", "2", "--spares", "1"}, joined(dropout, {"FAULTS=kill-backward@15/0", "AWAIT=2"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_EQ(training.result(0), training.result(1));
  EXPECT_EQ(training.result(0), undisturbed({"-n", "2"}, dropout));
}

TEST_P(OnBackend, OneThatIsLostWhileOthersMeet) {
  Training training({"-n", "3"}, settings({"FAULTS=kill-forward@10/2,kill-begin@8/1"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.said(), HasSubstr("now 1 rank, from step 8 on"));
  expect_close(training.result(), undisturbed({"-n", "1"}, settings({})));
}

TEST(Elastic, ARankLeavesBetweenTwoSteps) {
  Training training({"-n", "3"}, {"FAULTS=leave-step@9/1", "PAUSE=20"});
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.tool().out(), HasSubstr("[1] left"));
  EXPECT_THAT(training.said(), HasSubstr("now 2 ranks, from step"));
  EXPECT_THAT(training.said(), Not(HasSubstr("killed")));
  expect_close(training.result(), undisturbed({"-n", "1"}, {}));
}

// The one that leaves is the only one that has what was learned: it hands that over first.
TEST(Elastic, TheLastRankLeavesToASpareThatGoesOn) {
  Training training({"-n", "1", "--spares", "1"}, {"FAULTS=leave-step@9/0", "PAUSE=20", "AWAIT=1"});
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.tool().out(), HasSubstr("[0] left"));
  EXPECT_EQ(training.times(1), 1);
  EXPECT_EQ(training.times(40), 1);
  expect_close(training.result(), undisturbed({"-n", "1"}, {}));
}

TEST(Elastic, AllLeaveAndThatIsNoFailure) {
  Training training({"-n", "2"}, {"FAULTS=leave-step@9/0,leave-step@9/1", "PAUSE=20"});
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.tool().out(), HasSubstr("[0] left"));
  EXPECT_THAT(training.tool().out(), HasSubstr("[1] left"));
}

TEST(Elastic, OneThatEndsBeforeItMeetsTheOthersHoldsNobodyUp) {
  Training training({"-n", "2"}, {"FAULTS=quit-start@0/1"});
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.result(), HasSubstr("world 1"));
}

TEST_P(OnBackend, ALossWhileTheLastCheckpointIsWrittenIsRepaired) {
  TemporaryFolder kept;
  Training training({"-n", "2"}, settings({"CHECKPOINTS=" + kept.path() + "/run", "CHECKPOINT_EVERY=8", "FAULTS=kill-end@40/1"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  expect_close(training.result(), undisturbed({"-n", "1"}, settings({})));
  EXPECT_EQ(read_text(kept.path() + "/run/latest"), "step-000000040\n") << training.said();
}

TEST(Elastic, ASpareThatNobodyNeededEndsInPeace) {
  Training training({"-n", "1", "--spares", "1"}, {"STEPS=6"});
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.tool().out(), HasSubstr("[1] not needed"));
}

TEST_P(OnBackend, TooFewRanksEndTheJobWithTheFirstFailuresCode) {
  Training training({"-n", "2", "--min-ranks", "2"}, settings({"FAULTS=exit-forward@5/1"}));
  EXPECT_EQ(training.wait(), 3);
  EXPECT_THAT(training.said(), HasSubstr("of the 2 ranks that it takes to go on 1 are left"));
  EXPECT_THAT(training.said(), HasSubstr("rank 1"));
}

TEST_P(OnBackend, WhoHangsIsKilledAndTheOthersGoOn) {
  Training training({"-n", "2", "--step-timeout", "3"}, settings({"FAULTS=hang-forward@10/1"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.said(), HasSubstr("rank 1"));
  EXPECT_THAT(training.said(), HasSubstr("has completed no step for 3 s, and waits for no other rank; it is killed. What its threads did:"));
  EXPECT_THAT(training.said(), HasSubstr("the first one:"));
  EXPECT_THAT(training.said(), HasSubstr("harm(std::string const&, tandem::elastic::Context&) [elastic_program]"));
  EXPECT_THAT(training.said(), HasSubstr("tandem::membership::AgentClient::listen()"));  // a thread of Tandem's own
  expect_close(training.result(), undisturbed({"-n", "1"}, settings({})));
}

TEST_P(OnBackend, WhoIsStoppedIsKilledAndTheOthersGoOn) {
  Training training({"-n", "2", "--silence-timeout", "4"}, settings({"FAULTS=stop-forward@10/0"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.said(), HasSubstr("gives no sign of life"));
  EXPECT_THAT(training.said(), HasSubstr("the process is stopped, as by SIGSTOP, so its threads give no stacks"));
  expect_close(training.result(), undisturbed({"-n", "1"}, settings({})));
}

TEST(Elastic, StacksAreKeptBesideLogs) {
  TemporaryFolder logs;
  Training training({"-n", "2", "--step-timeout", "3", "--log-dir", logs.path()}, {"FAULTS=hang-forward@10/1"});
  EXPECT_EQ(training.wait(), 0) << training.said();
  std::string kept;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(logs.path())) {
    if (entry.path().filename() == "stacks.log") kept += read_text(entry.path().string());
    EXPECT_NE(entry.path().filename(), "stacks.raw");
  }
  EXPECT_THAT(kept, HasSubstr("harm(std::string const&, tandem::elastic::Context&)"));
}

// A loop that takes no signals, in a program whose other threads do.
TEST(Elastic, WhoBlocksSignalsHasNoStackAndIsKilledAllTheSame) {
  Training training({"-n", "2", "--step-timeout", "3"}, {"FAULTS=deaf-forward@10/1"});
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.said(), HasSubstr("it blocks the signal that asks for its stack"));
  EXPECT_THAT(training.said(), HasSubstr("tandem::membership::AgentClient::listen()"));
}

// It was put out, and takes its time to end: the others' training is no failure for that.
TEST(Elastic, WhoIsPutOutMayEndAfterTheOthersHaveFinished) {
  Training training({"-n", "3"}, {"FAULTS=corrupt-forward@10/0", "CHECK_EVERY=4", "FAIL_AFTER=ended.2", "STEPS=20"});
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.said(), HasSubstr("now 2 ranks"));
  EXPECT_EQ(training.result(0), training.result(1));
}

TEST_P(OnBackend, WhoHasOtherParametersIsNamedAndPutOut) {
  for (const int wrong : {0, 2}) {
    SCOPED_TRACE(wrong);
    const std::string fault = "FAULTS=corrupt-forward@10/" + std::to_string(wrong);
    Training training({"-n", "3"}, settings({fault, "CHECK_EVERY=4"}));
    EXPECT_EQ(training.wait(), 0) << training.said();
    const std::string prefix = "[" + std::to_string(wrong) + "] ";
    EXPECT_THAT(training.said(), HasSubstr(prefix + "after step 12 rank " + std::to_string(wrong) +
                                           " has another 'model.first.weight' than the 2 others"));
    EXPECT_THAT(training.said(), HasSubstr("now 2 ranks, from step 8 on"));
    EXPECT_EQ(training.result(0), training.result(1));
    expect_close(training.result(), undisturbed({"-n", "1"}, settings({})));
  }
}

TEST_P(OnBackend, ASpareTakesThePlaceOfWhoComputesWrongly) {
  Training training({"-n", "3", "--spares", "1"}, settings({"FAULTS=corrupt-forward@10/1", "CHECK_EVERY=4", "AWAIT=3"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.said(), HasSubstr("now 3 ranks, from step 8 on"));
  expect_close(training.result(), undisturbed({"-n", "1"}, settings({})));
}

TEST_P(OnBackend, TwoRanksThatDifferEndTheTraining) {
  Training training({"-n", "2"}, settings({"FAULTS=corrupt-forward@10/1", "CHECK_EVERY=4"}));
  EXPECT_EQ(training.wait(), 1);
  EXPECT_THAT(training.said(), HasSubstr("after step 12 ranks 0 and 1 differ in 'model.first.weight'"));
  EXPECT_EQ(training.times(13), 0);
}

TEST_P(OnBackend, RanksThatWaitForEachOtherBeginTheStepAnew) {
  Training training({"-n", "2", "--step-timeout", "3"}, settings({"FAULTS=wait-forward@10/1"}));
  EXPECT_EQ(training.wait(), 0) << training.said();
  EXPECT_THAT(training.said(), HasSubstr("now 2 ranks, from step 8 on"));
  EXPECT_THAT(training.said(), Not(HasSubstr("killed")));
  expect_close(training.result(), undisturbed({"-n", "1"}, settings({})));
}

TEST(Elastic, AProgramThatFailsAtOnceIsNoLostRank) {
  Training training({"-n", "2"}, {"BACKEND=nonsense"});
  EXPECT_EQ(training.wait(), 1);
  EXPECT_THAT(training.said(), HasSubstr("nonsense"));
}

TEST_P(OnBackend, AFaultThatAlwaysComesBackEndsTheJob) {
  // Whoever trains step 5 fails.
  Training training({"-n", "2", "--max-restarts", "1"},
                    settings({"FAULTS=exit-forward@5/0,exit-forward@5/1,exit-forward@5/2"}));
  EXPECT_EQ(training.wait(), 3) << training.said();
}

TEST(Elastic, WithoutALauncherItIsOneRank) {
  TemporaryFolder folder;
  const std::string command = std::string("env -u RANK -u WORLD_SIZE OMP_NUM_THREADS=1 " ELASTIC_PROGRAM " ") + folder.path();
  ASSERT_EQ(std::system(command.c_str()), 0);
  expect_close(read_text(folder.path() + "/result.0"), undisturbed({"-n", "1"}, {}));
}

// TANDEM_FAULT_SEED=N: one that was printed.
std::uint32_t drawn_seed() {
  const char* given = std::getenv("TANDEM_FAULT_SEED");
  const std::uint32_t seed = given ? static_cast<std::uint32_t>(std::stoul(given)) : std::random_device()();
  std::cout << "TANDEM_FAULT_SEED=" << seed << std::endl;
  return seed;
}

// Ranks are killed at moments that nobody chose, any number of them, and replaced.
void kill_at_random(int rounds, std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::string expected = undisturbed({"-n", "1"}, {"STEPS=80"});
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const char* backend = round % 2 ? "BACKEND=shm" : "BACKEND=gloo";
    Training training({"-n", "3", "--max-restarts", "100"}, {backend, "STEPS=80", "PAUSE=8"});
    int next = 0;  // who was not looked at yet
    for (int kills = 0; kills < 4; ++kills) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
      // Never the last one, who has all that was learned.
      std::vector<pid_t> alive;
      for (int member = next; member < 40; ++member) {
        const pid_t pid = training.pid(member);
        if (pid > 0 && !launch::is_gone(pid)) alive.push_back(pid);
      }
      // Nor one that has trained to the end, and may not have written its result: that fails the job.
      const std::int64_t step = training.step();
      if (alive.size() < 2 || step < 1 || step > 60) continue;
      kill(alive[random() % alive.size()], SIGKILL);
    }
    ASSERT_EQ(training.wait(), 0) << training.said();
    expect_close(training.result(), expected);
  }
}

TEST(Elastic, KillsAtRandomMoments) { kill_at_random(2, drawn_seed()); }
// Who is slow is seen in looks of a second each, 20 at least.
TEST(ElasticLong, ASlowRankIsNamedAndTrainsOn) {
  for (const char* backend : {"BACKEND=gloo", "BACKEND=shm"}) {
    SCOPED_TRACE(backend);
    Training training({"-n", "3"}, {backend, "SLOW=1", "STEPS=120"});
    ASSERT_TRUE(training.reaches(60));
    EXPECT_EQ(training.wait(), 0) << training.said();
    const std::string name = "rank 1 (pid " + std::to_string(training.pid(1)) + ")";
    EXPECT_THAT(training.said(), HasSubstr(name + " is slow: in "));
    EXPECT_THAT(training.said(), Not(HasSubstr("killed")));
    EXPECT_EQ(training.result(0), training.result(2));
  }
}

TEST(ElasticLong, KillsAtRandomMoments) { kill_at_random(40, drawn_seed()); }

}  // namespace
}  // namespace tandem::elastic
