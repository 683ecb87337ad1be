#include "comm/guarded_work.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <set>
#include <thread>

#include "comm/device_future.h"
#include "comm/group_state.h"
#include "tandem/process_group.h"

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
      future_(make_list_future(collective_.tensors)),
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
  // Of these a long one's data is asked for by whoever waits, and its sender may need that.
  if (work->has_any_source() && !WaitsAtOnce::now()) work->have_it_waited_for();
  return work;
}

c10::intrusive_ptr<GuardedWork> GuardedWork::start_on_stream(std::shared_ptr<GroupState> state, Collective collective,
                                                             c10::intrusive_ptr<c10d::Work> inner) {
  auto work = c10::make_intrusive<GuardedWork>(state, std::move(collective), Inner{std::move(inner)}, nullptr, nullptr);
  work->follows_stream_ = true;
  state->add(*work);
  const auto result = work->inner_.front()->getFutureResult();
  if (!result) return work;
  // The group holds the work until it has ended; after an abort this may never be told.
  const c10::weak_intrusive_ptr<GuardedWork> weak(work);
  result->addCallback([weak](Future& future) {
    const auto work = weak.lock();
    if (!work) return;
    const auto code = static_cast<c10d::WorkResult>(future.hasError() ? 0 : future.constValue().toInt());
    if (!future.hasError() && code == c10d::WorkResult::SUCCESS) return work->stream_done(nullptr, false);
    const bool is_late = code == c10d::WorkResult::TIMEOUT;
    work->stream_done(std::make_exception_ptr(
                          Error(is_late ? ErrorCode::kTimeout : ErrorCode::kPeerLost,
                                is_late ? "a rank did not take part in time" : "a connection to another rank broke")),
                      is_late);
  });
  return work;
}

void GuardedWork::stream_done(std::exception_ptr failure, bool is_late) {
  if (!claimed_.exchange(true)) inner_done(std::move(failure), is_late);
}

void GuardedWork::look_at_stream() {
  try {
    if (inner_.front()->isCompleted()) stream_done(inner_.front()->exception(), is_over(collective_));
  } catch (...) {
    stream_done(std::current_exception(), is_over(collective_));
  }
}

bool GuardedWork::wait_on_stream(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kLook{1};
  const auto begun = std::chrono::steady_clock::now();
  try {
    timeout == kNoTimeout ? static_cast<void>(inner_.front()->wait()) : inner_.front()->synchronize();
  } catch (...) {
    stream_done(std::current_exception(), is_over(collective_));
  }
  was_waited_for_ = true;
  // NCCL's own wait with a limit ends its communicator when that is over.
  while (timeout != kNoTimeout && !isCompleted()) {
    if (std::chrono::steady_clock::now() - begun >= timeout) throw not_yet(timeout);
    std::this_thread::sleep_for(kLook);
  }
  if (ended_.load()) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (exception_) std::rethrow_exception(exception_);
  }
  return true;
}

Error GuardedWork::not_yet(std::chrono::milliseconds timeout) const {
  return Error(ErrorCode::kTimeout, state_->describe(collective_) + ", is not done after a wait of " +
                                        std::to_string(timeout.count()) +
                                        " ms; it goes on, and can be waited for again");
}

bool GuardedWork::wait(std::chrono::milliseconds timeout) {
  if (follows_stream_) return wait_on_stream(timeout);
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
    throw not_yet(timeout);
  }
  // LibTorch set it under a lock that thread sanitizers do not see; ended_, which they see, came before.
  const std::exception_ptr failure = ended_.load() ? exception_ : nullptr;
  lock.unlock();
  if (failure) std::rethrow_exception(failure);
  synchronize();
  return true;
}

bool GuardedWork::isCompleted() {
  if (follows_stream_) look_at_stream();
  have_it_waited_for();
  // As in wait(): whoever looks at the failure next has seen ended_ before.
  return c10d::Work::isCompleted() && ended_.load();
}

