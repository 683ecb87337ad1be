// Answers requests of other processes, on one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/descriptor.h"
#include "comm/guarded_listener.h"
#include "comm/requests/frames.h"

namespace tandem::requests {

// Whoever connects sends the listener's password first; who does not, or sends what is no request, is sent away, and
// the others notice nothing. A peer whose answers pile up, for it does not read them, is not read from meanwhile.
class RequestServer {
 public:
  using Clock = std::chrono::steady_clock;
  using Peer = std::uint64_t;  // a connection; no other one has its number

  // Called on the server's thread.
  class Handler {
   public:
    // `number` is for answer(), which may be called later. What it throws, if anything, closes the connection.
    virtual void on_request(Peer from, std::uint64_t number, std::string_view bytes) = 0;
    virtual void on_closed(Peer peer) = 0;
    // Every `tick`, and soon after tick_soon().
    virtual void on_tick() = 0;

   protected:
    ~Handler() = default;
  };
  struct Counts {
    std::int64_t requests = 0, wakes = 0;
    std::int64_t bytes_received = 0, bytes_sent = 0;  // with the heads of messages
  };

  // `handler` must outlive it. Throws Error(kIo).
  RequestServer(net::GuardedListener listener, std::chrono::milliseconds tick, Handler& handler);
  ~RequestServer();
  RequestServer(const RequestServer&) = delete;
  RequestServer& operator=(const RequestServer&) = delete;

  const net::GuardedAddress& address() const { return listener_.address(); }
  // Until then connections wait.
  void start();
  // From any thread, as the next two.
  void tick_soon();
  bool has_ended() const { return ended_; }
  Counts counts() const;

  // The rest is for the handler.
  void answer(Peer peer, std::uint64_t number, std::string_view bytes);
  void wake(Peer peer);
  void close(Peer peer);
  // Ends the thread, and closes all connections.
  void end() { ending_ = true; }

 private:
  struct Connection {
    Descriptor socket;
    Clock::time_point since;
    bool is_known = false;  // it sent the password
    bool is_closed = false;
    std::uint32_t events = 0;  // for which it is watched
    std::string hello;
    FrameReader reader;
    std::string outgoing;
    std::size_t sent = 0;  // of outgoing

    std::size_t unread() const { return outgoing.size() - sent; }
  };

  void serve();
  void listen(bool listens);
  void accept_all();
  void receive(Peer peer, Connection& connection);
  void take_in(Peer peer, Connection& connection, std::string_view received);
  void hand_on(Peer peer, Connection& connection);
  void send(Peer peer, Connection& connection);
  void watch(Peer peer, Connection& connection);
  void close_marked();
  void send_strangers_away();
  Connection* find(Peer peer);

  net::GuardedListener listener_;
  const std::chrono::milliseconds tick_;
  Handler& handler_;
  Descriptor epoll_, wake_;
  std::unordered_map<Peer, Connection> connections_;
  std::deque<Peer> strangers_;  // not known yet, or closed by now, in the order of their coming
  std::vector<Peer> closed_;    // are to be forgotten
  Peer next_peer_;
  bool is_listening_ = false;
  std::atomic<bool> ending_ = false, ended_ = false;
  std::atomic<std::int64_t> requests_ = 0, wakes_ = 0, bytes_received_ = 0, bytes_sent_ = 0;
  std::thread thread_;
};

}  // namespace tandem::requests
