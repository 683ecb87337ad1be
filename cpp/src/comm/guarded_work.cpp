#include "comm/guarded_work.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <set>

#include "comm/flight_recorder.h"
#include "comm/group_state.h"
#include "trace/json.h"
#include "trace/recorder.h"

namespace tandem {

using c10::ivalue::Future;

namespace {

// Where tensors are on GPUs, what the backend queued there has to be done before `finish` reads it, and what `finish`
// queues before anyone is told.
void synchronize_gpus(const std::vector<at::Tensor>& tensors) {
  std::set<c10::DeviceIndex> devices;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.is_cuda()) devices.insert(tensor.device().index());
  }
  for (const c10::DeviceIndex device : devices) c10::impl::VirtualGuardImpl(c10::kCUDA).synchronizeDevice(device);
}

}  // namespace

GuardedWork::GuardedWork(std::shared_ptr<GroupState> state, Collective collective, Inner inner,
                         std::function<void()> finish, const Helpers* helpers)
    : c10d::Work(state->rank(), inner.front()->retrieveOpType()),
      state_(std::move(state)),
      collective_(std::move(collective)),
      inner_(std::move(inner)),
      finish_(std::move(finish)),
      is_waited_(helpers != nullptr),
      waiters_(helpers ? helpers->waiters : nullptr),
      reaper_(helpers ? helpers->reaper : nullptr),
      future_(c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()))),
      pending_(inner_.size()) {}

c10::intrusive_ptr<GuardedWork> GuardedWork::start(std::shared_ptr<GroupState> state, Collective collective,
                                                   Inner inner, std::function<void()> finish, bool runs_when_waited) {
  auto work =
      c10::make_intrusive<GuardedWork>(state, std::move(collective), std::move(inner), std::move(finish), nullptr);
  work->runs_when_waited_ = runs_when_waited;
  state->add(*work);
  for (const auto& one : work->inner_) {
    one->getFuture()->addCallback(
        [work](Future& future) {
          work->inner_done(future.hasError() ? future.exception_ptr() : nullptr, is_over(work->collective_));
        });
  }
  return work;
}

c10::intrusive_ptr<GuardedWork> GuardedWork::start_waited(std::shared_ptr<GroupState> state, Collective collective,
                                                          Inner inner, const Helpers& helpers) {
  auto work = c10::make_intrusive<GuardedWork>(state, std::move(collective), std::move(inner), nullptr, &helpers);
  state->add(*work);
  return work;
}

bool GuardedWork::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout && claim()) {
    wait_for_inner();
  } else {
    have_it_waited_for();
  }
  if (timeout == kNoTimeout && runs_when_waited_) {
    for (const auto& one : inner_) {
      try {
        one->wait();
      } catch (const std::exception&) {
        // Its future says so, too, and is asked.
      }
    }
  }
  std::unique_lock<std::mutex> lock(mutex_);
  const auto done = [this] { return completed_; };
  if (timeout == kNoTimeout) {
    cv_.wait(lock, done);
  } else if (!cv_.wait_for(lock, timeout, done)) {
    throw Error(ErrorCode::kTimeout, state_->describe(collective_) + ", is not done after a wait of " +
                                         std::to_string(timeout.count()) +
                                         " ms; it goes on, and can be waited for again");
  }
  // LibTorch set it under a lock that thread sanitizers do not see; ended_, which they see, came before.
  const std::exception_ptr failure = ended_.load() ? exception_ : nullptr;
  lock.unlock();
  if (failure) std::rethrow_exception(failure);
  synchronize();
  return true;
}

bool GuardedWork::isCompleted() {
  have_it_waited_for();
  return c10d::Work::isCompleted();
}

void GuardedWork::synchronize() {
  for (const auto& one : inner_) one->synchronize();
}

int GuardedWork::sourceRank() const {
  return inner_.front()->sourceRank();
}

c10::intrusive_ptr<Future> GuardedWork::getFuture() {
  have_it_waited_for();
  return future_;
}

void GuardedWork::have_it_waited_for() {
  hand_to(waiters_);
}

void GuardedWork::have_it_reaped() {
  hand_to(reaper_);
}

