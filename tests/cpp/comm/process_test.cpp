// Ranks as real processes: how they meet through the environment, and what happens when one dies, stops or is late.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "comm/sockets.h"
#include "cpp/comm/job.h"
#include "tandem/ddp.h"
#include "tandem/store.h"

namespace tandem::testing {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// --- what a rank does, in its own process: its output is lines for the test

// Sums ranks, three times, also in a second group.
int sum() {
  say_error([] {
    const auto group = ProcessGroup::create(from_environment());
    ProcessGroupOptions again = from_environment();
    again.name = "second";
    const auto second = ProcessGroup::create(again);
    at::Tensor tensor = torch::full({1000}, group->rank() + 1.0);
    for (int i = 0; i < 3; ++i) group->all_reduce(tensor);
    second->all_reduce(tensor);
    say("sum " + std::to_string(tensor[999].item<double>()));
    group->barrier();
  });
  return 0;
}

// Makes groups one after the other, each the only one of its time: ranks come to the next while others, and the store
// that rank 0 serves, are still ending the last.
int again_and_again() {
  say_error([] {
    double sum = 0;
    for (int round = 0; round < 20; ++round) {
      const auto group = ProcessGroup::create(from_environment());
      at::Tensor tensor = torch::full({10}, group->rank() + 1.0);
      group->all_reduce(tensor);
      sum += tensor[9].item<double>();
      group->close();
    }
    say("sum " + std::to_string(sum));
  });
  return 0;
}

// Waits in a collective that the other rank does not join.
int wait_for_peer() {
  const auto group = ProcessGroup::create(from_environment());
  group->barrier();
  say("ready");
  if (group->rank() != 0) pause();
  at::Tensor tensor = torch::ones({4});
  Work work = group->all_reduce_async(tensor);
  Work queued = group->all_reduce_async(tensor);
  say_error([&] { work.wait(); });
  say_error([&] { queued.wait(); });
  say_error([&] { group->all_reduce(tensor); });
  return 0;
}

// Rank 0 waits in a collective and is aborted by another thread when the test says so (SIGUSR1).
int abort_while_waiting() {
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, nullptr);
  const auto group = ProcessGroup::create(from_environment());
  group->barrier();
  say("ready");
  if (group->rank() != 0) pause();
  Clock::time_point aborted;
  std::thread aborter([&] {
    int number = 0;
    sigwait(&usr1, &number);
    aborted = Clock::now();
    group->abort();
  });
  at::Tensor tensor = torch::ones({1 << 20});
  say_error([&] { group->all_reduce(tensor); }, &aborted);
  aborter.join();
  say("left");
  return 0;
}

// Trains until the peer dies; then makes a group and DDP of its own and goes on alone.
int train_until_peer_dies() {
  const auto group = ProcessGroup::create(from_environment());
  torch::nn::Linear net(64, 64);
  {
    DistributedDataParallel<torch::nn::Linear> ddp(net, group);
    say("ready");
    say_error([&] {
      for (;;) {
        ddp.forward(torch::randn({8, 64})).sum().backward();
        net->zero_grad();
      }
    });
  }
  ProcessGroupOptions alone = options_for(0, 1);
  DistributedDataParallel<torch::nn::Linear> ddp(net, ProcessGroup::create(alone, hash_store()));
  ddp.forward(torch::randn({8, 64})).sum().backward();
  say("goes on");
  return 0;
}

// Returns from main while collectives are pending.
int end_while_pending() {
  const auto group = ProcessGroup::create(from_environment());
  group->barrier();
  static at::Tensor tensor = torch::ones({1 << 20});
  static std::vector<Work> works;
  for (int i = 0; i < 5 && group->rank() == 0; ++i) works.push_back(group->all_reduce_async(tensor));
  static auto kept = group;  // not destroyed before main returns
  say("ready");
  if (group->rank() != 0) pause();
  return 0;
}

// Asks the store something with the others, in the way that TEST_LAST names, and leaves: rank 0 first, which serves it and
// may not even be asked. What LibTorch warns of comes as a line.
int leave_after_asking() {
  dup2(STDOUT_FILENO, STDERR_FILENO);
  const std::string last = std::getenv("TEST_LAST");
  say_error([&] {
    const auto group = ProcessGroup::create(from_environment());
    std::shared_ptr<ProcessGroup> inner;
    if (last == "split") inner = group->split({{2, 0, 1}});
    if (last == "split without") inner = group->split({{1, 2}});
    if (last == "barrier") group->monitored_barrier(std::chrono::seconds(30));
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(std::getenv("TEST_LATE_MS"))) * group->rank());
    if (inner) inner->close();
    group->close();
  });
  return 0;
}

// May have few descriptors more than it has.
int with_few_descriptors() {
  const auto limit = net::descriptor_use().open + 30;
  const rlimit few{limit, limit};
  if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
  say(std::to_string(limit));
  return sum();
}

