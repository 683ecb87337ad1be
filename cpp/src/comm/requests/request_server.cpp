#include "comm/requests/request_server.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iterator>
#include <utility>

#include "base/own_thread.h"
#include "comm/sockets.h"
#include "tandem/error.h"

namespace tandem::requests {
namespace {

// Whoever connects sends its password at once; a machine may be busy. Those that have not are fewer than that, and are
// closed sooner where others want their place.
constexpr std::chrono::seconds kMostSilenceOfStrangers{10};
constexpr std::chrono::milliseconds kLeastSilenceOfStrangers{1000};
constexpr std::size_t kMostStrangers = 1024;
// Of answers that a peer did not read, before no more requests of it are.
constexpr std::size_t kMostUnread = std::size_t{1} << 20;

constexpr RequestServer::Peer kListening = 0, kWaking = 1, kFirstPeer = 2;

void add_to(int epoll, int socket, std::uint32_t events, RequestServer::Peer peer) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = peer;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) != 0) throw net::shortage(errno, "cannot watch a connection");
}

}  // namespace

RequestServer::RequestServer(net::GuardedListener listener, std::chrono::milliseconds tick, Handler& handler)
    : listener_(std::move(listener)),
      tick_(tick),
      handler_(handler),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      next_peer_(kFirstPeer) {
  if (!epoll_.valid() || !wake_.valid()) throw net::shortage(errno, "cannot wait for requests");
  add_to(epoll_.get(), wake_.get(), EPOLLIN, kWaking);
}

RequestServer::~RequestServer() {
  ending_ = true;
  tick_soon();
  if (thread_.joinable()) thread_.join();
}

void RequestServer::start() {
  thread_ = start_own_thread("tandem-requests", [this] {
    try {
      serve();
    } catch (const std::exception&) {  // there is no memory: its peers see it go
    }
    connections_.clear();
    listener_.close();  // whoever comes now is refused at once
    ended_ = true;
  });
}

void RequestServer::tick_soon() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(wake_.get(), &one, sizeof one);
}

RequestServer::Counts RequestServer::counts() const {
  return {requests_, wakes_, bytes_received_, bytes_sent_};
}

void RequestServer::serve() {
  Clock::time_point next_tick = Clock::now() + tick_;
  listen(true);
  while (!ending_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_tick - Clock::now());
    epoll_event events[64];
    const int wait = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60000));
    const int count = epoll_wait(epoll_.get(), events, std::size(events), wait);
    bool is_due = Clock::now() >= next_tick;
    for (int i = 0; i < count && !ending_; ++i) {
      const Peer peer = events[i].data.u64;
      if (peer == kListening) {
        accept_all();
      } else if (peer == kWaking) {
        std::uint64_t number = 0;
        [[maybe_unused]] const ssize_t size = read(wake_.get(), &number, sizeof number);
        is_due = true;
      } else if (Connection* connection = find(peer)) {
        if (events[i].events & EPOLLOUT) {
          send(peer, *connection);
          hand_on(peer, *connection);
        }
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(peer, *connection);
      }
    }
    close_marked();
    if (is_due && !ending_) {
      next_tick = Clock::now() + tick_;
      send_strangers_away();
      if (!is_listening_) listen(true);
      handler_.on_tick();
      close_marked();
    }
  }
}

// Whether it is told of connections that come; they wait otherwise.
void RequestServer::listen(bool listens) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kListening;
  epoll_ctl(epoll_.get(), listens ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_.descriptor(), &event);
  is_listening_ = listens;
}

RequestServer::Connection* RequestServer::find(Peer peer) {
  const auto found = connections_.find(peer);
  return found == connections_.end() || found->second.is_closed ? nullptr : &found->second;
}

void RequestServer::accept_all() {
  send_strangers_away();
  while (strangers_.size() < kMostStrangers) {
    Descriptor socket(accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) {
      if (!net::is_shortage(errno)) return;  // nobody is there
      // Strangers may have what is missing. Without any, others may give descriptors back.
      if (!strangers_.empty()) close(strangers_.front());
      break;
    }
    net::send_at_once(socket.get());
    const Peer peer = next_peer_++;
    Connection& connection = connections_[peer];
    connection.socket = std::move(socket);
    connection.since = Clock::now();
    connection.events = EPOLLIN;
    strangers_.push_back(peer);
    try {
      add_to(epoll_.get(), connection.socket.get(), connection.events, peer);
    } catch (const Error&) {
      close(peer);
    }
  }
  listen(false);  // until the next tick
}