void GuardedWork::hand_to(const std::weak_ptr<Waiters>& helper) {
  // Without helpers the group is gone, and this work was ended with it.
  const auto held = helper.lock();
  if (!held || !claim()) return;
  held->run([self = c10::intrusive_ptr<GuardedWork>::reclaim_copy(this)] { self->wait_for_inner(); });
}

void GuardedWork::interrupt(const Error& reason) {
  end(std::make_exception_ptr(reason));
  if (!is_waited_) return;
  for (const auto& one : inner_) one->abort();
  if (!claim()) return;
  state_->settle(*this);
  state_->let_go();
}

bool GuardedWork::sends_unwatched() const {
  return is_waited_ && std::any_of(inner_.begin(), inner_.end(),
                                   [](const auto& one) { return one->retrieveOpType() == c10d::OpType::SEND; });
}

bool GuardedWork::has_only_sends() const {
  return std::all_of(inner_.begin(), inner_.end(),
                     [](const auto& one) { return one->retrieveOpType() == c10d::OpType::SEND; });
}

bool GuardedWork::may_have_got_through() const {
  return collective_.point_to_point && (has_only_sends() || (is_waited_ && !claimed_));
}

// Gloo tells whoever receives that the peer is gone, but not each send that is under way, which would wait to the end
// of the timeout: receives come first, and once one part has failed the others are not waited for.
void GuardedWork::wait_for_inner() {
  bool failed = false;
  for (const bool sends : {false, true}) {
    for (const auto& one : inner_) {
      if ((one->retrieveOpType() == c10d::OpType::SEND) != sends) continue;
      if (sends && failed) one->abort();
      std::exception_ptr failure;
      const auto timeout = state_->timeout();
      const auto deadline = std::chrono::steady_clock::now() + timeout;
      try {
        // False is what Gloo says after an abort, which then has ended this work already.
        if (!one->wait(timeout)) {
          failure = std::make_exception_ptr(Error(ErrorCode::kAborted, "it was aborted"));
        }
      } catch (...) {
        failure = std::current_exception();
      }
      failed = failed || failure;
      inner_done(failure, std::chrono::steady_clock::now() >= deadline);
    }
  }
}

void GuardedWork::inner_done(std::exception_ptr failure, bool is_late) {
  if (failure) {
    failure = state_->explain(failure, collective_, is_late);
    std::lock_guard<std::mutex> lock(failure_mutex_);
    if (!failure_) failure_ = failure;
  }
  if (--pending_ == 0) all_done();
}

void GuardedWork::all_done() {
  if (!failure_ && finish_) {
    try {
      synchronize();
      synchronize_gpus(collective_.tensors);
      finish_();
      synchronize_gpus(collective_.tensors);
    } catch (...) {
      failure_ = state_->explain(std::current_exception(), collective_, /*is_late=*/false);
    }
  }
  finish_ = nullptr;
  state_->settle(*this);
  end(failure_);
  state_->let_go();
}

void GuardedWork::trace(const std::string& failure) const {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : collective_.tensors) {
    if (tensor.layout() == at::kStrided) bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  std::string arguments =
      "\"group\": " + json_quoted(state_->name()) + ", \"sequence\": " + std::to_string(collective_.sequence) +
      ", \"tensors\": " + json_quoted(describe(collective_.tensors)) + ", \"bytes\": " + std::to_string(bytes);
  if (collective_.peer >= 0) arguments += ", \"peer\": " + std::to_string(collective_.peer);
  if (!failure.empty()) arguments += ", \"error\": " + json_quoted(failure);
  TraceRecorder::instance().exchange(collective_.point_to_point ? "message" : "collective", collective_.name,
                                     collective_.begun, std::chrono::steady_clock::now(), std::move(arguments));
}

void GuardedWork::end(std::exception_ptr failure) {
  if (ended_.exchange(true)) return;
  std::string text;
  if (failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      text = error.what();
    }
  }
  FlightRecorder::instance().end(collective_.record, text);
  if (TraceRecorder::instance().on()) trace(text);
  if (failure) {
    future_->setError(failure);
  } else {
    future_->markCompleted(c10::IValue(collective_.tensors));
  }
  c10d::Work::finish(failure);
}

}  // namespace tandem