int run_child(const std::string& role) {
  if (role == "few descriptors") return with_few_descriptors();
  if (role == "sum") return sum();
  if (role == "again") return again_and_again();
  if (role == "wait") return wait_for_peer();
  if (role == "abort") return abort_while_waiting();
  if (role == "train") return train_until_peer_dies();
  if (role == "end") return end_while_pending();
  if (role == "leave") return leave_after_asking();
  return 2;
}

// --- tests

// What holds for every backend between processes.
class Backends : public ::testing::TestWithParam<const char*> {
 protected:
  Job job(Environment environment = Environment()) const {
    environment["TEST_BACKEND"] = GetParam();
    return Job(environment);
  }
};

TEST_P(Backends, MeetThroughTheEnvironment) {
  for (const int size : {1, 2, 3}) {
    const Job job = this->job();
    std::vector<std::unique_ptr<Child>> ranks;
    for (int rank = size - 1; rank >= 0; --rank) ranks.push_back(job.start("sum", rank, size));
    const double expected = size * (size + 1) / 2.0 * size * size * size;
    for (auto& rank : ranks) {
      EXPECT_EQ(rank->line(), "sum " + std::to_string(expected));
      EXPECT_EQ(rank->wait(), 0);
    }
  }
}

TEST_P(Backends, GroupsCanBeMadeOneAfterTheOther) {
  for (const int size : {2, 3, 5}) {
    const Job job = this->job();
    std::vector<std::unique_ptr<Child>> ranks;
    for (int rank = 0; rank < size; ++rank) ranks.push_back(job.start("again", rank, size));
    for (auto& rank : ranks) {
      EXPECT_EQ(rank->line(), "sum " + std::to_string(20 * size * (size + 1) / 2.0));
      EXPECT_EQ(rank->wait(), 0);
    }
  }
}

