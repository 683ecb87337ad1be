// Agents that meet: a launcher a node, several of them on this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "comm/sockets.h"
#include "training.h"

namespace tandem::elastic {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class Nodes : public ::testing::Test {
 protected:
  Nodes() {
    const net::Listener free = net::listen_on("127.0.0.1", 0);
    ::close(free.fd);
    endpoint_ = "127.0.0.1:" + std::to_string(free.endpoint.port);
  }

  Words flags(const std::string& nodes, const Words& more, const std::string& configuration = "last_call_timeout=0") const {
    return joined({"--nnodes", nodes, "--rdzv-backend", "c10d", "--rdzv-endpoint", endpoint_, "--rdzv-conf",
                   "keep_alive_interval=1,join_timeout=20," + configuration},
                  more);
  }

  std::unique_ptr<Training> node(const std::string& nodes, const Words& settings, const Words& more = {"-n", "1"}) {
    return std::make_unique<Training>(flags(nodes, more), settings);
  }

  net::Endpoint place() const { return {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(endpoint_.substr(10)))}; }

  std::string endpoint_;
};

// Nobody listens before the first one does, so that it is the one that keeps the membership.
void keep_first(Training& first, const std::string& endpoint) {
  const auto colon = endpoint.rfind(':');
  EXPECT_TRUE(eventually([&] {
    return !net::is_refused({endpoint.substr(0, colon), static_cast<std::uint16_t>(std::stoi(endpoint.substr(colon + 1)))});
  })) << first.said();
}

// With ranks that exchange by either.
class NodesOnBackend : public Nodes, public ::testing::WithParamInterface<const char*> {
 protected:
  Words settings(const Words& more) const { return joined({std::string("BACKEND=") + GetParam()}, more); }
};
INSTANTIATE_TEST_SUITE_P(Backends, NodesOnBackend, ::testing::Values("gloo", "shm"));

TEST_F(Nodes, TrainAsOneProcessWould) {
  for (const char* backend : {"gloo", "shm"}) {
    const Words settings{std::string("BACKEND=") + backend};
    auto first = node("2", settings), second = node("2", settings, {"-n", "2"});
    EXPECT_EQ(first->wait(), 0) << first->said();
    EXPECT_EQ(second->wait(), 0) << second->said();
    std::vector<std::string> results;
    for (const auto* one : {first.get(), second.get()}) {
      for (int rank = 0; rank < 3; ++rank) {
        if (const std::string result = one->result(rank); !result.empty()) results.push_back(result);
      }
    }
    ASSERT_EQ(results.size(), 3u);
    EXPECT_THAT(results, ::testing::Each(results.front()));
    EXPECT_THAT(results.front(), HasSubstr("world 3"));
    expect_close(results.front(), undisturbed({"-n", "1"}, settings));
  }
}

TEST_F(Nodes, GoOnWithoutALostRankOfEither) {
  for (const bool of_first : {true, false}) {
    SCOPED_TRACE(of_first);
    const Words fault{"FAULTS=kill-forward@10/1"};
    auto first = node("2", of_first ? fault : Words{}, {"-n", "2"});
    keep_first(*first, endpoint_);
    auto second = node("2", of_first ? Words{} : fault, {"-n", "2"});
    EXPECT_EQ(first->wait(), 0) << first->said();
    EXPECT_EQ(second->wait(), 0) << second->said();
    for (const auto* one : {first.get(), second.get()}) EXPECT_THAT(one->said(), HasSubstr("now 3 ranks, from step"));
    EXPECT_THAT((of_first ? first : second)->said(), HasSubstr("killed by SIGKILL"));
    expect_close(first->result(), undisturbed({"-n", "1"}, {}));
  }
}

