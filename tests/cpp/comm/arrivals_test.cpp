// Ranks that connect to each other while strangers knock, and where descriptors run out.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <future>
#include <thread>

#include "comm/arrivals.h"
#include "comm/hosts/failure_channel.h"
#include "comm/shm/local_connections.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using net::Descriptor;
using std::chrono::milliseconds;
using std::chrono::seconds;

const auto nothing = [] {};

// Connected to 127.0.0.1:port; -1 when that is refused, or the queue there stays full.
Descriptor knock(std::uint16_t port) {
  Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval most{5, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  const bool connected = connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return connected ? std::move(fd) : Descriptor();
}

// Two ranks that connect a failure channel. Each gets the other's addresses.
struct Pair {
  net::GuardedListener sockets[2] = {net::GuardedListener("127.0.0.1"), net::GuardedListener("127.0.0.1")};
  const std::vector<net::GuardedAddress> addresses = {sockets[0].address(), sockets[1].address()};

  std::uint16_t port() const { return addresses[0].endpoint.port; }
  std::vector<Descriptor> connect(int rank, milliseconds timeout) {
    return hosts::FailureChannel::connect(rank, addresses, sockets[rank], "pair", Clock::now() + timeout, nothing);
  }
};

// What `body` throws.
Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorCode::kInternal, "no error");
}

TEST(FailureChannel, SilentStrangersHoldNobodyUp) {
  Pair pair;
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 60; ++i) strangers.push_back(knock(pair.port()));
  const auto begun = Clock::now();
  auto first = std::async(std::launch::async, [&] { return pair.connect(0, seconds(100)); });
  EXPECT_GE(pair.connect(1, seconds(100))[0].get(), 0);
  EXPECT_GE(first.get()[1].get(), 0);
  EXPECT_LT(Clock::now() - begun, seconds(20));  // a moment; a second for each stranger was a minute
}

TEST(FailureChannel, TheDeadlineHoldsHoweverManyKnock) {
  Pair pair;
  std::atomic<bool> over = false;
  std::vector<std::thread> strangers;
  for (int i = 0; i < 3; ++i) {
    strangers.emplace_back([&] {
      while (!over) {
        if (knock(pair.port()).get() < 0) std::this_thread::sleep_for(milliseconds(1));
      }
    });
  }
  const Error error = error_of([&] { pair.connect(0, milliseconds(500)); });
  over = true;
  for (auto& stranger : strangers) stranger.join();
  EXPECT_EQ(error.code(), ErrorCode::kTimeout);
  EXPECT_THAT(error.what(), HasSubstr("rank 1"));
}

// As few descriptors as are open now.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit now = before_;
    const Descriptor next(dup(STDERR_FILENO));
    now.rlim_cur = static_cast<rlim_t>(next.get());
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoDescriptorLeft() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(FailureChannel, DescriptorsThatRunOutAreAnError) {
  Pair pair;
  const Descriptor waiting = knock(pair.port());
  const NoDescriptorLeft none;
  const Error error = error_of([&] { pair.connect(0, seconds(100)); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("descriptors"), HasSubstr("ulimit -n")));
}

// Those that strangers took are taken back.
TEST(FailureChannel, StrangersThatTookAllDescriptorsAreSentAway) {
  Pair pair;
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 5; ++i) strangers.push_back(knock(pair.port()));
  auto second = std::async(std::launch::async, [&] { return pair.connect(1, seconds(100)); });
  EXPECT_GE(second.get()[0].get(), 0);  // it has connected, and waits in the queue behind them
  std::vector<Descriptor> spare;
  for (int i = 0; i < 3; ++i) spare.emplace_back(dup(STDERR_FILENO));
  const NoDescriptorLeft none;
  spare.clear();
  EXPECT_GE(pair.connect(0, seconds(100))[1].get(), 0);
}

// As many ranks as that connect before the first of them comes to speak.
TEST(Arrivals, KeepHundredsThatHaveJustCome) {
  const net::Listener listener = net::listen_on("127.0.0.1", 0);
  const Descriptor owner(listener.fd);
  fcntl(listener.fd, F_SETFL, O_NONBLOCK);
  constexpr std::size_t kCallers = 400;
  std::vector<Descriptor> callers;
  for (std::size_t i = 0; i < kCallers; ++i) callers.push_back(knock(listener.endpoint.port));
  net::Arrivals arrivals(listener.fd);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(arrivals.next(milliseconds(0)).empty());
  for (const Descriptor& caller : callers) ASSERT_EQ(send(caller.get(), "x", 1, MSG_NOSIGNAL), 1);
  std::size_t heard = 0;
  const auto deadline = Clock::now() + seconds(60);
  while (heard < kCallers && Clock::now() < deadline) {
    for (const Descriptor& arrived : arrivals.next(milliseconds(50))) {
      char byte = 0;
      heard += recv(arrived.get(), &byte, 1, 0) == 1;
    }
  }
  EXPECT_EQ(heard, kCallers);
}

// As many as that stay silent; who belongs here comes last.
TEST(Arrivals, MakeRoomWhereHundredsStaySilent) {
  Pair pair;
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 700; ++i) strangers.push_back(knock(pair.port()));
  const auto begun = Clock::now();
  auto first = std::async(std::launch::async, [&] { return pair.connect(0, seconds(100)); });
  EXPECT_GE(pair.connect(1, seconds(100))[0].get(), 0);
  EXPECT_GE(first.get()[1].get(), 0);
  EXPECT_LT(Clock::now() - begun, seconds(50));
}

TEST(LocalConnections, SilentStrangersHoldNobodyUp) {
  const shm::LocalListener listeners[2] = {shm::LocalListener(100), shm::LocalListener(100)};
  const std::vector<std::string> names = {listeners[0].name(), listeners[1].name()};
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 60; ++i) {
    strangers.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, names[0].data(), names[0].size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + names[0].size());
    ASSERT_EQ(connect(strangers.back().get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  }
  const auto begun = Clock::now();
  const std::atomic<bool> cancelled = false;
  const auto meet = [&](int rank) {
    const shm::LocalRanks who{"pair", 2, {0, 1}, rank};
    return shm::connect_local(who, names, listeners[rank], shm::Segment::create(1 << 20), Clock::now() + seconds(100),
                              cancelled);
  };
  auto first = std::async(std::launch::async, meet, 0);
  EXPECT_NE(meet(1).segments[0], nullptr);
  EXPECT_NE(first.get().segments[1], nullptr);
  EXPECT_LT(Clock::now() - begun, seconds(20));
}

}  // namespace
}  // namespace tandem::testing
