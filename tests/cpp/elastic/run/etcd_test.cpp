// Nodes whose agents elect the one that keeps the membership, by a real etcd.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "etcd/election.h"
#include "etcd_server.h"
#include "launch/process_tree.h"
#include "training.h"

namespace tandem::elastic {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Elected : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("etcd")) GTEST_SKIP() << "needs etcd (script/bootstrap --schedulers installs it)";
    etcd_ = std::make_unique<EtcdServer>();
  }

  Words flags(const std::string& nodes, const Words& more = {}, const std::string& configuration = "") const {
    return joined({"--nnodes", nodes, "--rdzv-backend", "etcd", "--rdzv-endpoint", etcd_->endpoint(), "--rdzv-id", "job", "--rdzv-conf",
                   "keep_alive_interval=1,join_timeout=20,last_call_timeout=0,lease_ttl=2" + configuration},
                  more);
  }
  std::unique_ptr<Training> node(const std::string& nodes, const Words& settings, const Words& more = {"-n", "1"}) {
    return std::make_unique<Training>(flags(nodes, more), settings);
  }
  // The one that keeps the membership, then `count` - 1 others; all train.
  std::vector<std::unique_ptr<Training>> train(int count, const std::string& nodes, const Words& settings) {
    std::vector<std::unique_ptr<Training>> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(node(nodes, settings));
      if (i == 0) wait_for_keeper();
    }
    for (auto& each : all) {
      EXPECT_TRUE(eventually([&] { return each->takes_part(); })) << each->said();
    }
    EXPECT_TRUE(all[0]->reaches(5)) << all[0]->said();  // there is a commit
    return all;
  }
  void wait_for_keeper() const {
    EXPECT_TRUE(eventually([&] { return etcd_->get("/tandem/job/keeper").has_value(); }));
  }
  std::int64_t epoch() const { return std::stol(etcd_->get("/tandem/job/epoch").value_or("0")); }
  // Whether the job comes to another epoch of the membership; from then on it has no time to lose.
  bool comes_to_another(std::int64_t epoch_before, std::vector<std::unique_ptr<Training>>& nodes) const {
    const bool comes = eventually([&] { return epoch() > epoch_before; });
    for (auto& each : nodes) each->hurry();
    return comes;
  }

  // How much each has said so far.
  static std::vector<std::size_t> lengths(const std::vector<std::unique_ptr<Training>>& nodes) {
    std::vector<std::size_t> lengths;
    for (const auto& each : nodes) {
      each->tool().look();
      lengths.push_back(each->said().size());
    }
    return lengths;
  }
  static bool say_since(const std::vector<std::size_t>& lengths, const std::vector<std::unique_ptr<Training>>& nodes,
                        const std::vector<std::size_t>& which, const std::string& text) {
    return eventually([&] {
      return std::ranges::all_of(which, [&](std::size_t i) {
        nodes[i]->tool().look();
        return nodes[i]->said().find(text, lengths[i]) != std::string::npos;
      });
    });
  }

  std::unique_ptr<EtcdServer> etcd_;
};

const Words kSlow{"PAUSE=30", "STEPS=150"};
const Words kSteps{"STEPS=150"};

// With ranks that exchange by either.
class ElectedOnBackend : public Elected, public ::testing::WithParamInterface<const char*> {
 protected:
  Words settings(const Words& more) const { return joined({std::string("BACKEND=") + GetParam()}, more); }
};
INSTANTIATE_TEST_SUITE_P(Backends, ElectedOnBackend, ::testing::Values("gloo", "shm"));

TEST_F(Elected, TrainAsOneProcessWouldAndLeaveNothing) {
  auto first = node("2", {}), second = node("2", {}, {"-n", "2"});
  EXPECT_EQ(first->wait(), 0) << first->said();
  EXPECT_EQ(second->wait(), 0) << second->said();
  expect_close(first->result(0).empty() ? first->result(2) : first->result(0), undisturbed({"-n", "1"}, {}));
  EXPECT_EQ(etcd_->get("/tandem/job/keeper"), std::nullopt);
  EXPECT_EQ(etcd_->get("/tandem/job/epoch"), "over");
}

