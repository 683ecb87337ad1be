#include "comm/group_state.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "comm/flight_recorder.h"
#include "comm/gloo/failure.h"
#include "trace/json.h"
#include "trace/recorder.h"

namespace tandem {
namespace {

// How long a message that its peer has got may take to be known as sent.
constexpr std::chrono::milliseconds kUntilSeen{500};

}  // namespace

std::shared_ptr<GroupState> GroupState::make(std::string name, int rank, int size, std::chrono::milliseconds timeout,
                                             std::shared_ptr<FailureLatch> latch) {
  std::shared_ptr<GroupState> state(new GroupState(std::move(name), rank, size, timeout, std::move(latch)));
  state->latch_->listen([weak = std::weak_ptr<GroupState>(state)](const Error& reason) {
    if (const auto held = weak.lock()) held->interrupt_all(reason);
  });
  return state;
}

void GroupState::check_usable(const char* collective) const {
  if (latch_->is_open()) return;
  const Error reason = latch_->reason_to_end();
  throw Error(reason.code(), std::string(collective) + " on " + whereabouts() +
                                 ", was not begun: the group can no longer be used: " + reason.what());
}

std::function<void()> GroupState::watch_peers(const char* collective) {
  return [this, collective, known = std::optional<Error>()]() mutable {
    check_usable(collective);
    if (known) throw *known;
    if (lost_peer_) known = lost_peer_();
  };
}

Collective GroupState::begin(const char* name, std::vector<at::Tensor> tensors, int peer, bool point_to_point) {
  check_usable(name);
  Collective collective;
  collective.name = name;
  collective.point_to_point = point_to_point;
  collective.peer = peer;
  collective.tensors = std::move(tensors);
  collective.begun = std::chrono::steady_clock::now();
  collective.timeout = timeout_;
  collective.sequence = point_to_point ? messages_++ : collectives_++;
  collective.record = FlightRecorder::instance().begin(name_, rank_, size_, collective);
  return collective;
}

void GroupState::rethrow_failure(const Collective& collective) {
  try {
    std::rethrow_exception(explain(std::current_exception(), collective, is_over(collective)));
  } catch (const std::exception& error) {
    record_end(collective, error.what());
    throw;
  }
}

void GroupState::record_end(const Collective& collective, const std::string& failure) const {
  FlightRecorder::instance().end(collective.record, failure);
  if (!TraceRecorder::instance().on()) return;
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : collective.tensors) {
    if (tensor.layout() == at::kStrided) bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  std::string arguments =
      "\"group\": " + json_quoted(name_) + ", \"sequence\": " + std::to_string(collective.sequence) +
      ", \"tensors\": " + json_quoted(tandem::describe(collective.tensors)) + ", \"bytes\": " + std::to_string(bytes);
  if (collective.peer >= 0) arguments += ", \"peer\": " + std::to_string(collective.peer);
  if (!failure.empty()) arguments += ", \"error\": " + json_quoted(failure);
  TraceRecorder::instance().exchange(collective.point_to_point ? "message" : "collective", collective.name,
                                     collective.begun, std::chrono::steady_clock::now(), std::move(arguments));
}

void GroupState::note_success(c10d::OpType type) {
  using enum c10d::OpType;
  if (type == ALLREDUCE || type == ALLREDUCE_COALESCED || type == ALLGATHER || type == _ALLGATHER_BASE ||
      type == ALLTOALL || type == ALLTOALL_BASE || type == BARRIER) {
    set_complete();
  }
}

std::string GroupState::whereabouts() const {
  return "group '" + name_ + "' (rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ")";
}

std::string GroupState::describe(const Collective& collective) const {
  char age[32];
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - collective.begun;
  std::snprintf(age, sizeof age, "%.3f s", spent.count());
  return tandem::describe(collective) + " on " + whereabouts() + ", begun " + age + " ago";
}

void GroupState::add(GuardedWork& work) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    in_flight_.emplace(&work, c10::intrusive_ptr<GuardedWork>::reclaim_copy(&work));
  }
  if (latch_->is_open()) return;
  // That came between begin() and here.
  const Error reason = latch_->reason_to_end();
  if (work.must_end_with(reason)) work.interrupt(ended_by(reason, work.collective_));
}

