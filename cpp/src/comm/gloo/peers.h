// Which ranks take part in nothing more, as a Gloo group's connections tell.
#pragma once

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tandem/error.h"

namespace tandem {

// Gloo tells of the end of a connection only what waits for a message of just that rank. So each rank has a receive
// from each other under a slot of its own: a rank that closes the group in peace sends a byte there; one that dies
// ends it with an exception. A thread waits for them once somebody wants to know. Thread-safe.
class GlooPeers : public std::enable_shared_from_this<GlooPeers> {
 public:
  // What is known of the others.
  struct Status {
    std::optional<Error> lost;    // a rank that died or lost its connection
    std::optional<Error> closed;  // the first one that closed the group
    bool all_closed = false;
  };
  using Listener = std::function<void(const Status&)>;

  GlooPeers(const std::shared_ptr<::gloo::Context>& context, int rank, int size);
  ~GlooPeers();
  GlooPeers(const GlooPeers&) = delete;
  GlooPeers& operator=(const GlooPeers&) = delete;

  // Whom Gloo's text is about: -1 where it does not say. Before anybody wants to know.
  void set_rank_of(std::function<int(const std::string& text)> rank_of) { rank_of_ = std::move(rank_of); }

  // Is called once a rank is lost, when whatever Gloo tells of that has long been told. Once, before the first
  // collective.
  void watch(std::function<void(const Error& lost)> on_lost);

  // Tells all that this rank takes part in nothing more, when nothing is in flight.
  void send_closed();

  // What is known so far.
  Status status();

  // Is called at changes from now on, and at once of what is known, until it is removed. It must not call this object,
  // and must not block.
  using Place = std::list<Listener>::iterator;
  Place listen(Listener listener);
  void remove(Place place);

  // Ends the thread. No listener is called after that.
  void stop();

 private:
  using Buffer = std::unique_ptr<::gloo::transport::UnboundBuffer>;

  void start();
  void serve();
  bool take_in(const std::string* broken);
  void tell_late();

  const int rank_;
  const int size_;
  std::vector<std::uint8_t> received_;  // of each rank
  const Buffer incoming_;
  std::uint8_t closed_byte_ = 1;
  const Buffer outgoing_;
  std::function<int(const std::string&)> rank_of_;

  std::function<void(const Error&)> on_lost_;

  std::mutex mutex_;
  std::condition_variable stopped_;
  Status status_;
  std::list<Listener> listeners_;
  bool over_ = false;  // nothing changes any more
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tandem
