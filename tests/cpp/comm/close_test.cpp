// A rank that closes its group while its program still holds what uses it, and messages that nobody waits for: what the
// other ranks learn, and when.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <torch/torch.h>

#include <atomic>
#include <future>
#include <thread>

#include "comm/sockets.h"
#include "cpp/comm/network.h"
#include "tandem/ddp.h"
#include "tandem/store.h"

namespace tandem::testing {
namespace {

using ::testing::HasSubstr;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kSize = 3;
constexpr int kCloser = 2;

// --- what a rank does

const Store& common_store() {
  static const Store store = [] {
    TCPStoreOptions options;
    options.is_server = std::string(std::getenv("RANK")) == "0";
    options.timeout = seconds(120);
    return tcp_store(std::getenv("MASTER_ADDR"), static_cast<std::uint16_t>(std::atoi(std::getenv("MASTER_PORT"))),
                     options);
  }();
  return store;
}

void await_count(const std::string& key, int count) {
  const auto deadline = Clock::now() + seconds(120);
  while (common_store()->add(key, 0) < count && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(5));
}

void call(ProcessGroup& group, const std::string& name) {
  at::Tensor tensor = torch::ones({1000});
  std::vector<at::Tensor> list(kSize, tensor);
  if (name == "broadcast") return group.broadcast(tensor, kCloser);
  if (name == "gather") return group.gather(group.rank() == 0 ? list : std::vector<at::Tensor>(), tensor, 0);
  if (name == "recv") return static_cast<void>(group.recv(tensor, kCloser));
  if (name == "send") return group.send(torch::ones({1000000}), kCloser);
  if (name == "barrier") return group.barrier();
  if (name == "monitored") return group.monitored_barrier();
  group.all_reduce(tensor);
}

// Takes messages from whoever sends, which the last rank does not, and then dies.
int receive_from_any(ProcessGroup& group) {
  at::Tensor tensor = torch::zeros({4});
  if (group.rank() == kCloser) {
    await_count("waiting", 2);
    raise(SIGKILL);
  }
  const int other = 1 - group.rank();
  Work message = group.irecv(tensor);
  group.send(torch::ones({4}), other);
  message.wait();
  common_store()->add("waiting", 1);
  const auto since = Clock::now();
  say_error([&] { group.recv(tensor); }, &since);
  say_error([&] { group.recv(tensor, other, 1); });
  common_store()->add("left", 1);
  if (group.rank() == 0) await_count("left", 2);
  return 0;
}

// The last rank dies in the middle of what rank 0 sends to all.
int broadcast_to_the_dying(ProcessGroup& group) {
  group.barrier();  // all have made the group
  std::thread end;
  if (group.rank() == kCloser) {
    end = std::thread([] {
      std::this_thread::sleep_for(milliseconds(30));
      raise(SIGKILL);
    });
  }
  at::Tensor tensor = torch::ones({64 << 20});
  const auto since = Clock::now();
  say_error(
      [&] {
        for (;;) group.broadcast(tensor, 0);
      },
      &since);
  if (end.joinable()) end.join();
  common_store()->add("left", 1);
  if (group.rank() == 0) await_count("left", 2);
  return 0;
}

// The last rank closes the group while a DDP wrapper and a work hold it. The others call `name`, before that or after.
int hold_and_close(const std::string& name, bool before) {
  const int rank = std::atoi(std::getenv("RANK"));
  ProcessGroupOptions options;
  options.rank = rank;
  options.world_size = kSize;
  options.timeout = std::chrono::minutes(10);
  options.backend = std::getenv("TEST_BACKEND");
  auto group = ProcessGroup::create(options, common_store());
  if (name == "any") return receive_from_any(*group);
  if (name == "broadcast to all") return broadcast_to_the_dying(*group);
  const at::Tensor weight = torch::ones({1000}, torch::requires_grad());
  DataParallelReducer wrapper(group, {weight}, {}, {});
  Work work = group->all_reduce_async(torch::ones({1000}));
  work.wait();
  if (rank == kCloser) {
    if (before) await_count("waiting", kSize - 1);
    if (before) std::this_thread::sleep_for(milliseconds(300));  // until they wait
    group->close();
    common_store()->add("closed", 1);
    await_count("done", kSize - 1);
    common_store()->add("left", 1);
    return 0;
  }
  if (!before) await_count("closed", 1);
  common_store()->add("waiting", 1);
  const auto since = Clock::now();
  say_error(
      [&] {
        for (;;) call(*group, name);  // a root may get through some
      },
      &since);
  common_store()->add("done", 1);
  // Rank 0 serves the store, and stays as long as the others.
  if (rank == 0) await_count("left", kSize - 1);
  if (rank != 0) common_store()->add("left", 1);
  return 0;
}

int run_child(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 2, argv + argc);
  return hold_and_close(arguments[1], arguments[0] == "before");
}

// --- tests

struct Place {
  const char* name;
  const char* backend;
  const char* layout;
};
void PrintTo(const Place& place, std::ostream* out) {
  *out << place.name;
}

class Closing : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (*GetParam().layout != 0 && !Network::why_not().empty()) {
      GTEST_SKIP() << "NOT TESTED: no hosts on this machine: " << Network::why_not();
    }
  }

  void expect_told(const std::string& when, const std::string& collective, const std::string& debug = "") {
    std::vector<std::unique_ptr<Child>> ranks = start(when, collective, debug);
    SCOPED_TRACE(collective + " " + when + " " + debug);
    for (int rank = 0; rank < kSize - 1; ++rank) {
      const std::string said = ranks[rank]->line();
      EXPECT_THAT(said, IsError(ErrorCode::kPeerLost, HasSubstr("closed")));
      EXPECT_LE(parse_error(said).milliseconds, 10000);  // 400 on a machine that does nothing else
    }
    for (const auto& rank : ranks) EXPECT_EQ(rank->wait(), 0);
  }

  std::vector<std::unique_ptr<Child>> start(const std::string& when, const std::string& collective,
                                            const std::string& debug) {
    const std::vector<int> hosts = hosts_of(GetParam().layout);
    Environment common = {{"TEST_BACKEND", GetParam().backend}, {"TORCH_DISTRIBUTED_DEBUG", debug}};
    if (!hosts.empty()) {
      network_.emplace(2);
      common["MASTER_ADDR"] = Network::address(hosts[0]);
      common["GLOO_SOCKET_IFNAME"] = "eth0";
    }
    const Job job(common);
    std::vector<std::unique_ptr<Child>> ranks;
    for (int rank = 0; rank < kSize; ++rank) {
      ranks.push_back(
          job.start({"--role", when, collective}, rank, kSize, network_ ? network_->on(hosts[rank]) : Environment()));
    }
    return ranks;
  }

 private:
  std::optional<Network> network_;
};

