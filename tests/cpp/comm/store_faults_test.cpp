// A store whose server stands still or dies: every call ends, says what it waited for, and leaves nothing behind.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "comm/store/store_limit.h"
#include "cpp/comm/job.h"
#include "cpp/comm/leaks.h"
#include "tandem/runtime.h"
#include "tandem/store.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using std::chrono::milliseconds;

// What ends within seconds on a machine that does nothing else.
constexpr std::chrono::seconds kSoon{60};
constexpr milliseconds kShort{300};

Error error_on(const std::function<void()>& body) {
  return error_of([&] {
    try {
      body();
    } catch (...) {
      rethrow_store_error("a call");
    }
  });
}

class StoreFaults : public ::testing::Test {
 protected:
  ~StoreFaults() override { EXPECT_LT(Clock::now() - begun_, kSoon); }

  Store connect(milliseconds timeout = kShort) const {
    TCPStoreOptions options;
    options.timeout = timeout;
    return tcp_store("127.0.0.1", port_, options);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  const Job job_;
  const std::unique_ptr<Child> server_ = job_.start("serve", 0, 1);
  const std::uint16_t port_ = static_cast<std::uint16_t>(std::stoi(server_->line()));
  const Clock::time_point begun_ = Clock::now();
};

TEST_F(StoreFaults, EachCallOnAServerThatStandsStillEnds) {
  const std::vector<std::pair<std::string, std::function<void(c10d::Store&)>>> calls = {
      {"'key'", [](c10d::Store& store) { store.get("key"); }},
      {"'key'", [](c10d::Store& store) { store.add("key", 1); }},
      {"'key'", [](c10d::Store& store) { store.check({"key"}); }},
      {"'key'", [](c10d::Store& store) { store.compareSet("key", std::string("a"), std::string("b")); }},
      {"'key'", [](c10d::Store& store) { store.deleteKey("key"); }},
      {"'key'", [](c10d::Store& store) { store.wait({"key"}); }},
      {"'key'", [](c10d::Store& store) { store.wait({"key"}, kShort); }},
      {"'key'", [](c10d::Store& store) { store.multiGet({"key"}); }},
      {"'key'", [](c10d::Store& store) { store.queueLen("key"); }},
      {"count of keys", [](c10d::Store& store) { store.getNumKeys(); }},
      // More than the socket's buffers take.
      {"'key'", [](c10d::Store& store) { store.set("key", std::vector<std::uint8_t>(64 << 20)); }},
      {"connecting", [](c10d::Store& store) { store.clone(); }},
  };
  std::vector<Store> stores;
  for (std::size_t i = 0; i < calls.size(); ++i) stores.push_back(connect());
  stores[0]->set("key", std::string("value"));
  server_->stop();
  run_ranks(static_cast<int>(calls.size()), [&](int i) {
    const Error error = error_on([&] { calls[i].second(*stores[i]); });
    EXPECT_EQ(error.code(), ErrorCode::kTimeout) << i;
    EXPECT_THAT(error.what(), AllOf(HasSubstr(calls[i].first), HasSubstr(address()), HasSubstr("does not answer")))
        << i;
  });
  // Who goes on answers those who ask again.
  server_->signal(SIGCONT);
  std::int64_t count = 0;
  for (const Store& store : stores) EXPECT_EQ(store->add("counter", 1), ++count);
}

TEST_F(StoreFaults, AHundredTimeoutsLeaveNothingBehind) {
  const std::ptrdiff_t threads_before = threads(), descriptors_before = descriptors();
  std::atomic<int> timeouts = 0;
  {
    // A few, each used by many threads: LibTorch asks the name server about each connection that it makes.
    std::vector<Store> stores;
    for (int i = 0; i < 10; ++i) stores.push_back(connect());
    server_->stop();
    run_ranks(100, [&](int i) {
      timeouts += error_on([&] { stores[i % 10]->check({"key"}); }).code() == ErrorCode::kTimeout;
    });
    EXPECT_EQ(timeouts, 100);
    expect_at_most(threads, threads_before + 10);  // one a store
  }
  expect_at_most(threads, threads_before);
  expect_at_most(descriptors, descriptors_before);
}

TEST_F(StoreFaults, AnInterruptEndsAWaitAtOnce) {
  const Store store = connect(kSoon);
  const auto interrupt = std::make_shared<StoreInterrupt>();
  std::atomic<bool> waits = false;
  std::thread other([&] {
    while (!waits) std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(milliseconds(50));
    interrupt->interrupt();
  });
  {
    const StoreLimit limit(interrupt);
    waits = true;
    const Error error = error_on([&] { store->wait({"nobody sets it"}, std::chrono::minutes(10)); });
    EXPECT_EQ(error.code(), ErrorCode::kAborted);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'nobody sets it'"), HasSubstr(address())));
    EXPECT_EQ(error_on([&] { store->get("nor this"); }).code(), ErrorCode::kAborted);
    EXPECT_FALSE(store->check({"nobody sets it"}));  // what needs no waiting may be asked still
  }
  other.join();
  EXPECT_EQ(store->add("counter", 2), 2);  // the store is as good as before, but for the interrupt
}

TEST_F(StoreFaults, AnInterruptEndsACallThatGetsNoAnswer) {
  const Store store = connect(std::chrono::minutes(10));
  const auto interrupt = std::make_shared<StoreInterrupt>();
  server_->stop();
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(50));
    interrupt->interrupt();
  });
  const StoreLimit limit(interrupt);
  EXPECT_EQ(error_on([&] { store->add("counter", 1); }).code(), ErrorCode::kAborted);
  other.join();
}

