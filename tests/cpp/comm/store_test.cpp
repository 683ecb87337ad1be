// Stores, and how ranks meet through them, where threads suffice.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "comm/environment.h"
#include "comm/sockets.h"
#include "cpp/comm/threads.h"
#include "tandem/store.h"

namespace tandem::testing::store_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TCPStoreOptions server() {
  TCPStoreOptions options;
  options.is_server = true;
  options.timeout = std::chrono::seconds(20);
  return options;
}

// Sets environment variables for as long as it lives; nullptr: unset.
class Variables {
 public:
  Variables(std::initializer_list<std::pair<const char*, const char*>> values) {
    for (const auto& [name, value] : values) {
      const char* before = std::getenv(name);
      before_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
      value ? setenv(name, value, 1) : unsetenv(name);
    }
  }
  ~Variables() {
    for (const auto& [name, value] : before_) value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tandem-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

void check_basics(const Store& store) {
  store->set("key", std::string("value"));
  EXPECT_EQ(store->get_to_str("key"), "value");
  EXPECT_EQ(store->add("counter", 2), 2);
  EXPECT_EQ(store->add("counter", 3), 5);
  EXPECT_TRUE(store->check({"key", "counter"}));
  EXPECT_FALSE(store->check({"other"}));
  EXPECT_EQ(store->compareSet("key", std::string("value"), std::string("new")), "new");
  EXPECT_EQ(store->compareSet("key", std::string("value"), std::string("newer")), "new");
  const Error error = error_of([&] {
    try {
      store->wait({"other"}, std::chrono::milliseconds(50));
    } catch (...) {
      rethrow_store_error("wait for keys 'other'");
    }
  });
  EXPECT_EQ(error.code(), ErrorCode::kTimeout);
  EXPECT_THAT(error.what(), HasSubstr("'other'"));
}

TEST(Stores, Hash) {
  check_basics(hash_store());
}

TEST(Stores, File) {
  TemporaryFolder folder;
  check_basics(file_store(folder.file("store")));
  const Error error = error_of([&] { file_store(folder.file("no/such/folder")); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("no/such/folder"));
}

// Python's ranks have LibTorch's.
TEST(Stores, FilesAreSharedWithLibTorchs) {
  TemporaryFolder folder;
  const std::string path = folder.file("store");
  {
    const Store ours = file_store(path, 2);
    const Store theirs = c10::make_intrusive<c10d::FileStore>(path, 2);
    ours->set("key", std::string("of ours"));
    EXPECT_EQ(theirs->get_to_str("key"), "of ours");
    theirs->set("key", std::string("of theirs"));
    EXPECT_EQ(ours->get_to_str("key"), "of theirs");
    for (int i = 1; i < 6; ++i) EXPECT_EQ((i % 2 ? ours : theirs)->add("counter", 2), 2 * i);
    EXPECT_EQ(ours->compareSet("key", std::string("of theirs"), std::string("new")), "new");
    EXPECT_EQ(theirs->compareSet("key", std::string("old"), std::string("newer")), "new");
    EXPECT_EQ(ours->getNumKeys(), theirs->getNumKeys());
    EXPECT_TRUE(theirs->deleteKey("key"));
    EXPECT_FALSE(ours->check({"key"}));
    theirs->set("key", std::string(""));
    EXPECT_TRUE(ours->deleteKey("key"));
    EXPECT_FALSE(ours->deleteKey("key"));
    EXPECT_FALSE(theirs->check({"key"}));
    EXPECT_EQ(ours->listKeys(), std::vector<std::string>{"counter"});
    EXPECT_EQ(ours->clone()->add("counter", 0), 10);
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "the last of two users takes the file with it";
}

TEST(Stores, TcpServerAndClient) {
  const Store host = tcp_store("127.0.0.1", 0, server());
  check_basics(host);
  const Store client = tcp_store("localhost", store_port(host));
  client->set("from client", std::string("x"));
  EXPECT_EQ(host->get_to_str("from client"), "x");
}

TEST(Stores, PrefixesSeparateKeys) {
  const Store base = hash_store();
  prefix_store("a", base)->set("key", std::string("of a"));
  EXPECT_EQ(base->get_to_str("a/key"), "of a");
  EXPECT_FALSE(prefix_store("b", base)->check({"key"}));
  const Store host = tcp_store("127.0.0.1", 0, server());
  EXPECT_EQ(store_port(prefix_store("c", prefix_store("d", host))), store_port(host));
  EXPECT_EQ(store_port(base), 0);
}

TEST(TcpStore, ListensOnTheGivenAddressOnly) {
  const Store host = tcp_store("127.0.0.1", 0, server());
  const net::Endpoint expected{"127.0.0.1", store_port(host)};
  std::vector<net::Endpoint> listening;
  for (const auto& socket : net::listening_sockets()) listening.push_back(socket.endpoint);
  EXPECT_NE(std::find(listening.begin(), listening.end(), expected), listening.end());
  for (const auto& endpoint : listening) EXPECT_NE(endpoint.address, "0.0.0.0");
}

TEST(TcpStore, PortInUseIsNamed) {
  const Store host = tcp_store("127.0.0.1", 0, server());
  const Error error = error_of([&] { tcp_store("127.0.0.1", store_port(host), server()); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("port in use"), HasSubstr(std::to_string(store_port(host)))));
}

TEST(TcpStore, AddressOfAnotherMachineIsRefused) {
  const Error error = error_of([] { tcp_store("192.0.2.1", 0, server()); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("no address of this machine"));
}

TEST(TcpStore, UnknownHostIsNamed) {
  const Error error = error_of([] { tcp_store("no-such-host.invalid", 1234); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("no-such-host.invalid"));
}

TEST(TcpStore, ClientWithoutServerTimesOut) {
  const net::Listener taken = net::listen_on("127.0.0.1", 0);
  close(taken.fd);
  TCPStoreOptions options;
  options.timeout = std::chrono::milliseconds(200);
  const Error error = error_of([&] { tcp_store("127.0.0.1", taken.endpoint.port, options); });
  EXPECT_EQ(error.code(), ErrorCode::kTimeout);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0"), HasSubstr(net::to_string(taken.endpoint))));
}

TEST(TcpStore, ClientThatComesFirstConnectsSoonAfterTheServerStarts) {
  const net::Listener place = net::listen_on("127.0.0.1", 0);
  close(place.fd);
  std::chrono::steady_clock::time_point listening;
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const Store host = tcp_store("127.0.0.1", place.endpoint.port, server());
    listening = std::chrono::steady_clock::now();
    host->wait({"client"}, std::chrono::seconds(20));
  });
  const Store client = tcp_store("127.0.0.1", place.endpoint.port);
  const auto connected = std::chrono::steady_clock::now();
  client->set("client", std::string("here"));
  late.join();
  EXPECT_LT(connected - listening, std::chrono::milliseconds(800));  // LibTorch's client backs off for a second
}

TEST(TcpStore, TakesOverAListeningSocket) {
  const net::Listener listener = net::listen_on("127.0.0.1", 0);
  TCPStoreOptions options = server();
  options.listen_fd = listener.fd;
  const Store host = tcp_store("127.0.0.1", 0, options);
  EXPECT_EQ(store_port(host), listener.endpoint.port);
  check_basics(host);
  options.listen_fd = 0;
  EXPECT_EQ(error_of([&] { tcp_store("127.0.0.1", 0, options); }).code(), ErrorCode::kInvalidArgument);
}

TEST(LaunchEnvironment, NamesAllThatIsMissing) {
  Variables none({{"RANK", nullptr}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", nullptr}, {"MASTER_PORT", "1"}});
  const Error error = error_of([] { ProcessGroup::create({}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("RANK, MASTER_ADDR"), HasSubstr("tandem run"), Not(HasSubstr("WORLD_SIZE"))));
}

TEST(LaunchEnvironment, RefusesWhatIsNoNumber) {
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{
           {"RANK", "one"}, {"RANK", "-1"}, {"WORLD_SIZE", "0"}, {"MASTER_PORT", "70000"}, {"RANK", "1x"}}) {
    Variables good({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}});
    Variables bad({{name, value}});
    const Error error = error_of([] { read_launch_environment(-1, -1); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(name), HasSubstr(value)));
  }
}

TEST(LaunchEnvironment, RefusesARankOutsideTheWorld) {
  const Error error = error_of([] { ProcessGroup::create(options_for(2, 2), hash_store()); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("rank 2 is outside a world of 2"));
}

TEST(Rendezvous, RefusesUnknownInitMethods) {
  for (const char* method : {"mpi://", "tcp://nowhere", "tcp://:1", "tcp://host:0", "tcp://host:port"}) {
    ProcessGroupOptions options = options_for(0, 1);
    options.init_method = method;
    const Error error = error_of([&] { ProcessGroup::create(options); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << method;
    EXPECT_THAT(error.what(), HasSubstr(method));
  }
}

TEST(Rendezvous, NamesTheRanksThatAreMissing) {
  const Store store = hash_store();
  run_ranks(4, [&](int rank) {
    if (rank == 1 || rank == 3) return;
    ProcessGroupOptions options = options_for(rank, 4);
    options.timeout = std::chrono::milliseconds(400);
    const Error error = error_of([&] { ProcessGroup::create(options, store); });
    EXPECT_EQ(error.code(), ErrorCode::kTimeout);
    EXPECT_THAT(error.what(), HasSubstr("ranks 1, 3 are missing"));
  });
}

TEST(Rendezvous, NamesRankZeroWhenItIsMissing) {
  const Store store = hash_store();
  ProcessGroupOptions options = options_for(1, 2);
  options.timeout = std::chrono::milliseconds(200);
  const Error error = error_of([&] { ProcessGroup::create(options, store); });
  EXPECT_EQ(error.code(), ErrorCode::kTimeout);
  EXPECT_THAT(error.what(), HasSubstr("rank 0 is missing"));
}

TEST(Rendezvous, WorldSizesThatDifferAreAnErrorOnEveryRank) {
  const Store store = hash_store();
  run_ranks(3, [&](int rank) {
    const Error error = error_of([&] { ProcessGroup::create(options_for(rank, rank == 1 ? 4 : 3), store); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 1 was started with WORLD_SIZE=4"), HasSubstr("WORLD_SIZE=3")));
  });
}

TEST(Rendezvous, ASecondProcessOfTheSameRankIsRefused) {
  const Store store = hash_store();
  std::thread waiting([&] {
    ProcessGroupOptions options = options_for(0, 2);
    options.timeout = std::chrono::seconds(2);
    EXPECT_EQ(error_of([&] { ProcessGroup::create(options, store); }).code(), ErrorCode::kTimeout);
  });
  store->wait({"group/default/0/member/0"}, std::chrono::seconds(20));
  const Error error = error_of([&] { ProcessGroup::create(options_for(0, 2), store); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("rank 0 has already joined group 'default'"));
  waiting.join();
}

TEST(Rendezvous, UnknownInterfaceNamesThoseThatExist) {
  ProcessGroupOptions options = options_for(0, 1);
  options.interface_name = "nosuch0";
  const Error error = error_of([&] { ProcessGroup::create(options, hash_store()); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("'nosuch0'"), HasSubstr("lo")));
}

TEST(Rendezvous, UsesTheInterfaceOfTheEnvironment) {
  Variables loopback({{"GLOO_SOCKET_IFNAME", "lo"}});
  run_groups(2, [](ProcessGroup& group) {
    at::Tensor tensor = at::ones({2});
    group.all_reduce(tensor);
    EXPECT_EQ(tensor[0].item<float>(), 2.0f);
  });
}

// The second meets through the first one's server, however close they come.
TEST(Rendezvous, ThreadsThatInitAtOnceShareOneServer) {
  for (int round = 0; round < 10; ++round) {
    const net::Listener place = net::listen_on("127.0.0.1", 0);
    close(place.fd);
    const std::string port = std::to_string(place.endpoint.port);
    const Variables environment({{"RANK", "0"},
                                 {"WORLD_SIZE", "1"},
                                 {"MASTER_ADDR", "127.0.0.1"},
                                 {"MASTER_PORT", port.c_str()},
                                 {"TORCHELASTIC_USE_AGENT_STORE", nullptr}});
    std::atomic<int> waiting = 4;
    std::vector<std::shared_ptr<ProcessGroup>> groups(4);
    run_ranks(4, [&](int thread) {
      ProcessGroupOptions options;
      options.backend = "gloo";
      options.name = "group " + std::to_string(thread);
      options.timeout = std::chrono::seconds(60);
      for (--waiting; waiting > 0;) std::this_thread::yield();
      groups[thread] = ProcessGroup::create(options);
    });
  }
}

// Two threads take turns: each makes a group while the other one drops the last use of the server at the same port.
TEST(Rendezvous, AGroupIsMadeWhileTheLastOneAtItsPortCloses) {
  const net::Listener place = net::listen_on("127.0.0.1", 0);
  close(place.fd);
  const std::string port = std::to_string(place.endpoint.port);
  const Variables environment({{"RANK", "0"},
                               {"WORLD_SIZE", "1"},
                               {"MASTER_ADDR", "127.0.0.1"},
                               {"MASTER_PORT", port.c_str()},
                               {"TORCHELASTIC_USE_AGENT_STORE", nullptr}});
  ProcessGroupOptions options;
  options.backend = "gloo";
  options.timeout = std::chrono::seconds(60);
  auto group = ProcessGroup::create(options);
  for (int round = 0; round < 40; ++round) {
    std::atomic<bool> drops = false;
    std::thread closer([&, last = std::move(group)]() mutable {
      drops = true;
      last.reset();
    });
    while (!drops) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(50 * (round % 20)));
    options.name = "group " + std::to_string(round);
    std::exception_ptr failure;
    try {
      group = ProcessGroup::create(options);
    } catch (...) {
      failure = std::current_exception();
    }
    closer.join();
    if (failure) std::rethrow_exception(failure);
  }
}

// Nothing of the last group is left by then, not even a store that its server's last use has gone from.
TEST(Rendezvous, AGroupIsMadeAfterTheLastOneAtItsPort) {
  const net::Listener place = net::listen_on("127.0.0.1", 0);
  close(place.fd);
  const std::string port = std::to_string(place.endpoint.port);
  const Variables environment({{"RANK", "0"},
                               {"WORLD_SIZE", "1"},
                               {"MASTER_ADDR", "127.0.0.1"},
                               {"MASTER_PORT", port.c_str()},
                               {"TORCHELASTIC_USE_AGENT_STORE", nullptr}});
  ProcessGroupOptions options;
  options.backend = "gloo";
  for (int round = 0; round < 3; ++round) {
    ProcessGroup::create(options);
    // Another process may have the port then.
    const net::Listener taken = net::listen_on("127.0.0.1", place.endpoint.port);
    close(taken.fd);
  }
}

// Something of rank 1's last group may be held for long: a wrapper, a work. Rank 0 has made its own anew meanwhile.
TEST(Rendezvous, ARankThatHoldsItsLastGroupMeetsTheNewServer) {
  const net::Listener place = net::listen_on("127.0.0.1", 0);
  close(place.fd);
  const std::string method = "tcp://127.0.0.1:" + std::to_string(place.endpoint.port);
  const auto make = [&](int rank, const char* name) {
    ProcessGroupOptions options = options_for(rank, 2);
    options.init_method = method;
    options.name = name;
    return ProcessGroup::create(options);
  };
  std::shared_ptr<ProcessGroup> held;
  run_ranks(2, [&](int rank) {
    auto group = make(rank, "last");
    at::Tensor tensor = at::ones({2});
    group->all_reduce(tensor);
    group->close();
    if (rank == 1) held = std::move(group);
  });
  run_ranks(2, [&](int rank) {
    const auto group = make(rank, "next");
    at::Tensor tensor = at::ones({2});
    group->all_reduce(tensor);
    EXPECT_EQ(tensor[0].item<float>(), 2.0f);
  });
}

TEST(Rendezvous, FileMethodConnects) {
  TemporaryFolder folder;
  run_ranks(2, [&](int rank) {
    ProcessGroupOptions options = options_for(rank, 2);
    options.init_method = "file://" + folder.file("meet");
    const auto group = ProcessGroup::create(options);
    at::Tensor tensor = at::ones({2});
    group->all_reduce(tensor);
    EXPECT_EQ(tensor[0].item<float>(), 2.0f);
  });
}

}  // namespace
}  // namespace tandem::testing::store_test