TEST_P(Closing, OfAHeldGroupIsToldAtOnceToWhoWaits) {
  for (const char* collective : {"all_reduce", "recv"}) expect_told("before", collective);
}

TEST_P(Closing, OfAHeldGroupIsToldAtOnceToWhoComesLater) {
  for (const char* collective : {"barrier", "broadcast", "gather", "send"}) expect_told("after", collective);
}

// The group's timeout is ten minutes.
TEST_P(Closing, OfAHeldGroupIsToldAtOnceToWhoWaitsAtTheStore) {
  expect_told("before", "monitored");
  expect_told("after", "monitored");
  expect_told("before", "all_reduce", "DETAIL");
  expect_told("after", "broadcast", "DETAIL");
}

TEST_P(Closing, OfAGroupByDyingIsToldAtOnceToWhoReceivesFromAnyRank) {
  const auto ranks = start("before", "any", "");
  for (int rank = 0; rank < kSize - 1; ++rank) {
    const std::string said = ranks[rank]->line();
    // Whoever is told second may be told by the first one.
    EXPECT_THAT(said, IsError(ErrorCode::kPeerLost, HasSubstr("rank")));
    EXPECT_LE(parse_error(said).milliseconds, 10000);
    EXPECT_THAT(ranks[rank]->line(), IsError(ErrorCode::kPeerLost, HasSubstr("can no longer be used")));
    EXPECT_EQ(ranks[rank]->wait(), 0);
  }
  EXPECT_EQ(ranks[kCloser]->wait(), -SIGKILL);
}

// Gloo tells of that not every send: the group's timeout is ten minutes, which neither the call nor the end of the
// program waits for.
TEST_P(Closing, OfAGroupByDyingIsToldAtOnceToWhoSends) {
  const auto ranks = start("before", "broadcast to all", "");
  for (int rank = 0; rank < kSize - 1; ++rank) {
    const std::string said = ranks[rank]->line();
    EXPECT_THAT(said, IsError(ErrorCode::kPeerLost, HasSubstr("broadcast")));
    EXPECT_LE(parse_error(said).milliseconds, 20000);
    EXPECT_EQ(ranks[rank]->wait(), 0);
  }
  EXPECT_EQ(ranks[kCloser]->wait(), -SIGKILL);
}

constexpr Place kPlaces[] = {
    {"gloo", "gloo", ""}, {"shm", "shm", ""}, {"alone", "shm", "001"}, {"neighbour", "shm", "011"}};