TEST_P(NodesOnBackend, GoOnWithoutALostNode) {
  const Words slow = settings({"PAUSE=100", "STEPS=100"});
  auto first = node("1:2", slow, {"-n", "1"});
  keep_first(*first, endpoint_);
  auto second = node("1:2", slow, {"-n", "2"});
  ASSERT_TRUE(eventually([&] { return second->takes_part(); })) << first->said() << second->said();
  ASSERT_TRUE(first->reaches(5)) << first->said();  // there is a commit
  const pid_t worker = second->pid(1);
  second->tool().send(SIGKILL);
  EXPECT_TRUE(first->says("now 1 rank, from step")) << first->said();
  first->hurry();
  EXPECT_EQ(first->wait(), 0) << first->said();
  EXPECT_THAT(first->said(), HasSubstr("has closed its connection; its ranks are lost"));
  EXPECT_TRUE(eventually([&] { return launch::is_gone(worker); }));
  expect_close(first->result(), undisturbed({"-n", "1"}, {"STEPS=100"}));
}

TEST_F(Nodes, WithoutAnyRankAreAFailure) {
  const Words fault{"FAULTS=kill-forward@10/0"};
  auto first = node("2", fault), second = node("2", fault);
  EXPECT_EQ(first->wait(), 128 + SIGKILL) << first->said();
  EXPECT_EQ(second->wait(), 128 + SIGKILL) << second->said();
}

TEST_F(Nodes, OneWithoutRanksWaitsForWhatBecomesOfTheJob) {
  auto first = node("2", {"FAULTS=kill-forward@10/0"}), second = node("2", {});
  EXPECT_EQ(first->wait(), 0) << first->said();
  EXPECT_EQ(second->wait(), 0) << second->said();
  EXPECT_THAT(second->result(), HasSubstr("world 1"));
}

TEST_F(Nodes, AWorkerThatQuitsBeforeItMeetsTheOthersHoldsNobodyUp) {
  auto first = node("2", {"FAULTS=quit-start@0/0"});
  keep_first(*first, endpoint_);
  auto second = node("2", {});
  EXPECT_EQ(second->wait(), 0) << second->said();
  EXPECT_EQ(first->wait(), 0) << first->said();
  EXPECT_THAT(second->result(), HasSubstr("world 1"));
}

TEST_F(Nodes, FewerThanTheLeastEndTheJob) {
  const Words slow{"PAUSE=30", "STEPS=2000"};
  auto first = node("2:3", slow, {"-n", "2"});
  keep_first(*first, endpoint_);
  auto second = node("2:3", slow);
  ASSERT_TRUE(eventually([&] { return second->takes_part(); })) << first->said() << second->said();
  second->tool().send(SIGKILL);
  EXPECT_EQ(first->wait(), 1) << first->said();
  EXPECT_THAT(first->said(), HasSubstr("of the 2 nodes that it takes to go on 1 is left"));
}

TEST_F(Nodes, ALaterOneJoinsBetweenTwoSteps) {
  const Words slow{"PAUSE=200", "STEPS=80"};
  auto first = node("1:2", slow);
  ASSERT_TRUE(first->reaches(5)) << first->said();
  auto second = node("1:2", slow);
  EXPECT_TRUE(eventually([&] { return second->takes_part(); })) << second->said();
  for (Training* each : {first.get(), second.get()}) each->hurry();
  EXPECT_EQ(first->wait(), 0) << first->said();
  EXPECT_EQ(second->wait(), 0) << second->said();
  EXPECT_THAT(first->said(), HasSubstr("now 2 ranks, from step"));
  EXPECT_EQ(first->result(0), second->result(1));
  EXPECT_EQ(first->times(1), 1);
  expect_close(first->result(), undisturbed({"-n", "1"}, {"STEPS=80"}));
}

TEST_P(NodesOnBackend, EndWithTheAgentThatKeepsTheMembership) {
  const Words slow = settings({"PAUSE=30", "STEPS=2000"});
  auto first = node("2", slow);
  keep_first(*first, endpoint_);
  auto second = node("2", slow);
  ASSERT_TRUE(first->reaches(3)) << first->said() << second->said();
  const pid_t worker = second->pid(0);
  first->tool().send(SIGKILL);
  EXPECT_EQ(second->wait(), 1) << second->said();
  EXPECT_THAT(second->said(), HasSubstr("the agent at " + endpoint_ + ", which keeps the job's membership, is gone; the job ends with it"));
  EXPECT_TRUE(eventually([&] { return launch::is_gone(worker); }));
}

