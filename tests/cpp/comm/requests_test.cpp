// Requests over real connections: peers that send nonsense, do not read, fall silent or go.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/requests/request_client.h"
#include "comm/requests/request_server.h"
#include "comm/requests/server_connection.h"
#include "cpp/data/expect_error.h"

namespace tandem::requests_test {
namespace {

using requests::RequestClient;
using requests::RequestServer;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// Answers with the same bytes; "wake" wakes whoever asks, "throw" throws, "later" is answered at the next "now".
class Echo : public RequestServer::Handler {
 public:
  explicit Echo(milliseconds tick = milliseconds(20)) : server(net::GuardedListener("127.0.0.1"), tick, *this) {
    server.start();
  }
  void on_request(RequestServer::Peer from, std::uint64_t number, std::string_view bytes) override {
    if (bytes == "throw") throw Error(ErrorCode::kDataLoss, "nonsense");
    if (bytes == "later") {
      later_.emplace_back(from, number);
      return;
    }
    if (bytes == "wake") server.wake(from);
    if (bytes == "now") {
      for (const auto& [peer, request] : later_) server.answer(peer, request, "late");
    }
    server.answer(from, number, bytes);
  }
  void on_closed(RequestServer::Peer) override { ++closed; }
  void on_tick() override { ++ticks; }

  std::atomic<int> closed = 0, ticks = 0;

 private:
  std::vector<std::pair<RequestServer::Peer, std::uint64_t>> later_;