INSTANTIATE_TEST_SUITE_P(Places, Closing, ::testing::ValuesIn(kPlaces),
                         [](const auto& info) { return std::string(info.param.name); });

// Ranks as threads, where what happens inside can be looked at.

TEST(DroppedMessages, LetGoOfTheirTensors) {
  run_groups(2, [](ProcessGroup& group) {
    at::Tensor tensor = torch::full({1000}, static_cast<double>(group.rank()));
    if (group.rank() == 0) {
      group.isend(tensor, 1);
      group.recv(torch::empty({1}), 1, 1);
      const auto deadline = Clock::now() + seconds(20);
      const auto holders = [&] { return tensor.storage().use_count(); };
      while (holders() > 1 && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(1));
      EXPECT_EQ(holders(), 1);
    } else {
      group.recv(tensor, 0);
      group.send(torch::ones({1}), 0, 1);
    }
    group.barrier();
  });
}

// Two ranks exchange messages; the third one sends what nobody has waited for yet, and closes.
TEST(DroppedMessages, ThatArrivedAreNoFailureWhenTheirSenderCloses) {
  std::promise<void> closed;
  const auto told = closed.get_future().share();
  run_groups(3, [&](ProcessGroup& group) {
    at::Tensor tensor = torch::full({1000}, static_cast<double>(group.rank()));
    if (group.rank() == 2) {
      Work held = group.isend(tensor, 0);
      group.isend(tensor, 1);
      Work wanted = group.irecv(torch::empty({1000}), 0, 5);
      group.barrier();
      group.close();
      closed.set_value();
      EXPECT_FALSE(held.error().has_value());
      EXPECT_FALSE(wanted.error().has_value());
      return;
    }
    group.recv(tensor, 2);
    if (group.rank() == 0) group.send(tensor, 2, 5);
    group.barrier();
    ASSERT_EQ(told.wait_for(seconds(60)), std::future_status::ready);
    // Between these two nothing has ended.
    if (group.rank() == 0) group.send(torch::full({4}, 7.0), 1, 6);
    if (group.rank() == 1) {
      at::Tensor received = torch::zeros({4});
      group.recv(received, 0, 6);
      EXPECT_EQ(received[3].item<int>(), 7);
    }
  });
}

// Now and then Gloo would have one of them wait for its send until the timeout, 20 s.
TEST(DroppedWorks, OfGroupsThatEndAtOnceHoldNobodyUp) {
  for (int i = 0; i < 150; ++i) {
    const auto begun = Clock::now();
    run_groups(2, [](ProcessGroup& group) {
      group.barrier();  // both have connected
      group.all_reduce_async(torch::ones({12}));
    });
    ASSERT_LE(Clock::now() - begun, seconds(10)) << i;
  }
}

// More of them than the group has looked at when it is closed.
TEST(DroppedMessages, ThatHaveArrivedAreNotAbortedByTheirReceiversClose) {
  constexpr int kCount = 300;
  for (int round = 0; round < 10; ++round) {
    std::promise<void> closed;
    const auto told = closed.get_future().share();
    run_groups(3, [&](ProcessGroup& group) {
      if (group.rank() == 2) {
        std::vector<at::Tensor> tensors;
        for (int i = 0; i < kCount; ++i) tensors.push_back(torch::zeros({1000}));
        for (const at::Tensor& tensor : tensors) group.irecv(tensor, 0);
        group.barrier();
        group.close();
        closed.set_value();
        for (const at::Tensor& tensor : tensors) ASSERT_EQ(tensor[999].item<int>(), 1);
        return;
      }
      for (int i = 0; i < kCount && group.rank() == 0; ++i) group.isend(torch::ones({1000}), 2);
      group.barrier();
      ASSERT_EQ(told.wait_for(seconds(60)), std::future_status::ready);
      // Nothing was aborted there, so between these two nothing has ended.
      at::Tensor received = torch::zeros({4});
      if (group.rank() == 0) group.send(torch::full({4}, 7.0), 1, 6);
      if (group.rank() == 1) group.recv(received, 0, 6);
      EXPECT_EQ(received[3].item<int>(), group.rank() == 1 ? 7 : 0);
    });
  }
}

TEST(DroppedMessages, ThatDidNotArriveAreAborted) {
  std::promise<void> closed;
  const auto told = closed.get_future().share();
  run_groups(2, [&](ProcessGroup& group) {
    at::Tensor tensor = torch::ones({1000});
    if (group.rank() == 1) {
      Work held = group.isend(tensor, 0);
      group.close();
      closed.set_value();
      ASSERT_TRUE(held.error().has_value());
      EXPECT_EQ(held.error()->code(), ErrorCode::kAborted);
      return;
    }
    ASSERT_EQ(told.wait_for(seconds(60)), std::future_status::ready);
    EXPECT_EQ(error_of([&] { group.recv(tensor, 1); }).code(), ErrorCode::kPeerLost);
  });
}