TEST_P(NodesOnBackend, ASignalToTheKeeperEndsAll) {
  const Words slow = settings({"PAUSE=30", "STEPS=2000"});
  auto first = node("2", slow);
  keep_first(*first, endpoint_);
  auto second = node("2", slow);
  ASSERT_TRUE(first->reaches(3)) << first->said() << second->said();
  first->tool().send(SIGTERM);
  EXPECT_EQ(first->wait(), 128 + SIGTERM) << first->said();
  EXPECT_EQ(second->wait(), 128 + SIGTERM) << second->said();
  EXPECT_THAT(second->said(), HasSubstr("the launch was ended by SIGTERM on "));
}

// Programs that know nothing of membership.
class PlainNodes : public Nodes {
 protected:
  std::unique_ptr<Tool> run(const std::string& nodes, const std::string& script, const Words& more = {},
                            const std::string& configuration = "last_call_timeout=0") {
    return std::make_unique<Tool>(joined(joined({"run"}, flags(nodes, more, configuration)), {"--", "sh", "-c", script}));
  }
};

TEST_F(PlainNodes, LearnTheirPlaces) {
  const std::string script = "echo $RANK of $WORLD_SIZE local $LOCAL_RANK node $GROUP_RANK of $GROUP_WORLD_SIZE at $MASTER_ADDR";
  auto first = run("2", script, {"-n", "2", "--node-rank", "1"}), second = run("2", script, {"-n", "1", "--node-rank", "0"});
  EXPECT_EQ(first->wait(), 0) << first->err();
  EXPECT_EQ(second->wait(), 0) << second->err();
  EXPECT_THAT(second->out(), HasSubstr("[0] 0 of 3 local 0 node 0 of 2 at 127.0.0.1"));
  EXPECT_THAT(first->out(), HasSubstr("[1] 1 of 3 local 0 node 1 of 2 at 127.0.0.1"));
  EXPECT_THAT(first->out(), HasSubstr("[2] 2 of 3 local 1 node 1 of 2 at 127.0.0.1"));
}

TEST_F(PlainNodes, AFailureEndsAllAndIsSaidLastOnEach) {
  auto first = run("2", "if [ $RANK = 1 ]; then echo no more paper >&2; exit 7; fi; sleep 100", {"--node-rank", "0"});
  auto second = run("2", "if [ $RANK = 1 ]; then echo no more paper >&2; exit 7; fi; sleep 100", {"--node-rank", "1"});
  for (Tool* one : {first.get(), second.get()}) {
    EXPECT_EQ(one->wait(), 7) << one->err();
    EXPECT_THAT(one->err(), HasSubstr("rank 1 (pid "));
    EXPECT_THAT(one->err(), EndsWith("no more paper\n"));
  }
}

TEST_F(PlainNodes, AFailureAfterTheKeepersOwnEndIsItsExitCode) {
  const std::string script = "if [ $RANK = 1 ]; then sleep 0.5; echo no more paper >&2; exit 7; fi";
  auto first = run("2", script, {"--node-rank", "0"});
  ASSERT_TRUE(eventually([&] { return !net::is_refused(place()); }));
  auto second = run("2", script, {"--node-rank", "1"});
  EXPECT_EQ(second->wait(), 7) << second->err();
  EXPECT_EQ(first->wait(), 7) << first->err();
  EXPECT_THAT(first->err(), HasSubstr("no more paper"));
}

TEST_F(PlainNodes, ALostNodeEndsTheOthers) {
  auto first = run("2", "echo here; sleep 100");
  ASSERT_TRUE(eventually([&] { return !net::is_refused(place()); }));
  auto second = run("2", "echo here; sleep 100");
  ASSERT_TRUE(second->wait_for_output("here"));
  second->send(SIGKILL);
  EXPECT_EQ(first->wait(), 1) << first->err();
  EXPECT_THAT(first->err(), HasSubstr("the program's other ranks cannot go on without it"));
}

