#include "comm/group_state.h"

#include <ATen/core/ivalue.h>
#include <arpa/inet.h>

#include <atomic>

namespace tandem {

using c10::ivalue::Future;

class GuardedWork final : public c10d::Work {
 public:
  GuardedWork(std::shared_ptr<GroupState> state, c10::intrusive_ptr<c10d::Work> inner, std::string collective,
              std::function<void()> finish)
      : c10d::Work(state->rank(), inner->retrieveOpType()),
        state_(std::move(state)),
        inner_(std::move(inner)),
        collective_(std::move(collective)),
        finish_(std::move(finish)),
        future_(c10::make_intrusive<Future>(inner_->getFuture()->elementType())) {}

  bool wait(std::chrono::milliseconds timeout) override {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto done = [this] { return completed_; };
    if (timeout == kNoTimeout) {
      cv_.wait(lock, done);
    } else if (!cv_.wait_for(lock, timeout, done)) {
      throw Error(ErrorCode::kTimeout, collective_ + " on group '" + state_->name() + "' (rank " +
                                           std::to_string(state_->rank()) + " of " + std::to_string(state_->size()) +
                                           ") is not done after " + std::to_string(timeout.count()) +
                                           " ms; it goes on, and can be waited for again");
    }
    // LibTorch set it under a lock that thread sanitizers do not see; ended_, which they see, came before.
    const std::exception_ptr failure = ended_.load() ? exception_ : nullptr;
    lock.unlock();
    if (failure) std::rethrow_exception(failure);
    inner_->synchronize();
    return true;
  }

  std::vector<at::Tensor> result() override { return inner_->result(); }
  void synchronize() override { inner_->synchronize(); }
  uint64_t getSequencenumber() const override { return inner_->getSequencenumber(); }
  c10::intrusive_ptr<Future> getFuture() override { return future_; }

  const std::string& collective() const { return collective_; }

  // The backend is done.
  void inner_done(Future& inner) {
    std::exception_ptr failure = inner.hasError() ? inner.exception_ptr() : nullptr;
    if (!failure && finish_) {
      try {
        finish_();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    finish_ = nullptr;
    if (failure) failure = state_->describe(failure, collective_);
    state_->settle(*this);
    end(failure, failure ? c10::IValue() : inner.value());
    state_->let_go();
  }

  // Tells those who wait, once.
  void end(std::exception_ptr failure, const c10::IValue& value = {}) {
    if (ended_.exchange(true)) return;
    if (failure) {
      future_->setError(failure);
    } else {
      future_->markCompleted(value);
    }
    finish(failure);
  }

 private:
  const std::shared_ptr<GroupState> state_;
  const c10::intrusive_ptr<c10d::Work> inner_;
  const std::string collective_;
  std::function<void()> finish_;
  const c10::intrusive_ptr<Future> future_;
  std::atomic<bool> ended_{false};
};

void GroupState::check_usable(const std::string& collective) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!broken_) return;
  const bool aborted = broken_->code() == ErrorCode::kAborted;
  throw Error(broken_->code(), collective + ": group '" + name_ + "' can no longer be used" +
                                   (aborted ? ": " : ", for an earlier collective failed: ") + broken_->what());
}

c10::intrusive_ptr<c10d::Work> GroupState::guard(c10::intrusive_ptr<c10d::Work> work, std::string collective,
                                                 std::function<void()> finish) {
  auto guarded = c10::make_intrusive<GuardedWork>(shared_from_this(), work, std::move(collective), std::move(finish));
  std::exception_ptr aborted;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    in_flight_.emplace(guarded.get(), guarded);
    if (broken_ && broken_->code() == ErrorCode::kAborted) aborted = std::make_exception_ptr(*broken_);
  }
  if (aborted) guarded->end(aborted);  // abort() came between check_usable() and here
  work->getFuture()->addCallback([guarded](Future& inner) { guarded->inner_done(inner); });
  return guarded;
}