Error GroupState::ended_by(const Error& reason, const Collective& collective) const {
  const char* how = reason.code() == ErrorCode::kAborted ? ", was aborted: " : ", failed after: ";
  return Error(reason.code(), describe(collective) + how + reason.what());
}

void GroupState::settle(GuardedWork& work) {
  c10::intrusive_ptr<c10d::Work> hold;  // what goes with it must not go under the lock
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = in_flight_.find(&work);
  if (found != in_flight_.end()) {
    hold = std::move(found->second);
    in_flight_.erase(found);
  }
  ++being_told_;
}

void GroupState::release() {
  std::lock_guard<std::mutex> lock(mutex_);
  --being_told_;
  if (nothing_in_flight() && being_told_ == 0) idle_.notify_all();
}

GroupState::Running::~Running() {
  if (--state_.running_ > 0 || state_.latch_->is_open()) return;
  // Whoever ends the group may wait for it.
  std::lock_guard<std::mutex> lock(state_.mutex_);
  state_.idle_.notify_all();
}

void GroupState::interrupt_all(const Error& reason) {
  std::vector<std::pair<GuardedWork*, c10::intrusive_ptr<c10d::Work>>> ended;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [work, hold] : in_flight_) {
      if (work->must_end_with(reason)) ended.emplace_back(work, hold);
    }
  }
  store_calls_->interrupt();
  for (const auto& [work, hold] : ended) work->interrupt(ended_by(reason, work->collective_));
}

void GroupState::fail(const Error& failure) {
  if (!latch_->fail(failure)) return;
  if (failure.code() == ErrorCode::kTimeout || failure.code() == ErrorCode::kPeerLost) {
    FlightRecorder::instance().write(rank_);
  }
}

void GroupState::end_untold(const Error& lost) {
  std::vector<std::pair<GuardedWork*, c10::intrusive_ptr<c10d::Work>>> left;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    left.assign(in_flight_.begin(), in_flight_.end());
  }
  for (const auto& [work, hold] : left) work->lose_peer(lost);
}

bool GroupState::close(const std::string& reason) {
  bool must_abort = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    must_abort = running_ > 0 || std::any_of(in_flight_.begin(), in_flight_.end(), [](const auto& one) {
                   return !one.first->is_taken_for_done() && !one.first->may_have_got_through();
                 });
  }
  const bool is_first = !was_closed_.exchange(true);
  latch_->close(reason);
  store_calls_->interrupt();
  const auto is_closing = [this] { return latch_->state() == FailureLatch::State::kClosing; };
  if (is_closing() && !must_abort) drain();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!must_abort && nothing_in_flight()) return is_first && is_closing();
  }
  abort(reason);
  return false;
}

// A message that its peer has may still be in flight here, because nobody has looked. What goes on on a GPU may be
// taken for done by the program, which has waited as far as streams go; that ends by itself, or with its timeout.
void GroupState::drain() {
  const auto in_flight = [this] {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::vector<std::pair<GuardedWork*, c10::intrusive_ptr<c10d::Work>>>(in_flight_.begin(), in_flight_.end());
  };
  auto limit = kUntilSeen;
  auto messages = in_flight();
  if (messages.empty()) return;
  for (const auto& [work, hold] : messages) {
    if (work->is_taken_for_done()) {
      work->isCompleted();
      limit = std::max(limit, timeout());
    } else if (!work->may_have_got_through()) {
      return;
    }
  }
  for (const auto& [work, hold] : messages) work->have_it_reaped();
  messages.clear();
  wait_until_idle(limit);
}

bool GroupState::wait_until_idle(std::chrono::milliseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  return idle_.wait_for(lock, timeout, [this] { return nothing_in_flight() && being_told_ == 0; });
}

std::vector<net::Endpoint> GroupState::peers() const {
  std::vector<net::Endpoint> peers;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_) peers.insert(peers.end(), listeners_[rank].begin(), listeners_[rank].end());
  }
  return peers;
}

void GroupState::end_connections() {
  if (!listeners_.empty()) net::end_connections(listeners_[rank_], peers());
}

void GroupState::close_connections() {
  if (send_closed_) send_closed_();
  if (!listeners_.empty()) net::close_connections(listeners_[rank_], peers());
}

