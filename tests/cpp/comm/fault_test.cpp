// A peer that is killed, stopped or slow, in each collective and while a group is being made: what the others get, how
// fast an abort frees them, and that they go on in the same process.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <thread>

#include "cpp/comm/network.h"
#include "tandem/store.h"

namespace tandem::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using std::chrono::milliseconds;

constexpr int kSize = 3;
constexpr int kVictim = 2;
const std::vector<std::string> kCollectives = {"all_reduce",     "broadcast",  "reduce",     "all_gather",
                                               "gather",         "scatter",    "barrier",    "reduce_scatter",
                                               "all_to_all",     "recv",       "long_recv",  "batch",
                                               "bytes",          "uneven",     "coalesced",  "monitored"};

// --- what a rank does

// One call that does not end without the victim, at least on some rank.
void call(ProcessGroup& group, const std::string& name) {
  const int size = group.size();
  at::Tensor tensor = torch::ones({1000});
  std::vector<at::Tensor> list;
  for (int i = 0; i < size; ++i) list.push_back(torch::ones({1000}));
  const bool is_victim = group.rank() == kVictim, is_first = group.rank() == 0;
  if (name == "all_reduce") return group.all_reduce(tensor);
  if (name == "broadcast") return group.broadcast(tensor, kVictim);
  if (name == "reduce") return group.reduce(tensor, 0);
  if (name == "all_gather") return group.all_gather(list, tensor);
  if (name == "gather") return group.gather(is_first ? list : std::vector<at::Tensor>(), tensor, 0);
  if (name == "scatter") return group.scatter(tensor, is_victim ? list : std::vector<at::Tensor>(), kVictim);
  if (name == "barrier") return group.barrier();
  if (name == "reduce_scatter") return group.reduce_scatter(tensor, list);
  if (name == "all_to_all") return group.all_to_all(list, list);
  if (name == "long_recv") tensor = torch::ones({3000000});
  if (name == "recv" || name == "long_recv") {
    return is_victim ? group.send(tensor, 0) : static_cast<void>(group.recv(tensor, kVictim));
  }
  if (name == "batch") {
    std::vector<Message> messages;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == group.rank()) continue;
      messages.push_back({Message::Kind::kSend, tensor, peer});
      messages.push_back({Message::Kind::kReceive, list[peer], peer});
    }
    return group.batch_isend_irecv(messages).wait();
  }
  if (name == "bytes") return static_cast<void>(group.all_gather_bytes("abc"));
  if (name == "uneven") {
    for (int i = 0; i < size; ++i) list[i] = torch::ones({i + 1});
    return group.all_gather(list, list[group.rank()]);
  }
  if (name == "coalesced") return group.all_reduce_coalesced(list);
  if (name == "monitored") return group.monitored_barrier();
  throw std::runtime_error("no collective " + name);
}

// Groups come and go, the store stays: who meets again must not meet at one that is being closed.
const Store& common_store() {
  static const Store store = [] {
    TCPStoreOptions options;
    options.is_server = std::string(std::getenv("RANK")) == "0";
    options.timeout = std::chrono::seconds(60);
    return tcp_store(std::getenv("MASTER_ADDR"), static_cast<std::uint16_t>(std::atoi(std::getenv("MASTER_PORT"))),
                     options);
  }();
  return store;
}

std::shared_ptr<ProcessGroup> make(const std::string& name, int rank, int size, milliseconds timeout) {
  ProcessGroupOptions options;
  options.name = name;
  options.rank = rank;
  options.world_size = size;
  options.timeout = timeout;
  options.backend = std::getenv("TEST_BACKEND");
  return ProcessGroup::create(options, common_store());
}

// Rank 0 serves the store, and stays as long as `others`.
void leave(int rank, int others) {
  if (rank != 0) {
    common_store()->add("left", 1);
    return;
  }
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  while (common_store()->add("left", 0) < others && Clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(5));
  }
}

// The victim's part, after all have met.
void fail(const std::string& fault) {
  if (fault == "kill") raise(SIGKILL);
  if (fault == "stop" || fault == "abort") raise(SIGSTOP);
  if (fault == "slow") std::this_thread::sleep_for(milliseconds(1500));
}