void GroupState::settle(GuardedWork& work) {
  std::lock_guard<std::mutex> lock(mutex_);
  in_flight_.erase(&work);
  ++being_told_;
}

void GroupState::let_go() {
  std::lock_guard<std::mutex> lock(mutex_);
  --being_told_;
  if (in_flight_.empty() && being_told_ == 0) idle_.notify_all();
}

void GroupState::abort(const std::string& reason, bool quietly) {
  std::vector<std::pair<GuardedWork*, c10::intrusive_ptr<c10d::Work>>> waiting;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!broken_ || broken_->code() != ErrorCode::kAborted) broken_.emplace(ErrorCode::kAborted, reason);
    waiting.assign(in_flight_.begin(), in_flight_.end());
    if (waiting.empty() && quietly) return;
  }
  for (const auto& [work, hold] : waiting) {
    work->end(std::make_exception_ptr(
        Error(ErrorCode::kAborted, work->collective() + " on group '" + name_ + "' was aborted: " + reason)));
  }
  end_connections();
}

bool GroupState::wait_until_idle(std::chrono::milliseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  return idle_.wait_for(lock, timeout, [this] { return in_flight_.empty() && being_told_ == 0; });
}

void GroupState::end_connections() {
  if (listeners_.empty()) return;
  std::vector<net::Endpoint> peers;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_) peers.insert(peers.end(), listeners_[rank].begin(), listeners_[rank].end());
  }
  net::end_connections(listeners_[rank_], peers);
}

std::string GroupState::name_peer(const std::string& message) const {
  // Gloo writes "[address]:port" with the port's bytes as they go over the wire.
  const auto contains = [&](const std::string& address, std::uint16_t port) {
    const std::string place = "[" + address + "]:" + std::to_string(port);
    const auto at = message.find(place);
    if (at == std::string::npos) return false;
    const auto end = at + place.size();
    return end == message.size() || !std::isdigit(static_cast<unsigned char>(message[end]));
  };
  for (std::size_t rank = 0; rank < listeners_.size(); ++rank) {
    for (const auto& [address, port] : listeners_[rank]) {
      if (contains(address, port) || contains(address, htons(port))) return "rank " + std::to_string(rank);
    }
  }
  return size_ == 2 ? "rank " + std::to_string(1 - rank_) : "another rank";
}

std::exception_ptr GroupState::describe(std::exception_ptr failure, const std::string& collective) {
  const std::string where =
      collective + " on group '" + name_ + "' (rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ")";
  std::string text;
  try {
    std::rethrow_exception(failure);
  } catch (const Error&) {
    return failure;
  } catch (const c10::Error& error) {
    // LibTorch refused the arguments: the connections are as good as before.
    return std::make_exception_ptr(
        Error(ErrorCode::kInvalidArgument, where + " failed: " + error.what_without_backtrace()));
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "an unknown failure";
  }
  // Gloo's text begins with "[/source/file.cc:line] ".
  if (text.rfind("[/", 0) == 0 && text.find("] ") != std::string::npos) text = text.substr(text.find("] ") + 2);
  const bool timeout = text.find("imed out") != std::string::npos || text.find("imeout") != std::string::npos;
  Error described =
      timeout ? Error(ErrorCode::kTimeout, where + " timed out waiting for " + name_peer(text) +
                                               ", which did not take part in time: it is stopped, slow or calls other "
                                               "collectives (" +
                                               text + ")")
              : Error(ErrorCode::kPeerLost,
                      where + " failed: " + name_peer(text) +
                          " closed its connection, because it died, ended or lost another rank (" + text + ")");
  bool first = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    first = !broken_;
    if (first) broken_.emplace(described);
    // What fails after that fails because of it.
    if (!first) described = Error(broken_->code(), where + " failed after: " + broken_->what());
  }
  if (first) end_connections();
  return std::make_exception_ptr(described);
}

}  // namespace tandem