void RequestServer::send_strangers_away() {
  const auto now = Clock::now();
  while (!strangers_.empty()) {
    Connection* oldest = find(strangers_.front());
    if (oldest && !oldest->is_known) {
      const Clock::duration most =
          strangers_.size() < kMostStrangers ? Clock::duration(kMostSilenceOfStrangers) : kLeastSilenceOfStrangers;
      if (now - oldest->since < most) return;
      close(strangers_.front());
    }
    strangers_.pop_front();
  }
}

void RequestServer::receive(Peer peer, Connection& connection) {
  char buffer[65536];
  const ssize_t size = recv(connection.socket.get(), buffer, sizeof buffer, 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    close(peer);
    return;
  }
  bytes_received_ += size;
  take_in(peer, connection, {buffer, static_cast<std::size_t>(size)});
}

void RequestServer::take_in(Peer peer, Connection& connection, std::string_view received) {
  if (!connection.is_known) {
    constexpr std::size_t kHelloBytes = kHello.size() + net::GuardedListener::kPasswordBytes;
    const std::size_t taken = std::min(received.size(), kHelloBytes - connection.hello.size());
    connection.hello.append(received.substr(0, taken));
    received.remove_prefix(taken);
    if (connection.hello.size() < kHelloBytes) return;
    const std::string_view hello = connection.hello;
    if (!hello.starts_with(kHello) || !listener_.is_password(hello.substr(kHello.size()))) {
      close(peer);
      return;
    }
    connection.is_known = true;
    connection.outgoing += kWelcome;
    send(peer, connection);
  }
  connection.reader.add(received);
  hand_on(peer, connection);
}

// The requests that have come, as long as their answers are read.
void RequestServer::hand_on(Peer peer, Connection& connection) {
  try {
    while (!connection.is_closed && !ending_ && connection.unread() < kMostUnread) {
      const auto frame = connection.reader.next();
      if (!frame) return;
      ++requests_;
      handler_.on_request(peer, frame->number, frame->bytes);
    }
  } catch (const std::exception&) {  // it is of no use to whoever sends such things to be told
    close(peer);
  }
}

void RequestServer::answer(Peer peer, std::uint64_t number, std::string_view bytes) {
  Connection* connection = find(peer);
  if (!connection) return;
  append_frame(connection->outgoing, number, bytes);
  send(peer, *connection);
}

void RequestServer::wake(Peer peer) {
  ++wakes_;
  answer(peer, 0, {});
}

void RequestServer::send(Peer peer, Connection& connection) {
  while (connection.sent < connection.outgoing.size()) {
    const ssize_t size = ::send(connection.socket.get(), connection.outgoing.data() + connection.sent,
                                connection.outgoing.size() - connection.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EAGAIN) {
      close(peer);
      return;
    }
    if (size < 0) break;
    bytes_sent_ += size;
    connection.sent += static_cast<std::size_t>(size);
  }
  if (connection.sent == connection.outgoing.size()) {
    connection.outgoing.clear();
    connection.sent = 0;
  } else if (connection.sent > kMostUnread) {
    connection.outgoing.erase(0, connection.sent);
    connection.sent = 0;
  }
  watch(peer, connection);
}

void RequestServer::watch(Peer peer, Connection& connection) {
  const std::size_t unread = connection.unread();
  const std::uint32_t events = (unread < kMostUnread ? EPOLLIN : 0u) | (unread > 0 ? EPOLLOUT : 0u);
  if (events == connection.events) return;
  connection.events = events;
  epoll_event event{};
  event.events = events;
  event.data.u64 = peer;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
}

void RequestServer::close(Peer peer) {
  Connection* connection = find(peer);
  if (!connection) return;
  connection->is_closed = true;
  closed_.push_back(peer);
}

// Not while they are in use. The handler may close others meanwhile.
void RequestServer::close_marked() {
  while (!closed_.empty()) {
    const Peer peer = closed_.back();
    closed_.pop_back();
    const bool was_known = connections_.at(peer).is_known;
    connections_.erase(peer);
    if (was_known) handler_.on_closed(peer);
  }
}

}  // namespace tandem::requests
