// Nobody is left behind, whoever is killed and however workers hide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "cpp/launch/tool.h"
#include "launch/process_tree.h"

namespace tandem::launch {
namespace {

using testing::HasSubstr;

// Each rank: a child in its own group, one in its own session that ignores signals, and a grandchild of that. All
// write their pid into the folder given.
constexpr const char* kFamily = R"(
trap '' TERM INT HUP
echo $$ > $0/$RANK.worker.part && mv $0/$RANK.worker.part $0/$RANK.worker
setsid sh -c 'echo $$ > $0.child.part && mv $0.child.part $0.child
              setsid sh -c "echo \$\$ > \$0.grandchild.part && mv \$0.grandchild.part \$0.grandchild; sleep 1000" $0 &
              sleep 1000' $0/$RANK &
sleep 1000
)";

std::vector<pid_t> pids_below(pid_t root) {
  std::vector<pid_t> pids;
  for (const Process& process : descendants(root)) pids.push_back(process.pid);
  return pids;
}

class Family {
 public:
  explicit Family(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"run", "-n", "2"});
    flags.insert(flags.end(), {"sh", "-c", kFamily, folder_.path()});
    tool_ = std::make_unique<Tool>(flags);
    EXPECT_TRUE(eventually([&] { return complete(); }));
    members_ = pids_below(tool_->pid());
    EXPECT_GE(members_.size(), 1u + 2 * 3);
  }

  Tool& tool() { return *tool_; }
  bool all_gone() const {
    return eventually([&] {
      for (const pid_t pid : members_) {
        if (!is_gone(pid)) return false;
      }
      return true;
    });
  }
  pid_t supervisor() const { return members_.front(); }
  pid_t worker(int rank) const { return std::stoi(read_text(folder_.path() + "/" + std::to_string(rank) + ".worker")); }
  ~Family() {
    for (const pid_t pid : members_) {
      if (!is_gone(pid)) kill(pid, SIGKILL);
    }
  }

 private:
  bool complete() const {
    for (const char* name : {"0.worker", "0.child", "0.grandchild", "1.worker", "1.child", "1.grandchild"}) {
      if (!std::filesystem::exists(folder_.path() + "/" + name)) return false;
    }
    return true;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Tool> tool_;
  std::vector<pid_t> members_;
};

TEST(Ending, KillingTheLauncherLeavesNobody) {
  Family family;
  family.tool().send(SIGKILL);
  EXPECT_TRUE(family.all_gone());
  EXPECT_EQ(family.tool().wait(), 128 + SIGKILL);
}

TEST(Ending, KillingTheSupervisorLeavesNobody) {
  Family family;
  kill(family.supervisor(), SIGKILL);
  EXPECT_EQ(family.tool().wait(), 128 + SIGKILL);
  EXPECT_TRUE(family.all_gone());
}

TEST(Ending, WorkersThatIgnoreSignalsAreKilledAfterTheGrace) {
  Family family({"--grace", "0.3"});
  const auto begin = std::chrono::steady_clock::now();
  family.tool().send(SIGTERM);
  EXPECT_EQ(family.tool().wait(), 128 + SIGTERM);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(290));
  EXPECT_TRUE(family.all_gone());
}

TEST(Ending, AFailureEndsWorkersThatIgnoreSignals) {
  Family family({"--grace", "0.3"});
  kill(family.worker(1), SIGKILL);
  EXPECT_EQ(family.tool().wait(), 128 + SIGKILL);
  EXPECT_THAT(family.tool().err(), HasSubstr("rank 1"));
  EXPECT_TRUE(family.all_gone());
}

TEST(Ending, ASecondInterruptKillsAtOnce) {
  Family family({"--grace", "1000"});
  family.tool().send(SIGINT);
  EXPECT_TRUE(eventually([&] {
    family.tool().send(SIGINT);  // two that are pending at once count as one
    return is_gone(family.tool().pid());
  }));
  EXPECT_EQ(family.tool().wait(), 128 + SIGINT);
  EXPECT_TRUE(family.all_gone());
}

// As a service manager does that stops a job: the front process passes it on, too.
TEST(Ending, ASignalToAllProcessesOfTheLaunchIsOne) {
  Tool tool({"run", "sh", "-c", "trap 'sleep 0.6; echo saved; exit 0' TERM; echo ready; while :; do sleep 0.01; done"});
  ASSERT_TRUE(tool.wait_for_output("ready"));
  const std::vector<pid_t> members = pids_below(tool.pid());
  kill(members.front(), SIGTERM);
  kill(tool.pid(), SIGTERM);
  EXPECT_EQ(tool.wait(), 128 + SIGTERM);
  EXPECT_THAT(tool.out(), HasSubstr("saved"));
}