// For each collective: a group of all ranks, one of which fails; then one of the survivors, and on.
int rounds(const std::string& fault, const std::vector<std::string>& collectives) {
  const int rank = std::atoi(std::getenv("RANK"));
  for (const std::string& name : collectives) {
    // As long as it takes to make, but short when one waits.
    const milliseconds timeout(fault == "abort" ? 60000 : 600);
    auto group = make(name, rank, kSize, milliseconds(60000));
    group->barrier();
    group->native()->getBackend(c10::kCPU)->setTimeout(timeout);
    if (rank == kVictim) fail(fault);
    constexpr milliseconds kUntilAbort(150);
    // Whose abort comes second may be freed by the first one, which is due then.
    Clock::time_point aborted = Clock::now() + (fault == "abort" ? kUntilAbort : milliseconds(0));
    std::thread aborter;
    if (fault == "abort" && rank != kVictim) {
      aborter = std::thread([&] {
        std::this_thread::sleep_for(kUntilAbort);
        aborted = Clock::now();
        group->abort();
      });
    }
    // A monitored barrier has its own timeout, and knows nothing of the others' abort.
    const bool is_free = name != "monitored" || (fault == "abort" && rank != kVictim);
    say_error(
        [&] {
          for (;;) call(*group, is_free ? name : "all_reduce");  // ranks that only send may get through some
        },
        &aborted);
    if (aborter.joinable()) aborter.join();
    group->abort();
    group.reset();
    if (rank == kVictim) continue;
    const auto pair = make(name + " without", rank, kSize - 1, milliseconds(60000));
    at::Tensor tensor = torch::full({4}, rank + 1.0);
    pair->all_reduce(tensor);
    say("went on with " + std::to_string(static_cast<int>(tensor[3].item<double>())));
  }
  leave(rank, fault == "kill" ? 1 : 2);
  return 0;
}

// The victim dies or stops some time while the group is being made.
int construct(const std::string& fault, int delay) {
  const int rank = std::atoi(std::getenv("RANK"));
  common_store();
  std::thread ender;
  if (rank == kVictim) {
    ender = std::thread([&] {
      std::this_thread::sleep_for(milliseconds(delay));
      raise(fault == "kill" ? SIGKILL : SIGSTOP);
    });
  }
  say_error([&] {
    const auto group = make("made", rank, kSize, milliseconds(2000));
    for (;;) group->barrier();
  });
  if (ender.joinable()) ender.join();
  if (rank == kVictim) return 0;
  say_error([&] {
    const auto pair = make("without", rank, kSize - 1, milliseconds(60000));
    pair->barrier();
  });
  leave(rank, 1);
  return 0;
}

int run_child(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 2, argv + argc);
  if (arguments[0] == "construct") return construct(arguments[1], std::atoi(arguments[2].c_str()));
  return rounds(arguments[0], {arguments.begin() + 1, arguments.end()});
}

// --- tests

const auto kLost = [] {
  return AnyOf(IsError(ErrorCode::kPeerLost, HasSubstr("on group")), IsError(ErrorCode::kTimeout, HasSubstr("on group")));
};

// What ranks exchange through, and on which hosts they are: all on one where the layout is empty.
struct Place {
  const char* name;
  const char* backend;
  const char* layout;
};
void PrintTo(const Place& place, std::ostream* out) {
  *out << place.name;
}

class Ranks {
 public:
  Ranks(const Place& place, const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"--role"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    Environment common = {{"TEST_BACKEND", place.backend}};
    std::vector<int> hosts = hosts_of(place.layout);
    if (!hosts.empty()) {
      network_.emplace(2);
      common["MASTER_ADDR"] = Network::address(hosts[0]);
      common["GLOO_SOCKET_IFNAME"] = "eth0";  // a store that is given does not say where
    }
    const Job job(common);
    for (int rank = 0; rank < kSize; ++rank) {
      ranks_.push_back(job.start(all, rank, kSize, hosts.empty() ? Environment() : network_->on(hosts[rank])));
    }
  }
  Child& operator[](int rank) { return *ranks_[rank]; }

 private:
  std::optional<Network> network_;
  std::vector<std::unique_ptr<Child>> ranks_;
};

std::vector<std::string> with(const std::string& first, std::vector<std::string> rest) {
  rest.insert(rest.begin(), first);
  return rest;
}

void expect_survival(Ranks& ranks, const std::string& collective) {
  SCOPED_TRACE(collective);
  for (int rank = 0; rank < kSize - 1; ++rank) {
    const std::string said = ranks[rank].line();
    EXPECT_THAT(said, kLost());
    EXPECT_LE(parse_error(said).milliseconds, 10000);  // 0.6 s on a machine that does nothing else
  }
}

void expect_going_on(Ranks& ranks, const std::string& collective) {
  SCOPED_TRACE(collective);
  for (int rank = 0; rank < kSize - 1; ++rank) EXPECT_EQ(ranks[rank].line(), "went on with 3");
}

class Faults : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    const bool needs_hosts = *GetParam().layout != 0;
    if (needs_hosts && !Network::why_not().empty()) {
      GTEST_SKIP() << "NOT TESTED: no hosts on this machine: " << Network::why_not();
    }
  }
};
class FaultsLong : public Faults {};

void kill_in(const Place& place, const std::string& collective) {
  Ranks ranks(place, {"kill", collective});
  expect_survival(ranks, collective);
  expect_going_on(ranks, collective);
  EXPECT_EQ(ranks[0].wait(), 0);
  EXPECT_EQ(ranks[1].wait(), 0);
  EXPECT_EQ(ranks[kVictim].wait(), -SIGKILL);
}