TEST_F(StoreFaults, WhoWaitsForAnothersCallIsTold) {
  const Store store = connect(std::chrono::minutes(10));
  std::atomic<bool> waits = false;
  std::thread other([&] {
    waits = true;
    store->wait({"late"}, std::chrono::minutes(10));
  });
  while (!waits) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(500));
  {
    const StoreLimit limit(Clock::now());
    const Error error = error_on([&] { store->add("counter", 1); });
    EXPECT_EQ(error.code(), ErrorCode::kTimeout);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("add to 'counter'"), HasSubstr("another thread's wait for 'late'")));
  }
  connect()->set("late", std::string("now"));
  other.join();
  EXPECT_EQ(store->add("counter", 1), 1);
}

TEST_F(StoreFaults, AServerThatIsGoneIsGoneAtOnce) {
  const Store store = connect(std::chrono::minutes(10));
  server_->signal(SIGKILL);
  server_->wait();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(error_on([&] { store->check({"key"}); }).code(), ErrorCode::kPeerLost);
    EXPECT_EQ(error_on([&] { store->wait({"key"}); }).code(), ErrorCode::kPeerLost);
  }
}

// A client that timed out finds the server gone when it connects anew.
TEST_F(StoreFaults, AServerThatStoodStillAndIsGoneIsGone) {
  const Store store = connect();
  server_->stop();
  EXPECT_EQ(error_on([&] { store->check({"key"}); }).code(), ErrorCode::kTimeout);
  server_->signal(SIGKILL);
  server_->wait();
  EXPECT_EQ(error_on([&] { store->check({"key"}); }).code(), ErrorCode::kPeerLost);
}

// No descriptor for any new file or socket.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(StoreFaults, AClientWithoutDescriptorsDoesNotTakeItsServerForGone) {
  const Store store = connect();
  server_->stop();
  EXPECT_EQ(error_on([&] { store->check({"key"}); }).code(), ErrorCode::kTimeout);  // and connects anew the next time
  server_->signal(SIGCONT);
  {
    const NoDescriptors none;
    const Error error = error_on([&] { store->check({"key"}); });
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("Too many open files"), HasSubstr("ulimit -n"), HasSubstr(address())));
    EXPECT_EQ(error_on([&] { connect(); }).code(), ErrorCode::kIo);
  }
  EXPECT_EQ(store->add("counter", 1), 1);
}

