// Requests to a server, of several threads at once over one connection.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/descriptor.h"
#include "comm/requests/frames.h"
#include "tandem/error.h"

namespace tandem::requests {

// Its thread reads the answers, and sends a beat now and then, to which the server's answer says that it lives.
// Thread-safe.
class RequestClient {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::string server;  // for errors: "rank 0, which keeps the queue of leases"
    std::string advice;  // in them, what to do once the server is lost
    std::string beat;    // a request
    std::chrono::milliseconds interval{1000};  // of beats
    // The server is lost when it owes an answer and sends nothing for so long. Time in which this process stood still
    // does not count: the server may have done so too.
    std::chrono::milliseconds silence{10000};
  };

  // `connection`: as connect_to_server() gave it. Throws Error(kIo) where there can be no thread.
  RequestClient(Descriptor connection, Options options);
  ~RequestClient();
  RequestClient(const RequestClient&) = delete;
  RequestClient& operator=(const RequestClient&) = delete;

  // The server's answer. Errors, also of all later calls: kPeerLost where the server closed the connection; kTimeout
  // where it is silent; kDataLoss where it sends what is none. kAborted after interrupt().
  std::string call(std::string_view request);
  // Calls `woken` when the server wakes this client, and when it is lost, on the thread that reads. The one before is
  // not running when this returns; not to be called by it.
  void on_wake(std::function<void()> woken);
  // From then on calls wait for a second at most.
  void interrupt();

 private:
  struct Call {
    std::condition_variable changed;
    std::optional<std::string> answer;
  };

  void run();
  void read();
  void take(const Frame& frame);
  void beat();
  void send();  // with mutex_ held
  void fail(Error error);
  void wake_reader();
  void tell_woken();

  const Options options_;
  const Descriptor socket_, wake_;

  std::mutex mutex_;
  std::map<std::uint64_t, Call*> calls_;  // that wait
  std::uint64_t next_number_ = 1;
  std::uint64_t beat_ = 0;  // whose answer is awaited; 0: none is
  std::string outgoing_;    // what the connection does not take yet
  std::optional<Error> failure_;
  bool interrupted_ = false;
  bool ending_ = false;
  FrameReader reader_;  // this thread's, as the next two
  bool has_read_ = false;
  bool was_woken_ = false;

  std::mutex woken_mutex_;
  std::function<void()> woken_;
  std::thread thread_;
};

}  // namespace tandem::requests
