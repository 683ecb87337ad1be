#include "comm/gloo/peers.h"

#include <chrono>
#include <exception>
#include <utility>

#include "base/own_thread.h"
#include "comm/gloo/slots.h"
#include "comm/shm/lost.h"
#include "comm/sockets.h"

namespace tandem {
namespace {

// Gloo closes all connections when a wait of its own is over: this one never is.
constexpr std::chrono::milliseconds kForEver = std::chrono::hours(24 * 3650);
// How long Gloo may take to tell everybody of a lost connection whom it does tell.
constexpr std::chrono::seconds kUntilTold{2};

Error lost(int rank) {
  return Error(ErrorCode::kPeerLost, (rank < 0 ? "another rank" : "rank " + std::to_string(rank)) +
                                         " closed its connection, because it died or left the group");
}

}  // namespace

GlooPeers::GlooPeers(const std::shared_ptr<::gloo::Context>& context, int rank, int size)
    : rank_(rank),
      size_(size),
      received_(static_cast<std::size_t>(size)),
      incoming_(context->createUnboundBuffer(received_.data(), received_.size())),
      outgoing_(context->createUnboundBuffer(&closed_byte_, sizeof closed_byte_)),
      over_(size == 1) {
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    try {
      incoming_->recv(other, kClosedSlot, static_cast<std::size_t>(other), 1);
    } catch (const std::exception&) {
      status_.lost = lost(other);
      over_ = true;
    }
  }
}

GlooPeers::~GlooPeers() {
  stop();
}

void GlooPeers::send_closed() {
  const net::SigpipeBlocked blocked;
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    try {
      outgoing_->send(other, kClosedSlot);
    } catch (const std::exception&) {
      // It has gone itself.
    }
  }
}

void GlooPeers::watch(std::function<void(const Error&)> on_lost) {
  const std::lock_guard<std::mutex> lock(mutex_);
  on_lost_ = std::move(on_lost);
  start();
}

GlooPeers::Status GlooPeers::status() {
  const std::lock_guard<std::mutex> lock(mutex_);
  start();
  return status_;
}

GlooPeers::Place GlooPeers::listen(Listener listener) {
  const std::lock_guard<std::mutex> lock(mutex_);
  start();
  listener(status_);
  return listeners_.insert(listeners_.end(), std::move(listener));
}

void GlooPeers::remove(Place place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  listeners_.erase(place);
}

// With the lock.
void GlooPeers::start() {
  if (thread_.joinable() || over_ || stopping_) return;
  thread_ = start_own_thread("tandem-peers", [self = shared_from_this()] { self->serve(); });
}

void GlooPeers::serve() {
  for (;;) {
    std::optional<std::string> broken;
    try {
      incoming_->waitRecv(nullptr, kForEver);
    } catch (const std::exception& error) {
      broken = error.what();
    }
    if (!take_in(broken ? &*broken : nullptr)) continue;
    if (broken) tell_late();
    return;
  }
}

void GlooPeers::tell_late() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (stopped_.wait_for(lock, kUntilTold, [this] { return stopping_; }) || !on_lost_) return;
  const Error lost = *status_.lost;
  lock.unlock();
  on_lost_(lost);
}

// Whether that was the last word.
bool GlooPeers::take_in(const std::string* broken) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) return true;
  if (broken) {
    status_.lost = lost(rank_of_ ? rank_of_(*broken) : -1);
  }
  int closed = 0;
  for (int other = 0; other < size_; ++other) {
    if (received_[other] == 0) continue;
    ++closed;
    if (!status_.closed) status_.closed = shm::closed_by(other);
  }
  status_.all_closed = closed == size_ - 1;
  over_ = broken || status_.all_closed;
  for (const Listener& listener : listeners_) listener(status_);
  return over_;
}

void GlooPeers::stop() {
  std::thread thread;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
  }
  stopped_.notify_all();
  if (!thread.joinable()) return;
  incoming_->abortWaitRecv();
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();  // the last user of the group was told on this thread, which is about to end
  } else {
    thread.join();
  }
}

}  // namespace tandem