 public:
  RequestServer server;
};

Descriptor connect(const net::GuardedAddress& address) {
  auto connection = requests::connect_to_server(address, "the server", Clock::now() + seconds(60));
  if (!connection) throw Error(ErrorCode::kPeerLost, "the server is gone");
  return *std::move(connection);
}

RequestClient::Options options() {
  RequestClient::Options options;
  options.server = "rank 7, which echoes";
  options.advice = "go home";
  options.beat = "beat";
  options.interval = milliseconds(20);
  options.silence = seconds(60);
  return options;
}

void await(const std::function<bool()>& happened) {
  const auto deadline = Clock::now() + seconds(60);
  while (!happened()) {
    ASSERT_LT(Clock::now(), deadline);
    std::this_thread::sleep_for(milliseconds(1));
  }
}

// Whether the other side closes it, whatever else it sends.
bool is_closed_by_peer(const Descriptor& socket) {
  const auto deadline = Clock::now() + seconds(60);
  for (char bytes[4096]; Clock::now() < deadline;) {
    pollfd ready{socket.get(), POLLIN, 0};
    if (poll(&ready, 1, 1000) != 1) continue;
    if (recv(socket.get(), bytes, sizeof bytes, 0) <= 0) return true;
  }
  return false;
}

void send_all(const Descriptor& socket, const std::string& bytes) {
  ASSERT_EQ(send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

TEST(Requests, OfManyThreadsGoOverOneConnection) {
  Echo echo;
  RequestClient client(connect(echo.server.address()), options());
  std::thread waits([&] { EXPECT_EQ(client.call("later"), "late"); });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&client, i] {
      for (int j = 0; j < 100; ++j) {
        const std::string text = std::to_string(i) + "." + std::to_string(j);
        ASSERT_EQ(client.call(text), text);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(client.call(std::string(3000000, 'x')), std::string(3000000, 'x'));
  while (echo.server.counts().requests < 802) std::this_thread::sleep_for(milliseconds(1));
  client.call("now");
  waits.join();
}

TEST(Requests, ServerWakesItsClient) {
  Echo echo;
  RequestClient client(connect(echo.server.address()), options());
  std::atomic<int> woken = 0;
  client.on_wake([&] { ++woken; });
  client.call("wake");
  await([&] { return woken == 1; });
  client.on_wake(nullptr);
  client.call("wake");
  client.call("after that");
  EXPECT_EQ(woken, 1);
}

TEST(Requests, WhoSendsNonsenseIsSentAway) {
  Echo echo;
  RequestClient client(connect(echo.server.address()), options());
  const net::GuardedAddress address = echo.server.address();
  net::GuardedAddress wrong = address;
  wrong.password[3] = wrong.password[3] == '0' ? '1' : '0';
  EXPECT_ERROR(requests::connect_to_server(wrong, "the server", Clock::now() + seconds(2)), ErrorCode::kPeerLost,
               "the server, closes each connection at 127.0.0.1");
  EXPECT_EQ(echo.closed, 0);  // it never was one of its peers
  const Descriptor too_long = connect(address), throws = connect(address), endless = connect(address);
  send_all(too_long, std::string(12, '\xff'));
  EXPECT_TRUE(is_closed_by_peer(too_long));
  std::string request;
  requests::append_frame(request, 1, "throw");
  send_all(throws, request);
  EXPECT_TRUE(is_closed_by_peer(throws));
  await([&] { return echo.closed == 2; });
  // What is only begun takes no memory, and nobody's time.
  send_all(endless, std::string("\x00\x00\x00\x03", 4) + std::string(8, 'n') + "a few bytes of 48 MiB");
  EXPECT_EQ(client.call("still there"), "still there");
}

TEST(Requests, SilentStrangersHoldNobodyUp) {
  Echo echo;
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 100; ++i) {
    int failure = 0;
    strangers.push_back(net::begin_to_connect(echo.server.address().endpoint, &failure));
    ASSERT_EQ(failure, 0);
  }
  RequestClient client(connect(echo.server.address()), options());
  EXPECT_EQ(client.call("x"), "x");
}

// Its answers pile up, up to a bound; the server's memory and the others' time are not its.
TEST(Requests, WhoDoesNotReadIsNotReadFrom) {
  Echo echo;
  const Descriptor deaf = connect(echo.server.address());
  std::string request;
  requests::append_frame(request, 1, std::string(100000, 'x'));
  std::size_t sent = 0, before = 0;
  int stuck = 0;
  while (stuck < 20 && sent < (std::size_t{256} << 20)) {
    const std::size_t at = sent % request.size();
    const ssize_t size = send(deaf.get(), request.data() + at, request.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size > 0) sent += static_cast<std::size_t>(size);
    stuck = sent == before ? stuck + 1 : 0;
    before = sent;
    if (size < 0) std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_EQ(stuck, 20) << sent << " bytes were taken";
  RequestClient client(connect(echo.server.address()), options());
  EXPECT_EQ(client.call("x"), "x");
}

TEST(Requests, TheEndOfTheServerEndsCallsAndWaits) {
  auto echo = std::make_unique<Echo>();
  const net::GuardedAddress address = echo->server.address();
  RequestClient client(connect(address), options());
  std::atomic<int> woken = 0;
  client.on_wake([&] { ++woken; });
  std::thread waits([&] {
    EXPECT_ERROR(client.call("later"), ErrorCode::kPeerLost, "rank 7, which echoes, closed its connection", "go home");
  });
  while (echo->server.counts().requests == 0) std::this_thread::sleep_for(milliseconds(1));
  echo.reset();
  waits.join();
  EXPECT_ERROR(client.call("x"), ErrorCode::kPeerLost, "closed its connection");
  await([&] { return woken == 1; });
  EXPECT_FALSE(requests::connect_to_server(address, "the server", Clock::now() + seconds(60)).has_value());
}

// A listener whose owner answers by hand.
class ByHand {
 public:
  net::GuardedAddress address() const { return listener_.address(); }
  // A client, and the server's side of its connection.
  std::pair<std::unique_ptr<RequestClient>, Descriptor> welcome(const RequestClient::Options& options) {
    std::unique_ptr<RequestClient> client;
    std::thread connects([&] { client = std::make_unique<RequestClient>(connect(address()), options); });
    Descriptor server;
    while (!server.valid()) server = Descriptor(accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
    char hello[requests::kHello.size() + net::GuardedListener::kPasswordBytes];
    EXPECT_EQ(recv(server.get(), hello, sizeof hello, MSG_WAITALL), static_cast<ssize_t>(sizeof hello));
    send_all(server, std::string(requests::kWelcome));
    connects.join();
    return {std::move(client), std::move(server)};
  }

 private:
  net::GuardedListener listener_{"127.0.0.1"};
};

TEST(Requests, AServerThatSendsNonsenseIsLost) {
  ByHand by_hand;
  auto [client, server] = by_hand.welcome(options());
  send_all(server, std::string(12, '\xff'));
  EXPECT_ERROR(client->call("x"), ErrorCode::kDataLoss, "rank 7, which echoes", "too long");
}

TEST(Requests, AServerThatIsSilentIsLost) {
  ByHand by_hand;
  RequestClient::Options impatient = options();
  impatient.silence = milliseconds(200);
  auto [client, server] = by_hand.welcome(impatient);
  EXPECT_ERROR(client->call("x"), ErrorCode::kTimeout, "rank 7, which echoes, does not answer", "go home");
  // Without a call, too: it does not answer beats.
  auto [idle, also] = by_hand.welcome(impatient);
  std::atomic<bool> woken = false;
  idle->on_wake([&] { woken = true; });
  await([&] { return woken.load(); });
  EXPECT_ERROR(idle->call("x"), ErrorCode::kTimeout, "does not answer");
}

TEST(Requests, ACallIsInterrupted) {
  ByHand by_hand;
  auto [client, server] = by_hand.welcome(options());
  std::thread other([&client = client] {
    std::this_thread::sleep_for(milliseconds(30));
    client->interrupt();
  });
  EXPECT_ERROR(client->call("x"), ErrorCode::kAborted, "rank 7");
  other.join();
  EXPECT_ERROR(client->call("x"), ErrorCode::kAborted, "rank 7");
}

// One that stands still reads it once it goes on, though whoever sent it is gone by then.
TEST(Requests, AServerIsToldWithoutAnAnswer) {
  Echo echo;
  EXPECT_TRUE(requests::tell_server(echo.server.address(), "x", Clock::now() + seconds(60)));
  const net::GuardedListener gone("127.0.0.1");
  net::GuardedAddress nobody = gone.address();
  {
    const net::GuardedListener other("127.0.0.1");
    nobody.endpoint = other.address().endpoint;
  }
  EXPECT_FALSE(requests::tell_server(nobody, "x", Clock::now() + seconds(60)));
  EXPECT_FALSE(requests::tell_server(gone.address(), "x", Clock::now() + milliseconds(50)));
  const Descriptor late(accept4(gone.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  char bytes[256];
  const ssize_t size = recv(late.get(), bytes, sizeof bytes, 0);
  std::string expected = std::string(requests::kHello) + gone.address().password;
  requests::append_frame(expected, 1, "x");
  EXPECT_EQ(std::string(bytes, size < 0 ? 0 : static_cast<std::size_t>(size)), expected);
}

// Whoever has its port by now.
TEST(Requests, AnotherProgramIsNoServer) {
  const net::GuardedListener other("127.0.0.1");
  std::thread greets([&] {
    Descriptor socket;
    while (!socket.valid()) socket = Descriptor(accept4(other.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
    send_all(socket, "SSH-2.0-Other\r\n");
  });
  EXPECT_FALSE(requests::connect_to_server(other.address(), "the server", Clock::now() + seconds(60)).has_value());
  greets.join();
}

TEST(Requests, ConnectingToAServerThatStandsStillEnds) {
  const net::GuardedListener nobody("127.0.0.1");  // connections wait there for ever
  EXPECT_ERROR(requests::connect_to_server(nobody.address(), "rank 3", Clock::now() + milliseconds(50)),
               ErrorCode::kTimeout, "rank 3, does not answer at 127.0.0.1");
}

}  // namespace
}  // namespace tandem::requests_test