// Connections of strangers, of which a server that stands still has no place for more.
TEST_F(StoreFaults, AServerWithAFullQueueIsNotTakenForGone) {
  const auto server = job_.start("serve_few", 0, 1);
  const auto port = static_cast<std::uint16_t>(std::stoi(server->line()));
  TCPStoreOptions options;
  options.timeout = kShort;
  const Store store = tcp_store("127.0.0.1", port, options);
  server->stop();
  EXPECT_EQ(error_on([&] { store->check({"key"}); }).code(), ErrorCode::kTimeout);
  std::vector<net::Descriptor> strangers;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 8; ++i) {
    strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(strangers.back().get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  const Error error = error_on([&] { store->check({"key"}); });
  EXPECT_EQ(error.code(), ErrorCode::kTimeout) << error.what();
  strangers.clear();
  server->signal(SIGCONT);
  EXPECT_EQ(store->add("counter", 1), 1);
}

TEST(StoreOpening, LeavesNoListenerBehindWhenItFails) {
  TCPStoreOptions options;
  options.is_server = true;
  tcp_store("127.0.0.1", 0, options);
  const std::ptrdiff_t before = descriptors();
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  // The listener gets a descriptor, and what comes after it none.
  std::ptrdiff_t highest = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    highest = std::max(highest, static_cast<std::ptrdiff_t>(std::stol(entry.path().filename())));
  }
  int failures = 0;
  for (int more = 0; more < 6; ++more) {
    std::vector<net::Descriptor> holes;  // below the highest one
    for (;;) {
      holes.emplace_back(::dup(2));
      if (holes.back().get() > highest) break;
    }
    holes.pop_back();
    rlimit few = limit;
    few.rlim_cur = static_cast<rlim_t>(highest + 1 + more);
    setrlimit(RLIMIT_NOFILE, &few);
    try {
      tcp_store("127.0.0.1", 0, options);
    } catch (const std::exception&) {
      ++failures;
    }
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  EXPECT_GT(failures, 2);
  expect_at_most(descriptors, before);
}

// --- calls whose time is over, and children that were forked

TEST_F(StoreFaults, AGetWhoseLimitIsOverHasTheValueThatIsThere) {
  const Store store = connect(kSoon);
  store->set("key", std::string("value"));
  const StoreLimit over(Clock::now() - std::chrono::seconds(1));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(store->get_to_str("key"), "value");
    EXPECT_EQ(store->multiGet({"key"}).size(), 1u);
  }
  const Clock::time_point begun = Clock::now();
  EXPECT_EQ(error_on([&] { store->get("no such key"); }).code(), ErrorCode::kTimeout);
  EXPECT_LT(Clock::now() - begun, kSoon);
}

// The watch's thread may have its lock just then, and is not in the child.
TEST_F(StoreFaults, AForkedChildThatDropsItsStoreEnds) {
  Store store = connect(kSoon);
  std::atomic<bool> enough = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      while (!enough) store->add("counter", 1);
    });
  }
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      store.reset();
      _exit(0);
    }
    ASSERT_GT(child, 0);
    const auto deadline = Clock::now() + kSoon;
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 && Clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    if (ended == 0) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
    }
    ASSERT_EQ(ended, child) << "the child hangs, in round " << round;
    EXPECT_TRUE(WIFEXITED(status));
  }
  enough = true;
  for (auto& caller : callers) caller.join();
}

// --- a file store, whose lock a stopped process holds

TEST(FileStoreFaults, ALockThatAnotherHasWhenAWaitEndsIsNotWhyTheKeyIsMissing) {
  const std::string path = ::testing::TempDir() + "busy-" + std::to_string(getpid());
  const Store store = file_store(path, 1);
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(100));
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ::flock(fd, LOCK_EX);
    std::this_thread::sleep_for(milliseconds(400));
    ::close(fd);
  });
  try {
    store->wait({"missing"}, milliseconds(300));
    ADD_FAILURE() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Timeout waiting for key 'missing'"));
  }
  other.join();
}