int GroupState::rank_in(const std::string& text) const {
  // Gloo writes "[address]:port" with the port's bytes as they go over the wire.
  const auto contains = [&](const std::string& address, std::uint16_t port) {
    const std::string place = "[" + address + "]:" + std::to_string(port);
    const auto at = text.find(place);
    if (at == std::string::npos) return false;
    const auto end = at + place.size();
    return end == text.size() || !std::isdigit(static_cast<unsigned char>(text[end]));
  };
  for (std::size_t rank = 0; rank < listeners_.size(); ++rank) {
    for (const auto& [address, port] : listeners_[rank]) {
      if (contains(address, port) || contains(address, htons(port))) return static_cast<int>(rank);
    }
  }
  return -1;
}

std::string GroupState::name_peer(const std::string& message, const Collective& collective) const {
  if (const int rank = rank_in(message); rank >= 0) return "rank " + std::to_string(rank);
  if (collective.point_to_point && collective.peer >= 0) return "rank " + std::to_string(collective.peer);
  return size_ == 2 ? "rank " + std::to_string(1 - rank_) : "another rank";
}

std::exception_ptr GroupState::explain(std::exception_ptr failure, const Collective& collective, bool is_late) {
  const std::string where = describe(collective);
  const auto error_of = [&](ErrorCode code, const std::string& text) { return Error(code, where + text); };
  std::optional<Error> error, reported;
  try {
    std::rethrow_exception(failure);
  } catch (const Error& known) {
    reported = known;
    if (known.code() == ErrorCode::kAborted) {
      return std::make_exception_ptr(
          error_of(ErrorCode::kAborted, std::string(", was aborted: ") + latch_->reason().value_or(known).what()));
    }
    if (known.code() != ErrorCode::kPeerLost && known.code() != ErrorCode::kTimeout) return failure;
    error = error_of(known.code(), std::string(", failed: ") + known.what());
  } catch (const c10::OutOfMemoryError& no_memory) {
    error = error_of(ErrorCode::kOutOfMemory, std::string(", failed: ") + no_memory.what_without_backtrace());
  } catch (const c10::DistError& lost) {
    // NCCL and the stores.
    error = error_of(is_late ? ErrorCode::kTimeout : ErrorCode::kPeerLost,
                     std::string(is_late ? ", timed out: " : ", failed: ") + lost.what_without_backtrace());
  } catch (const c10::AcceleratorError& broken) {
    error = error_of(ErrorCode::kInternal, std::string(", failed on the GPU: ") + broken.what_without_backtrace());
  } catch (const c10::Error& refusal) {
    // LibTorch refused the arguments: the connections are as good as before.
    return std::make_exception_ptr(
        error_of(ErrorCode::kInvalidArgument, std::string(", failed: ") + refusal.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    error = error_of(ErrorCode::kOutOfMemory, ", failed: this rank has no memory left for it");
  } catch (const std::exception& other) {
    const std::string text = plain_text(other);
    const std::string peer = name_peer(text, collective);
    error = !is_of_gloo(other) ? error_of(ErrorCode::kInternal, ", failed: " + text)
            : is_late          ? error_of(ErrorCode::kTimeout,
                                 ", timed out waiting for " + peer +
                                     ", which did not take part in time: it is stopped, slow or calls other "
                                     "collectives; TORCH_DISTRIBUTED_DEBUG=DETAIL names the ranks and what they call, "
                                     "TANDEM_FLIGHT_RECORD keeps a record (" +
                                     text + ")")
                               : error_of(ErrorCode::kPeerLost,
                                          ", failed: " + peer +
                                              " closed its connection, because it closed the group, died or lost "
                                              "another rank (" +
                                              text + ")");
  } catch (...) {
    error = error_of(ErrorCode::kInternal, ", failed of something that is no std::exception");
  }
  // The backend may have reported it. What fails after that fails because of it.
  if (!latch_->fail(*error) && !(reported && latch_->explain(*reported, *error))) {
    return std::make_exception_ptr(ended_by(latch_->reason_to_end(), collective));
  }
  FlightRecorder::instance().end(collective.record, error->what());
  if (error->code() == ErrorCode::kTimeout || error->code() == ErrorCode::kPeerLost) {
    FlightRecorder::instance().write(rank_);
  }
  return std::make_exception_ptr(*error);
}

}  // namespace tandem