class ReceivesFromAnyRank : public ::testing::TestWithParam<const char*> {
 protected:
  static void run(const std::function<void(ProcessGroup&)>& body) { run_groups(3, body, GetParam()); }
};

TEST_P(ReceivesFromAnyRank, GoOnUntilAllOthersHaveClosedTheGroup) {
  std::promise<void> closed, received;
  const auto first_closed = closed.get_future().share(), first_received = received.get_future().share();
  run([&](ProcessGroup& group) {
    if (group.rank() == 1) {
      group.send(torch::full({4}, 1.0), 0, 2);
      group.close();
      closed.set_value();
      return;
    }
    if (group.rank() == 2) {
      first_closed.wait();
      std::this_thread::sleep_for(milliseconds(200));  // so that rank 0 knows
      group.send(torch::full({100000}, 2.0), 0, 1);
      first_received.wait();
      group.close();
      return;
    }
    at::Tensor tensor = torch::zeros({100000}), small = torch::zeros({4});
    Work early = group.irecv(small, ProcessGroup::kAnyRank, 2);
    Work last = group.irecv(torch::zeros({4}), ProcessGroup::kAnyRank, 7);
    EXPECT_EQ(group.recv(tensor, ProcessGroup::kAnyRank, 1), 2);
    EXPECT_EQ(tensor[99999].item<int>(), 2);
    early.wait();
    EXPECT_EQ(early.source_rank(), 1);
    EXPECT_EQ(small[3].item<int>(), 1);
    received.set_value();
    const auto begun = Clock::now();
    const Error error = error_of([&] { last.wait(); });
    EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
    EXPECT_THAT(error.what(), HasSubstr("all other ranks closed the group"));
    EXPECT_LT(Clock::now() - begun, seconds(10));  // the timeout is 20
  });
}

TEST_P(ReceivesFromAnyRank, HaveWhatWasSentBeforeTheClose) {
  for (int round = 0; round < 20; ++round) {
    for (const std::int64_t size : {4, 50000}) {
      run_groups(
          2,
          [&](ProcessGroup& group) {
            at::Tensor tensor = torch::full({size}, static_cast<double>(group.rank()));
            if (group.rank() == 1) return group.send(tensor, 0);  // and leaves
            Work message = group.irecv(tensor);
            if (round % 2 == 0) std::this_thread::sleep_for(milliseconds(round));
            message.wait();
            EXPECT_EQ(tensor[size - 1].item<int>(), 1);
          },
          GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ReceivesFromAnyRank, ::testing::Values("gloo", "shm"),
                         [](const auto& info) { return std::string(info.param); });

// A server of the program's own, with a client.
class Served {
 public:
  Served() {
    const net::Listener listener = net::listen_on("127.0.0.1", 0);
    listener_ = listener.fd;
    client_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(listener.endpoint.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    if (connect(client_, to, sizeof address) != 0) throw std::runtime_error("connect");
    server_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  }
  ~Served() {
    for (const int fd : {listener_, client_, server_}) ::close(fd);
  }
  Served(const Served&) = delete;

  bool is_connected() const {
    char byte = 0;
    return send(client_, "x", 1, MSG_NOSIGNAL) == 1 && recv(server_, &byte, 1, 0) == 1 &&
           send(server_, "y", 1, MSG_NOSIGNAL) == 1 && recv(client_, &byte, 1, 0) == 1;
  }

 private:
  int listener_ = -1, client_ = -1, server_ = -1;
};

// Those that leave first do so while others still connect.
TEST(ClosingAtOnce, LetsTheOthersConnect) {
  const Store store = hash_store();
  for (int round = 0; round < 30; ++round) {
    run_ranks(3, [&](int rank) { ProcessGroup::create(options_for(rank, 3), store)->close(); });
  }
}

TEST(Listeners, ThatStartWhileAGroupIsMadeAreNotTakenForGloos) {
  const Store store = hash_store();
  for (int round = 0; round < 10; ++round) {
    std::atomic<bool> made{false};
    std::vector<std::unique_ptr<Served>> servers;
    std::thread starter([&] {
      for (int i = 0; i < 60 && !made; ++i) servers.push_back(std::make_unique<Served>());
    });
    run_ranks(2, [&](int rank) {
      const auto group = ProcessGroup::create(options_for(rank, 2), store);
      group->barrier();
      made = true;
      group->barrier();
      group->abort();
    });
    starter.join();
    for (const auto& server : servers) ASSERT_TRUE(server->is_connected()) << round;
  }
}

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