TEST(Processes, UnderAnAgentEveryRankIsAClient) {
  TCPStoreOptions options;
  options.is_server = true;
  const Store agent = tcp_store("127.0.0.1", 0, options);
  for (const char* attempt : {"0", "1"}) {
    const Job job(Environment{{"MASTER_PORT", std::to_string(store_port(agent))},
                              {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                              {"TORCHELASTIC_RESTART_COUNT", attempt}});
    const auto first = job.start("sum", 0, 2);
    const auto other = job.start("sum", 1, 2);
    EXPECT_THAT(first->line(), StartsWith("sum"));
    EXPECT_THAT(other->line(), StartsWith("sum"));
    EXPECT_EQ(first->wait(), 0);
    EXPECT_EQ(other->wait(), 0);
  }
}

TEST(Processes, PortInUseIsAnErrorOfRankZero) {
  const net::Listener taken = net::listen_on("127.0.0.1", 0);
  const Job job(Environment{{"MASTER_PORT", std::to_string(taken.endpoint.port)}});
  const auto first = job.start("sum", 0, 1);
  EXPECT_THAT(first->line(),
              IsError(ErrorCode::kIo, AllOf(HasSubstr("port in use"), HasSubstr(std::to_string(taken.endpoint.port)))));
  close(taken.fd);
}

TEST(Processes, WorldSizesThatDifferAreNamedOnEveryRank) {
  const Job job;
  const auto first = job.start("sum", 0, 2);
  const auto other = job.start("sum", 1, 3);
  for (const auto* rank : {&first, &other}) {
    EXPECT_THAT((*rank)->line(), IsError(ErrorCode::kInvalidArgument,
                                         HasSubstr("rank 1 was started with WORLD_SIZE=3, rank 0 with WORLD_SIZE=2")));
  }
}

TEST(Processes, AMissingRankIsNamedOnEveryRank) {
  const Job job(Environment{{"TEST_TIMEOUT_MS", "5000"}});
  const auto first = job.start("sum", 0, 3);
  const auto other = job.start("sum", 2, 3);
  for (const auto* rank : {&first, &other}) {
    EXPECT_THAT((*rank)->line(), IsError(ErrorCode::kTimeout, HasSubstr("rank 1 is missing")));
  }
}

// All ranks are told, by number, at once: also before the others have come.
TEST_P(Backends, TooFewDescriptorsAreAnErrorOfEveryRank) {
  const Job job = this->job({{"TEST_TIMEOUT_MS", "100000"}});
  const auto first = job.start("sum", 0, 64);
  const auto other = job.start("few descriptors", 1, 64);
  const std::string limit = other->line();
  for (const auto* rank : {&first, &other}) {
    EXPECT_THAT((*rank)->line(),
                IsError(ErrorCode::kIo,
                        AllOf(ContainsRegex("rank 1 of group 'default' needs [0-9]+ descriptors"),
                              HasSubstr("may have " + limit + " (RLIMIT_NOFILE)"), ContainsRegex("ulimit -n [0-9]+"))));
  }
}

TEST_P(Backends, AKilledPeerIsNamedAtOnce) {
  const Job job = this->job();
  const auto first = job.start("wait", 0, 2);
  const auto other = job.start("wait", 1, 2);
  EXPECT_EQ(first->line(), "ready");
  EXPECT_EQ(other->line(), "ready");
  const auto killed = Clock::now();
  other->signal(SIGKILL);
  const std::string waiting = first->line();
  EXPECT_LT(Clock::now() - killed, std::chrono::seconds(3));
  EXPECT_THAT(waiting, IsError(ErrorCode::kPeerLost,
                               AllOf(HasSubstr("all_reduce #1 of float[4] on group 'default' (rank 0 of 2), begun"), HasSubstr("rank 1 closed"))));
  const std::string queued = first->line(), later = first->line();
  EXPECT_THAT(queued, IsError(ErrorCode::kPeerLost, _));
  EXPECT_THAT(later, IsError(ErrorCode::kPeerLost, HasSubstr("can no longer be used")));
  EXPECT_EQ(first->wait(), 0);
}

TEST_P(Backends, APeerThatDoesNotJoinIsNamedAfterTheTimeout) {
  const Job job = this->job({{"TEST_TIMEOUT_MS", "3000"}});
  const auto first = job.start("wait", 0, 2);
  const auto other = job.start("wait", 1, 2);
  EXPECT_EQ(first->line(), "ready");
  EXPECT_THAT(first->line(),
              IsError(ErrorCode::kTimeout, AllOf(HasSubstr("all_reduce #1 of float[4] on group 'default'"), HasSubstr("rank 1"))));
}

TEST_P(Backends, AbortWakesAWaiterAlthoughThePeerIsStopped) {
  const Job job = this->job();
  const auto first = job.start("abort", 0, 2);
  const auto other = job.start("abort", 1, 2);
  EXPECT_EQ(first->line(), "ready");
  EXPECT_EQ(other->line(), "ready");
  other->signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until the collective is under way
  first->signal(SIGUSR1);
  const std::string woken = first->line();
  EXPECT_THAT(woken, IsError(ErrorCode::kAborted, _));
  EXPECT_LE(parse_error(woken).milliseconds, 5000);  // the timeout is 30 s; 0.1 s on a machine that does nothing else
  EXPECT_EQ(first->line(), "left");
  EXPECT_EQ(first->wait(), 0);
}

TEST_P(Backends, ASurvivorOfTrainingGoesOnInANewGroup) {
  const Job job = this->job();
  const auto first = job.start("train", 0, 2);
  const auto other = job.start("train", 1, 2);
  EXPECT_EQ(first->line(), "ready");
  EXPECT_EQ(other->line(), "ready");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // some steps
  other->signal(SIGKILL);
  EXPECT_THAT(first->line(), IsError(ErrorCode::kPeerLost, _));
  EXPECT_EQ(first->line(), "goes on");
  EXPECT_EQ(first->wait(), 0);
}

TEST_P(Backends, AProgramMayEndWithCollectivesPending) {
  const Job job = this->job();
  const auto first = job.start("end", 0, 2);
  const auto other = job.start("end", 1, 2);
  EXPECT_EQ(first->line(), "ready");
  EXPECT_EQ(first->wait(std::chrono::seconds(20)), 0);
}

TEST_P(Backends, TheRankThatServesTheStoreMayLeaveFirst) {
  for (const std::string last : {"creation", "split", "split without", "barrier"}) {
    for (const std::string late : {"0", "100", "1500"}) {
      if (late == "1500" && last != "creation") continue;
      const Job job = this->job({{"TEST_LATE_MS", late}, {"TEST_LAST", last}});
      std::vector<std::unique_ptr<Child>> ranks;
      for (int rank = 0; rank < 3; ++rank) ranks.push_back(job.start("leave", rank, 3));
      for (const auto& rank : ranks) {
        EXPECT_EQ(rank->line(), "no error") << last << ", " << late << " ms a rank";
        EXPECT_EQ(rank->wait(), 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Names, Backends, ::testing::Values("gloo", "shm"),
                         [](const auto& info) { return std::string(info.param); });

// Names of shared memory and of sockets that are Tandem's. Other processes may have some for a moment.
std::set<std::string> shared_names() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename();
    if (name.find("tandem") != std::string::npos) names.insert(name);
  }
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const auto at = line.find("@tandem-");
    if (at != std::string::npos) names.insert(line.substr(at));
  }
  return names;
}

TEST(SharedMemory, NothingStaysBehindWhenAllRanksAreKilled) {
  const Job job(Environment{{"TEST_BACKEND", "shm"}});
  const auto first = job.start("wait", 0, 2);
  const auto other = job.start("wait", 1, 2);
  EXPECT_EQ(first->line(), "ready");
  EXPECT_EQ(other->line(), "ready");
  other->signal(SIGKILL);
  first->signal(SIGKILL);
  EXPECT_EQ(first->wait(), -SIGKILL);
  EXPECT_EQ(other->wait(), -SIGKILL);
  auto left = shared_names();
  for (int i = 0; i < 200 && !left.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto now = shared_names();
    std::erase_if(left, [&](const std::string& name) { return !now.count(name); });
  }
  EXPECT_TRUE(left.empty()) << *left.begin();
}

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--role") return tandem::testing::run_child(argv[2]);
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