TEST_P(ElectedOnBackend, GoOnWithoutTheNodeThatKeptTheMembership) {
  auto nodes = train(3, "1:3", settings(kSlow));
  const std::int64_t before = epoch();
  const pid_t worker = nodes[0]->pid(0);
  const std::vector<std::size_t> said = lengths(nodes);
  nodes[0]->tool().send(SIGKILL);
  EXPECT_TRUE(say_since(said, nodes, {1, 2}, "now 2 ranks, from step")) << nodes[1]->said() << "--\n" << nodes[2]->said();
  EXPECT_TRUE(comes_to_another(before, nodes));
  for (int i : {1, 2}) {
    EXPECT_EQ(nodes[i]->wait(), 0) << nodes[i]->said();
    EXPECT_THAT(nodes[i]->said(), HasSubstr("now 2 ranks, from step"));
    expect_close(nodes[i]->result(0).empty() ? nodes[i]->result(1) : nodes[i]->result(0), undisturbed({"-n", "1"}, settings(kSteps)));
  }
  const std::string both = nodes[1]->said() + nodes[2]->said();
  EXPECT_THAT(both, HasSubstr("this agent keeps the job's membership now"));
  EXPECT_THAT(both, HasSubstr("which keeps the job's membership, is gone; the agents elect another one"));
  EXPECT_THAT(both, HasSubstr("(membership epoch " + std::to_string(before + 1) + ")"));
  EXPECT_TRUE(eventually([&] { return launch::is_gone(worker); }));
  EXPECT_EQ(etcd_->get("/tandem/job/keeper"), std::nullopt);
}

TEST_F(Elected, TheLastOneGoesOnAlone) {
  auto nodes = train(3, "1:3", kSlow);
  const std::vector<std::size_t> said = lengths(nodes);
  nodes[0]->tool().send(SIGKILL);
  ASSERT_TRUE(say_since(said, nodes, {1, 2}, "now 2 ranks, from step")) << nodes[1]->said() << nodes[2]->said();
  const bool second_keeps = nodes[1]->said().find("this agent keeps") != std::string::npos;
  const int keeper = second_keeps ? 1 : 2, other = 3 - keeper;
  const std::int64_t before = epoch();
  nodes[keeper]->tool().send(SIGKILL);
  EXPECT_TRUE(comes_to_another(before, nodes));
  EXPECT_EQ(nodes[other]->wait(), 0) << nodes[other]->said();
  EXPECT_THAT(nodes[other]->said(), HasSubstr("now 1 rank, from step"));
}

TEST_P(ElectedOnBackend, ASignalToTheKeeperEndsItsNodeAlone) {
  auto nodes = train(2, "1:2", settings(kSlow));
  ASSERT_TRUE(nodes[0]->reaches(5)) << nodes[0]->said();
  const std::int64_t before = epoch();
  nodes[0]->tool().send(SIGTERM);
  EXPECT_TRUE(comes_to_another(before, nodes));
  EXPECT_EQ(nodes[0]->wait(), 128 + SIGTERM) << nodes[0]->said();
  EXPECT_EQ(nodes[1]->wait(), 0) << nodes[1]->said();
  EXPECT_THAT(nodes[1]->said(), HasSubstr("now 1 rank, from step"));
}

TEST_F(Elected, AKeeperWhoseWorkersFailEndsItsNodeAlone) {
  auto first = node("1:2", joined(kSlow, {"FAULTS=kill-forward@20/0"}));
  ASSERT_TRUE(first->reaches(1)) << first->said();
  auto second = node("1:2", kSlow);
  EXPECT_EQ(second->wait(), 0) << second->said();
  EXPECT_EQ(first->wait(), 0) << first->said();  // the training came to its end
}