TEST_F(PlainNodes, AProgramThatOneCannotStartEndsTheOthers) {
  auto first = run("2", "sleep 100");
  ASSERT_TRUE(eventually([&] { return !net::is_refused(place()); }));
  const TemporaryFolder folder;
  const std::string program = folder.path() + "/program";
  launch::write_text(program, "no program");
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  Tool second(joined(joined({"run"}, flags("2", {})), {"--", program}));
  EXPECT_EQ(second.wait(), 126) << second.err();
  EXPECT_EQ(first->wait(), 126) << first->err();
  EXPECT_THAT(first->err(), HasSubstr("cannot run " + program));
}

TEST_F(PlainNodes, ALaterOneThatFailsDoesNotEndATraining) {
  Training first(flags("1:2", {"-n", "1"}), {"PAUSE=30", "STEPS=100"});
  ASSERT_TRUE(first.reaches(5)) << first.said();
  auto second = run("1:2", "echo not installed >&2; exit 3");
  EXPECT_EQ(first.wait(), 0) << first.said();
  EXPECT_EQ(second->wait(), 0) << second->err();  // the training has come to its end
  EXPECT_THAT(second->err(), HasSubstr("exited with code 3; the others go on without it"));
}

TEST_F(PlainNodes, ANodeIsTakenOnceAnotherOneIsGone) {
  Training first(flags("1:2", {"-n", "1"}), {"PAUSE=50", "STEPS=150"});
  ASSERT_TRUE(first.reaches(1)) << first.said();
  Training second(flags("1:2", {"-n", "1"}), {"PAUSE=50", "STEPS=150"});
  ASSERT_TRUE(eventually([&] { return second.takes_part(); })) << first.said() << second.said();
  Training third(flags("1:2", {"-n", "1"}), {"PAUSE=50", "STEPS=150"});
  second.tool().send(SIGKILL);
  EXPECT_TRUE(eventually([&] { return third.takes_part(); })) << third.said();
  for (Training* each : {&first, &third}) each->hurry();
  EXPECT_EQ(third.wait(), 0) << third.said();
  EXPECT_EQ(first.wait(), 0) << first.said();
}

TEST_F(PlainNodes, SayWhoDidNotCome) {
  auto alone = run("2", "true", {}, "join_timeout=1");
  EXPECT_EQ(alone->wait(), 1);
  EXPECT_THAT(alone->err(), HasSubstr("the job did not begin: of 2 nodes 1 came within 1 s"));
  auto guest = run("2", "true", {}, "join_timeout=1,is_host=false");
  EXPECT_EQ(guest->wait(), 1);
  EXPECT_THAT(guest->err(), HasSubstr("no agent answered at " + endpoint_ + " for 1 s"));
  EXPECT_THAT(guest->err(), HasSubstr("start the same command on the machine that has this address"));
}

TEST_F(PlainNodes, OfOtherJobsAreRefused) {
  auto first = run("2", "true", {"--rdzv-id", "mine"}, "join_timeout=4");
  ASSERT_TRUE(eventually([&] { return !net::is_refused(place()); }));
  auto other = run("2", "true", {"--rdzv-id", "theirs"});
  EXPECT_EQ(other->wait(), 1);
  EXPECT_THAT(other->err(), HasSubstr("the job did not begin: the job there is --rdzv-id mine, not theirs"));
  EXPECT_EQ(first->wait(), 1);
}

TEST_F(PlainNodes, ASignalWhileTheyWaitEndsThem) {
  auto alone = run("2", "true");
  ASSERT_TRUE(eventually([&] { return !net::is_refused(place()); }));
  alone->send(SIGTERM);
  EXPECT_EQ(alone->wait(), 128 + SIGTERM) << alone->err();
  EXPECT_THAT(alone->err(), HasSubstr("while it waited for other nodes"));
}

}  // namespace
}  // namespace tandem::elastic