void GuardedWork::synchronize() {
  was_waited_for_ = true;
  for (const auto& one : inner_) one->synchronize();
}

int GuardedWork::sourceRank() const {
  return inner_.front()->sourceRank();
}

c10::intrusive_ptr<Future> GuardedWork::getFuture() {
  if (follows_stream_) {
    was_waited_for_ = true;
    return inner_.front()->getFuture();  // which carries the events
  }
  have_it_waited_for();
  return future_;
}

void GuardedWork::have_it_waited_for() {
  hand_to(waiters_);
}

void GuardedWork::have_it_reaped() {
  if (!claimed_) reaped_ = true;
  hand_to(reaper_);
}

void GuardedWork::hand_to(const std::weak_ptr<Waiters>& helper) {
  // Without helpers the group is gone, and this work was ended with it.
  const auto held = helper.lock();
  if (!held || !claim()) return;
  held->run([self = c10::intrusive_ptr<GuardedWork>::reclaim_copy(this)] { self->wait_for_inner(); });
}

void GuardedWork::interrupt(const Error& reason) {
  if (follows_stream_ && reason.code() != ErrorCode::kAborted) look_at_stream();  // it may have ended before
  end(std::make_exception_ptr(reason));
  if (follows_stream_) {
    // What the GPU still does ends with the backend's abort.
    if (claimed_.exchange(true)) return;
    state_->settle(*this);
    state_->release();
    return;
  }
  if (!is_waited_) return;
  for (const auto& one : inner_) one->abort();
  if (!claim()) return;
  state_->settle(*this);
  state_->release();
}

void GuardedWork::lose_peer(const Error& lost) {
  if (is_waited_ || follows_stream_ || ended_.load()) return;
  end(state_->explain(std::make_exception_ptr(lost), collective_, /*is_late=*/false));
}

// On a GPU an abort ends kernels as if they were done, and with the group's failure comes an abort: what has not ended
// by then has failed.
bool GuardedWork::must_end_with(const Error& reason) const {
  return reason.code() == ErrorCode::kAborted || is_untold() || (follows_stream_ && !failing_);
}

void GuardedWork::release_resources() {
  inner_.clear();
  finish_ = nullptr;
}

bool GuardedWork::is_untold() const {
  return is_waited_ && !failing_ && std::any_of(inner_.begin(), inner_.end(), [](const auto& one) {
           const c10d::OpType type = one->retrieveOpType();
           return type == c10d::OpType::SEND || type == c10d::OpType::RECVANYSOURCE;
         });
}

bool GuardedWork::has_any_source() const {
  return std::any_of(inner_.begin(), inner_.end(),
                     [](const auto& one) { return one->retrieveOpType() == c10d::OpType::RECVANYSOURCE; });
}

bool GuardedWork::has_only_sends() const {
  return std::all_of(inner_.begin(), inner_.end(),
                     [](const auto& one) { return one->retrieveOpType() == c10d::OpType::SEND; });
}

bool GuardedWork::may_have_got_through() const {
  return collective_.point_to_point && (has_only_sends() || (is_waited_ && (!claimed_ || reaped_)));
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
    failing_ = true;
    failure = state_->explain(failure, collective_, is_late);
    std::lock_guard<std::mutex> lock(failure_mutex_);
    if (!failure_) failure_ = failure;
  }
  if (--pending_ == 0) all_done();
}

void GuardedWork::all_done() {
  if (!failure_) state_->note_success(inner_.front()->retrieveOpType());
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
  state_->release();
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
  state_->record_end(collective_, text);
  if (follows_stream_) {
    // Nobody has this future, but the backend's.
  } else if (failure) {
    future_->setError(failure);
  } else {
    future_->markCompleted(c10::IValue(collective_.tensors));
  }
  c10d::Work::finish(failure);
}

}  // namespace tandem