TEST_F(Elected, OneThatSleptThroughItsElectionComesBack) {
  auto nodes = train(3, "1:3", {"PAUSE=60", "STEPS=150"});
  ASSERT_TRUE(nodes[0]->reaches(5)) << nodes[0]->said();
  // The agent alone: its workers go on, and are not heard.
  std::vector<pid_t> agents;
  for (const auto& process : launch::descendants(nodes[0]->tool().pid())) {
    if (process.parent == nodes[0]->tool().pid()) agents.push_back(process.pid);
  }
  ASSERT_EQ(agents.size(), 1u);
  ASSERT_EQ(kill(agents[0], SIGSTOP), 0);
  const std::int64_t before = epoch();
  EXPECT_TRUE(eventually([&] { return epoch() > before; })) << nodes[1]->said() << nodes[2]->said();
  ASSERT_EQ(kill(agents[0], SIGCONT), 0);
  for (auto& each : nodes) EXPECT_EQ(each->wait(), 0) << each->said();
  EXPECT_THAT(nodes[0]->said(), HasSubstr("election to keep the membership has run out"));
  EXPECT_THAT(nodes[1]->said() + nodes[2]->said(), HasSubstr("now 3 ranks, from step"));
  std::vector<std::string> results;
  for (auto& each : nodes) {
    for (int rank = 0; rank < 3; ++rank) {
      if (const std::string result = each->result(rank); !result.empty()) results.push_back(result);
    }
  }
  EXPECT_EQ(results.size(), 3u);
  for (const std::string& result : results) expect_close(result, undisturbed({"-n", "1"}, kSteps));
}

TEST_P(ElectedOnBackend, TrainOnWhileEtcdIsAway) {
  auto nodes = train(2, "2", settings(kSlow));
  const std::int64_t before = epoch();
  etcd_->kill();
  std::this_thread::sleep_for(std::chrono::milliseconds(3000));  // longer than the lease
  etcd_->start();
  for (auto& each : nodes) each->hurry();
  for (auto& each : nodes) EXPECT_EQ(each->wait(), 0) << each->said();
  for (auto& each : nodes) EXPECT_THAT(each->said(), Not(HasSubstr("membership epoch")));
  EXPECT_EQ(before, 1);
  EXPECT_EQ(nodes[0]->times(1) + nodes[1]->times(1), 1);
  EXPECT_EQ(etcd_->get("/tandem/job/keeper"), std::nullopt);
}

TEST_P(ElectedOnBackend, TrainToTheEndWithoutEtcd) {
  auto nodes = train(2, "2", settings({"PAUSE=60", "STEPS=150"}));
  etcd_->kill();
  for (auto& each : nodes) EXPECT_EQ(each->wait(), 0) << each->said();
  EXPECT_THAT(nodes[0]->said(), HasSubstr("training goes on, but ranks cannot come and go until it answers"));
}

// A last checkpoint that is due while etcd is away, once the agents have refused it for the first time.
class LastCheckpoint : public Elected {
 protected:
  void train_to_it() {
    nodes_ = train(2, "2", {"PAUSE=100", "STEPS=150", "CHECKPOINTS=" + folder_.path() + "/saved", "CHECKPOINT_EVERY=148"});
    etcd_->kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(3000));  // longer than the lease: nobody is certain any more
    for (auto& each : nodes_) each->hurry();
    EXPECT_TRUE(say_since(lengths(nodes_), nodes_, {0}, "a checkpoint is not written: it is not known")) << nodes_[0]->said();
  }
  const TemporaryFolder folder_;
  std::vector<std::unique_ptr<Training>> nodes_;
};

TEST_F(LastCheckpoint, ThatNobodyMayWriteIsAnError) {
  train_to_it();
  for (auto& each : nodes_) {
    EXPECT_EQ(each->wait(), 1) << each->said();
    EXPECT_THAT(each->said(), HasSubstr("checkpoint step-000000148 in " + folder_.path() + "/saved was not saved: it is not known"));
  }
  EXPECT_EQ(read_text(folder_.path() + "/saved/latest"), "");
}