TEST_P(Faults, APeerIsKilled) {
  for (const char* collective : {"all_reduce", "all_to_all", "long_recv"}) kill_in(GetParam(), collective);
}

TEST_P(FaultsLong, APeerIsKilledInEachCollective) {
  for (const std::string& collective : kCollectives) kill_in(GetParam(), collective);
}

void stop_in(const Place& place, const std::vector<std::string>& collectives) {
  Ranks ranks(place, with("stop", collectives));
  for (const std::string& collective : collectives) {
    expect_survival(ranks, collective);
    expect_going_on(ranks, collective);
    ranks[kVictim].signal(SIGCONT);
    EXPECT_THAT(ranks[kVictim].line(), StartsWith("error"));
  }
  for (int rank = 0; rank < kSize; ++rank) EXPECT_EQ(ranks[rank].wait(), 0);
}

TEST_P(Faults, APeerIsStopped) {
  stop_in(GetParam(), {"reduce_scatter", "recv", "bytes"});
}

TEST_P(FaultsLong, APeerIsStoppedInEachCollective) {
  stop_in(GetParam(), kCollectives);
}

TEST_P(FaultsLong, APeerIsSlowInEachCollective) {
  Ranks ranks(GetParam(), with("slow", kCollectives));
  for (const std::string& collective : kCollectives) {
    expect_survival(ranks, collective);
    expect_going_on(ranks, collective);
    EXPECT_THAT(ranks[kVictim].line(), kLost());  // comes late, to a group that has ended
  }
  for (int rank = 0; rank < kSize; ++rank) EXPECT_EQ(ranks[rank].wait(), 0);
}

void abort_in(const Place& place, const std::vector<std::string>& collectives) {
  Ranks ranks(place, with("abort", collectives));
  int most = 0;
  for (const std::string& collective : collectives) {
    SCOPED_TRACE(collective);
    for (int rank = 0; rank < kSize - 1; ++rank) {
      const std::string said = ranks[rank].line();
      // Whose abort comes second may lose the other first.
      EXPECT_THAT(said, AnyOf(IsError(ErrorCode::kAborted, HasSubstr("abort")), kLost()));
      most = std::max(most, parse_error(said).milliseconds);
    }
    expect_going_on(ranks, collective);
    ranks[kVictim].signal(SIGCONT);
    EXPECT_THAT(ranks[kVictim].line(), StartsWith("error"));
  }
  std::cout << "at most " << most << " ms from abort to error" << std::endl;
  EXPECT_LE(most, 10000);  // 100 on a machine that does nothing else
  for (int rank = 0; rank < kSize; ++rank) EXPECT_EQ(ranks[rank].wait(), 0);
}

TEST_P(Faults, AnAbortFreesAtOnceWhileAPeerIsStopped) {
  abort_in(GetParam(), {"all_reduce", "scatter", "batch", "monitored"});
}

TEST_P(FaultsLong, AnAbortFreesAtOnceInEachCollective) {
  abort_in(GetParam(), kCollectives);
}

void fail_in_construction(const Place& place, const std::string& fault, int delay) {
  SCOPED_TRACE(fault + " after " + std::to_string(delay) + " ms");
  Ranks ranks(place, {"construct", fault, std::to_string(delay)});
  for (int rank = 0; rank < kSize - 1; ++rank) {
    EXPECT_THAT(ranks[rank].line(), AnyOf(IsError(ErrorCode::kTimeout, ::testing::_),
                                          IsError(ErrorCode::kPeerLost, ::testing::_)));
  }
  for (int rank = 0; rank < kSize - 1; ++rank) {
    EXPECT_EQ(ranks[rank].line(), "no error");
    EXPECT_EQ(ranks[rank].wait(), 0);
  }
  ranks[kVictim].signal(SIGKILL);
}

TEST_P(Faults, APeerEndsWhileTheGroupIsMade) {
  fail_in_construction(GetParam(), "kill", 10);
  fail_in_construction(GetParam(), "stop", 20);
}

TEST_P(FaultsLong, APeerEndsAnyTimeWhileTheGroupIsMade) {
  for (const int delay : {0, 2, 5, 8, 12, 16, 25, 40}) {
    fail_in_construction(GetParam(), "kill", delay);
    fail_in_construction(GetParam(), "stop", delay);
  }
}

// The victim is alone on its host, or has a neighbour.
constexpr Place kPlaces[] = {
    {"gloo", "gloo", ""}, {"shm", "shm", ""}, {"alone", "shm", "001"}, {"neighbour", "shm", "011"}};
const auto kName = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Places, Faults, ::testing::ValuesIn(kPlaces), kName);
INSTANTIATE_TEST_SUITE_P(Places, FaultsLong, ::testing::ValuesIn(kPlaces), kName);

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--role") {
    tandem::testing::Network::join();
    return std::string(argv[2]) == "host" ? tandem::testing::Network::be_host()
                                          : tandem::testing::run_child(argc, argv);
  }
  tandem::testing::Network::enter();
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