TEST(FileStoreFaults, EachCallEndsWhileAStoppedProcessHoldsTheLock) {
  const std::string path = ::testing::TempDir() + "locked-" + std::to_string(getpid());
  Store store = file_store(path, 1);
  store->set("key", std::string("value"));
  store->setTimeout(kShort);
  const Job job;
  const auto holder = job.start("lock", 0, 1, {{"TEST_FILE", path}});
  ASSERT_EQ(holder->line(), "locked");
  holder->stop();
  const std::vector<std::function<void()>> calls = {
      [&] { store->get("key"); },
      [&] { store->set("key", std::string("other")); },
      [&] { store->add("counter", 1); },
      [&] { store->check({"key"}); },
      [&] { store->wait({"key"}); },
      [&] { store->wait({"key"}, kShort); },
      [&] { store->deleteKey("key"); },
      [&] { store->getNumKeys(); },
      [&] { store->compareSet("key", std::string("a"), std::string("b")); },
      [&] {
        const StoreLimit limit(Clock::now() + kShort);
        file_store(path, 1);
      }};
  const Clock::time_point begun = Clock::now();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Error error = error_on(calls[i]);
    EXPECT_EQ(error.code(), ErrorCode::kTimeout) << i;
    EXPECT_THAT(error.what(), AllOf(HasSubstr(path), HasSubstr("another process holds the file's lock"))) << i;
  }
  EXPECT_LT(Clock::now() - begun, kSoon);
  store->setTimeout(std::chrono::minutes(10));
  const auto interrupt = std::make_shared<StoreInterrupt>();
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(50));
    interrupt->interrupt();
  });
  {
    const StoreLimit limit(interrupt);
    EXPECT_EQ(error_on([&] { store->add("counter", 1); }).code(), ErrorCode::kAborted);
  }
  other.join();
  // Behind another thread's call, too.
  std::thread first([&] { store->add("counter", 0); });
  std::this_thread::sleep_for(milliseconds(100));
  {
    const StoreLimit limit(interrupt);
    EXPECT_EQ(error_on([&] { store->add("counter", 1); }).code(), ErrorCode::kAborted);
  }
  holder->signal(SIGKILL);
  holder->wait();
  first.join();
  EXPECT_EQ(store->get_to_str("key"), "value");
  EXPECT_EQ(store->add("counter", 1), 1);
  store.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

// --- rank 0 serves the store, and is stopped

class StoppedRankZero : public ::testing::TestWithParam<std::string> {
 protected:
  void start(const std::string& role, const Environment& environment = Environment()) {
    Environment common = environment;
    common["TEST_BACKEND"] = GetParam();
    job_ = Job(common);
    first_ = job_.start(role, 0, 2);
    second_ = job_.start(role, 1, 2);
    EXPECT_EQ(second_->line(), "ready");
    EXPECT_EQ(first_->line(), "ready");
    first_->stop();
    second_->signal(SIGUSR1);
  }
  // The second rank's, which must come in time.
  std::string error() { return second_->line(kSoon); }
  auto names_the_server() {
    return AllOf(HasSubstr("127.0.0.1:" + std::to_string(job_.port())), HasSubstr("rank 0 serves"),
                 HasSubstr("does not answer"));
  }

  Job job_;
  std::unique_ptr<Child> first_, second_;
};

TEST_P(StoppedRankZero, EndsAMonitoredBarrier) {
  start("barrier");
  const std::string said = error();
  EXPECT_THAT(said, IsError(ErrorCode::kTimeout, AllOf(HasSubstr("monitored_barrier"), HasSubstr("rank 1 of 2"),
                                                       names_the_server())));
  EXPECT_LT(parse_error(said).milliseconds, 20000);  // by its own second, and not the group's half a minute
  EXPECT_EQ(second_->wait(), 0);
}

TEST_P(StoppedRankZero, EndsACheckOfCollectives) {
  start("all_reduce", {{"TORCH_DISTRIBUTED_DEBUG", "DETAIL"}, {"TEST_TIMEOUT_MS", "10000"}});
  EXPECT_THAT(error(), IsError(ErrorCode::kTimeout, AllOf(HasSubstr("all_reduce"), HasSubstr("rank 1 of 2"),
                                                          names_the_server())));
  EXPECT_EQ(second_->wait(), 0);
}