TEST_F(LastCheckpoint, IsWrittenOnceEtcdIsBack) {
  train_to_it();
  etcd_->start();
  for (auto& each : nodes_) EXPECT_EQ(each->wait(), 0) << each->said();
  EXPECT_EQ(read_text(folder_.path() + "/saved/latest"), "step-000000148\n");
}

TEST_F(Elected, ALostRankIsReplacedOnceEtcdIsBack) {
  auto nodes = train(3, "1:3", kSlow);
  const std::int64_t before = epoch();
  etcd_->kill();
  kill(nodes[2]->pid(0), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const std::int64_t step = std::max(nodes[0]->step(), nodes[1]->step());
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LE(std::max(nodes[0]->step(), nodes[1]->step()), step);  // nobody confirms their epoch
  etcd_->start();
  EXPECT_TRUE(comes_to_another(before, nodes));
  for (int i : {0, 1}) {
    EXPECT_EQ(nodes[i]->wait(), 0) << nodes[i]->said();
    EXPECT_THAT(nodes[i]->said(), HasSubstr("now 2 ranks, from step"));
  }
}

TEST_F(Elected, LaterNodesJoinTheNextKeeper) {
  auto nodes = train(2, "1:3", {"PAUSE=50", "STEPS=150"});
  nodes[0]->tool().send(SIGKILL);
  auto third = node("1:3", {"PAUSE=50", "STEPS=150"});
  EXPECT_TRUE(eventually([&] { return third->takes_part(); })) << third->said();
  for (Training* each : {third.get(), nodes[1].get()}) each->hurry();
  EXPECT_EQ(third->wait(), 0) << third->said();
  EXPECT_EQ(nodes[1]->wait(), 0) << nodes[1]->said();
  EXPECT_TRUE(third->takes_part());
  EXPECT_THAT(nodes[1]->said(), HasSubstr("now 2 ranks, from step"));
}

TEST_F(Elected, TheNextJobOfItsNameBeginsWhileTheLastOneEnds) {
  auto keeper = node("2", {});
  wait_for_keeper();
  const TemporaryFolder folder;
  const std::string gate = folder.path() + "/gate";
  auto lingers = node("2", {"LINGER_UNTIL=" + gate});
  EXPECT_TRUE(eventually([&] { return keeper->pid(0) > 0 && launch::is_gone(keeper->pid(0)); })) << keeper->said();
  EXPECT_TRUE(etcd_->get("/tandem/job/keeper")) << keeper->said();  // its agent waits for the other
  std::vector<std::unique_ptr<Training>> next;
  for (int i = 0; i < 2; ++i) next.push_back(node("2", {}));
  EXPECT_TRUE(say_since({0, 0}, next, {0, 1}, "the job here is over; waiting for its last agents to end"));
  launch::write_text(gate, "");
  for (Training* each : {keeper.get(), lingers.get(), next[0].get(), next[1].get()}) EXPECT_EQ(each->wait(), 0) << each->said();
  const Training& first = next[0]->result(0).empty() ? *next[1] : *next[0];
  expect_close(first.result(0), undisturbed({"-n", "1"}, {}));
  EXPECT_THAT(first.result(0), HasSubstr("world 2"));
}

// `tandem run -H` draws such a name.
TEST_F(Elected, OneThatComesTooLateToAJobWhoseNameIsItsOwnBeginsNothing) {
  const Words all = joined(joined({"run"}, flags("1:2", {"--only-job"})), {"--", "echo", "here"});
  Tool first(all);
  EXPECT_EQ(first.wait(), 0) << first.err();
  Tool late(all);
  EXPECT_EQ(late.wait(), 0) << late.err();
  EXPECT_THAT(late.out(), Not(HasSubstr("here")));
  EXPECT_THAT(late.err(), HasSubstr("the job has come to its end without this node"));
}

TEST_F(Elected, AProgramThatIsNotElasticEndsWithALostNode) {
  std::vector<std::unique_ptr<Tool>> tools;
  for (int i = 0; i < 3; ++i) {
    tools.push_back(std::make_unique<Tool>(joined(joined({"run"}, flags("3")), {"--", "sh", "-c", "echo here; sleep 100"})));
    if (i == 0) wait_for_keeper();
  }
  for (auto& each : tools) ASSERT_TRUE(each->wait_for_output("here")) << each->err();
  tools[0]->send(SIGKILL);
  for (int i : {1, 2}) {
    EXPECT_EQ(tools[i]->wait(), 1) << tools[i]->err();
    EXPECT_THAT(tools[i]->err(), HasSubstr("the program's other ranks cannot go on without it"));
  }
}

TEST_F(Elected, SayWhatIsWrongWithEtcd) {
  const auto run = [&](const Words& more) {
    const Words flags{"run", "--nnodes", "2", "--rdzv-backend", "etcd", "--rdzv-conf", "join_timeout=2"};
    return launch::run_tool(joined(joined(flags, more), {"--", "true"}));
  };
  auto result = run({"--rdzv-id", "job", "--rdzv-endpoint", "127.0.0.1:1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("etcd at http://127.0.0.1:1: Failed to connect"));
  result = run({"--rdzv-id", "job", "--rdzv-endpoint", etcd_->endpoint()});
  EXPECT_THAT(result.err, HasSubstr("of 2 nodes 1 came within 2 s"));
  EXPECT_THAT(run({"--rdzv-endpoint", etcd_->endpoint()}).err, HasSubstr("needs --rdzv-id NAME"));
  EXPECT_THAT(run({"--rdzv-id", "a/b", "--rdzv-endpoint", etcd_->endpoint()}).err, HasSubstr("names keys of etcd"));
  EXPECT_THAT(run({"--rdzv-id", "job"}).err, HasSubstr("needs --rdzv-endpoint HOST[:PORT],…, where etcd's servers"));
}

// On a clock that the test moves.
TEST_F(Elected, ALookAtNobodyDoesNotCountForTheNextLook) {
  etcd_->ask("/v3/kv/put", {{"key", etcd::to_base64("/tandem/alone/epoch")}, {"value", etcd::to_base64("3 x")}});  // others have begun
  etcd::ClientOptions client;
  client.servers = {etcd_->url()};
  etcd::ElectionOptions options{"alone", "127.0.0.1", 1};
  options.lease = std::chrono::seconds(2);
  etcd::Election election(options, client);
  auto now = std::chrono::steady_clock::now();
  const auto looks_once = [&] {  // and then pauses, for the clock stands
    return eventually([&] {
      election.serve(now);
      return election.deadline() == now + std::chrono::milliseconds(50);
    });
  };
  election.look(true, false, false);
  EXPECT_TRUE(looks_once());
  election.look(false, false, false);
  now += std::chrono::hours(1);
  election.look(true, false, false);
  EXPECT_TRUE(looks_once());
  EXPECT_FALSE(election.keeper()) << "whoever kept it comes first";
  now += std::chrono::seconds(5);
  EXPECT_TRUE(eventually([&] {
    election.serve(now += std::chrono::milliseconds(1));
    return election.keeper().has_value();
  }));
}

TEST_F(Elected, TroubleIsNoneOfWhoDoesNotAsk) {
  etcd::ClientOptions client;
  client.servers = {etcd_->url()};
  etcd::Election election({"alone", "127.0.0.1", 1}, client);
  etcd_->kill();
  auto now = std::chrono::steady_clock::now();
  const auto has_trouble = [&] {
    election.serve(now += std::chrono::milliseconds(10));
    return !election.trouble().empty();
  };
  election.look(true, false, false);
  EXPECT_TRUE(eventually(has_trouble));
  election.look(false, false, false);
  EXPECT_EQ(election.trouble(), "");
  election.look(true, false, false);
  has_trouble();  // asks
  election.look(false, false, false);
  for (int i = 0; i < 300; ++i) {
    ASSERT_FALSE(has_trouble()) << "of what was asked before";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_F(Elected, PassOverServersThatDoNotAnswer) {
  const Words all = joined(Words{"run"}, {"--nnodes", "2", "--rdzv-backend", "etcd", "--rdzv-id", "job", "--rdzv-endpoint",
                                           "127.0.0.1:1," + etcd_->endpoint(), "--rdzv-conf", "join_timeout=20", "--", "true"});
  Tool first(all), second(all);
  EXPECT_EQ(first.wait(), 0) << first.err();
  EXPECT_EQ(second.wait(), 0) << second.err();
}

TEST_F(Elected, SignInWhereEtcdAsksForIt) {
  if (!has_program("etcdctl")) GTEST_SKIP() << "etcdctl is missing (script/bootstrap --schedulers installs it)";
  const std::string control = "ETCDCTL_API=3 etcdctl --endpoints " + etcd_->url() + " ";
  ASSERT_EQ(std::system((control + "user add root:secret-word > /dev/null && " + control + "auth enable > /dev/null").c_str()), 0);
  const Words all = joined(joined({"run"}, flags("2", {"--no-prefix"}, "")), {"--", "true"});
  Tool first(all, Tool::Screen::kPipes, {"ETCDCTL_USER=root:secret-word"});
  Tool second(all, Tool::Screen::kPipes, {"ETCDCTL_USER=root", "ETCDCTL_PASSWORD=secret-word"});
  EXPECT_EQ(first.wait(), 0) << first.err();
  EXPECT_EQ(second.wait(), 0) << second.err();
  // As agents are told by who starts them: their programs are not.
  const Words quiet = joined(joined({"run"}, flags("1:2", {}, "")), {"--", "sh", "-c", "test -z \"$TANDEM_ETCD_USER$TANDEM_ETCD_PASSWORD\""});
  Tool told(quiet, Tool::Screen::kPipes, {"TANDEM_ETCD_USER=root", "TANDEM_ETCD_PASSWORD=secret-word"});
  EXPECT_EQ(told.wait(), 0) << told.err();
  const Words once = joined(joined({"run"}, flags("2", {}, ",join_timeout=1")), {"--", "true"});
  const auto wrong = launch::run_tool(once, {"ETCDCTL_USER=root:other"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("authentication failed"));
  EXPECT_THAT(wrong.err, Not(HasSubstr("other")));
}

TEST_F(Elected, SpeakTls) {
  if (!has_program("openssl")) GTEST_SKIP() << "openssl is missing";
  const TemporaryFolder folder;
  const std::string key = folder.path() + "/key.pem", certificate = folder.path() + "/cert.pem";
  ASSERT_EQ(std::system(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 "
                         "-keyout " + key + " -out " + certificate + " 2> /dev/null").c_str()), 0);
  etcd_ = std::make_unique<EtcdServer>(Words{"--cert-file", certificate, "--key-file", key, "--client-cert-auth", "--trusted-ca-file", certificate},
                                       "https");
  const std::string tls = ",protocol=https,cacert=" + certificate;
  const Words all = joined(joined({"run"}, flags("2", {}, tls + ",cert=" + certificate + ",key=" + key)), {"--", "true"});
  Tool first(all), second(all);
  EXPECT_EQ(first.wait(), 0) << first.err();
  EXPECT_EQ(second.wait(), 0) << second.err();
  const auto stranger = launch::run_tool(joined(joined({"run"}, flags("2", {}, ",protocol=https,join_timeout=1")), {"--", "true"}));
  EXPECT_EQ(stranger.code, 1);
  EXPECT_THAT(stranger.err, HasSubstr("certificate"));
}

}  // namespace
}  // namespace tandem::elastic