TEST(Ending, WhatWorkersLeftBehindIsEnded) {
  TemporaryFolder folder;
  const std::string file = folder.path() + "/pid";
  Tool tool(
      {"run", "sh", "-c", "setsid sh -c 'echo $$ > $0; sleep 1000' $0 & until [ -s $0 ]; do sleep 0.01; done", file});
  EXPECT_EQ(tool.wait(), 0) << tool.err();
  EXPECT_TRUE(is_gone(std::stoi(read_text(file))));
}

class Signal : public testing::TestWithParam<int> {};

TEST_P(Signal, ReachesTheWorkersAndSetsTheExitCode) {
  Tool tool({"run", "-n", "2", "sh", "-c",
             "for s in INT TERM HUP QUIT; do trap \"echo got $s; exit 0\" $s; done; echo ready; "
             "while :; do sleep 0.01; done"});
  ASSERT_TRUE(tool.wait_for_output("[0] ready\n") && tool.wait_for_output("[1] ready\n"));
  tool.send(GetParam());
  EXPECT_EQ(tool.wait(), 128 + GetParam());
  const std::string expected = "got " + signal_name(GetParam()).substr(3) + "\n";
  EXPECT_THAT(tool.out(), HasSubstr("[0] " + expected));
  EXPECT_THAT(tool.out(), HasSubstr("[1] " + expected));
}

INSTANTIATE_TEST_SUITE_P(Ending, Signal, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT));

TEST(Ending, PassesOnOtherSignals) {
  Tool tool({"run", "sh", "-c", "echo ready; while :; do sleep 0.01; done"});
  ASSERT_TRUE(tool.wait_for_output("ready"));
  tool.send(SIGUSR1);
  EXPECT_EQ(tool.wait(), 128 + SIGUSR1);
  EXPECT_THAT(tool.err(), HasSubstr("was killed by SIGUSR1"));
}

TEST(Ending, AnIgnoredHangupStaysIgnored) {
  signal(SIGHUP, SIG_IGN);  // as nohup does
  Tool tool({"run", "sh", "-c", "kill -HUP $$; echo ready; while :; do sleep 0.01; done"});
  signal(SIGHUP, SIG_DFL);
  ASSERT_TRUE(tool.wait_for_output("ready"));
  tool.send(SIGHUP);
  tool.send(SIGTERM);
  EXPECT_EQ(tool.wait(), 128 + SIGTERM);
}

TEST(Ending, AStoppedWorkerIsEndedToo) {
  Tool tool({"run", "-n", "2", "sh", "-c", "echo $$; [ $RANK = 0 ] && exec sleep 1000; exec sleep 1000"});
  ASSERT_TRUE(tool.wait_for_output("[0] ") && tool.wait_for_output("[1] "));
  const pid_t first = std::stoi(lines_of(tool.out(), "[0] ").at(0));
  const pid_t second = std::stoi(lines_of(tool.out(), "[1] ").at(0));
  kill(first, SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  kill(second, SIGKILL);
  EXPECT_EQ(tool.wait(), 128 + SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4)) << "it was not woken to take SIGTERM";
  EXPECT_TRUE(is_gone(first));
}

TEST(Ending, StopAndContinueReachTheWorkers) {
  Tool tool({"run", "sh", "-c", "echo $$; exec sleep 1000"});
  ASSERT_TRUE(tool.wait_for_output("\n"));
  const pid_t worker = std::stoi(lines_of(tool.out(), "[0] ").at(0));
  const auto state_is = [](pid_t pid, char wanted) {
    return eventually([&] {
      const std::string stat = read_text("/proc/" + std::to_string(pid) + "/stat");
      return (stat[stat.rfind(')') + 2] == 'T') == (wanted == 'T');
    });
  };
  tool.send(SIGTSTP);
  EXPECT_TRUE(state_is(worker, 'T'));
  EXPECT_TRUE(state_is(tool.pid(), 'T'));
  tool.send(SIGCONT);
  EXPECT_TRUE(state_is(worker, 'S'));
  EXPECT_TRUE(state_is(tool.pid(), 'S'));
  tool.send(SIGTERM);
  EXPECT_EQ(tool.wait(), 128 + SIGTERM);
}

TEST(Ending, AClosedOutputEndsTheWorkers) {
  Tool tool({"run", "-n", "2", "sh", "-c", "while :; do echo line; done"});
  ASSERT_TRUE(tool.wait_for_output("[1] line"));
  const std::vector<pid_t> members = pids_below(tool.pid());
  tool.close_output();
  EXPECT_EQ(tool.wait(), 128 + SIGPIPE);
  for (const pid_t pid : members) EXPECT_TRUE(is_gone(pid));
}

}  // namespace
}  // namespace tandem::launch