TEST_P(StoppedRankZero, EndsTheMakingOfAGroup) {
  start("split", {{"TEST_TIMEOUT_MS", "10000"}});
  EXPECT_THAT(error(), IsError(ErrorCode::kTimeout, names_the_server()));
  EXPECT_EQ(second_->wait(), 0);
}

TEST_P(StoppedRankZero, HoldsNoAbortUp) {
  start("abort");
  EXPECT_THAT(error(), IsError(ErrorCode::kAborted, HasSubstr("abort")));
  EXPECT_EQ(second_->wait(), 0);
}

// With the store that LibTorch's own backends get.
TEST_P(StoppedRankZero, HoldsNoAbortOfLibTorchsCallsUp) {
  start("native");
  EXPECT_THAT(error(), IsError(ErrorCode::kAborted, HasSubstr("abort")));
  EXPECT_EQ(second_->wait(), 0);
}

TEST_P(StoppedRankZero, HoldsNoShutdownUp) {
  start("shutdown");
  EXPECT_THAT(error(), IsError(ErrorCode::kAborted, HasSubstr("shut down")));
  EXPECT_EQ(second_->line(kSoon), "shut down");
  EXPECT_EQ(second_->wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, StoppedRankZero, ::testing::Values("gloo", "shm"),
                         [](const auto& info) { return info.param; });

int serve() {
  TCPStoreOptions server;
  server.is_server = true;
  const Store store = tcp_store("127.0.0.1", 0, server);
  say(std::to_string(store_port(store)));
  for (;;) ::pause();
}

int hold_lock() {
  const int fd = ::open(std::getenv("TEST_FILE"), O_RDWR | O_CLOEXEC);
  say(::flock(fd, LOCK_EX) == 0 ? "locked" : "no lock");
  for (;;) ::pause();
}

// Where few may wait to be let in.
int serve_few() {
  const net::Listener listener = net::listen_on("127.0.0.1", 0);
  TCPStoreOptions server;
  server.is_server = true;
  server.listen_fd = listener.fd;
  const Store store = tcp_store("127.0.0.1", 0, server);
  ::listen(listener.fd, 0);
  say(std::to_string(store_port(store)));
  for (;;) ::pause();
}

int run_rank(const std::string& role) {
  sigset_t signal;
  sigemptyset(&signal);
  sigaddset(&signal, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signal, nullptr);
  auto group = ProcessGroup::create(from_environment());
  group->barrier();
  say("ready");
  int number = 0;
  sigwait(&signal, &number);  // rank 0 is stopped instead
  constexpr std::chrono::minutes kNever{10};
  std::thread other;
  if (role == "abort" || role == "shutdown" || role == "native") {
    other = std::thread([&] {
      std::this_thread::sleep_for(milliseconds(100));
      role == "shutdown" ? static_cast<void>(tandem::shutdown(kSoon)) : group->abort();
    });
  }
  const Clock::time_point begun = Clock::now();
  const auto call = [&] {
    if (role == "barrier") group->monitored_barrier(milliseconds(1000));
    if (role == "all_reduce") group->all_reduce(torch::ones({4}));
    if (role == "split") group->new_group({0, 1});
    if (role == "abort" || role == "shutdown") group->monitored_barrier(kNever);
    if (role != "native") return;
    try {
      group->native()->getStore()->wait({"nobody"}, kNever);
    } catch (...) {
      rethrow_store_error("the wait");
    }
  };
  say_error(call, &begun);
  if (other.joinable()) other.join();
  if (role == "shutdown") say("shut down");
  group.reset();
  return 0;
}

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--role") {
    const std::string role = argv[2];
    if (role == "lock") return tandem::testing::hold_lock();
    if (role == "serve_few") return tandem::testing::serve_few();
    return role == "serve" ? tandem::testing::serve() : tandem::testing::run_rank(role);
  }
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
