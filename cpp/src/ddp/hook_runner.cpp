#include "ddp/hook_runner.h"

#include <ATen/core/ivalue.h>

#include "comm/device_future.h"
#include "ddp/timed_backend.h"

namespace tandem {

using c10::ivalue::Future;

HookRunner::Job HookRunner::begin(c10d::GradBucket& bucket, const c10::intrusive_ptr<Future>& future) {
  const StepTimer::Ticket ticket =
      timer_ ? timer_->begin_exchange(bytes_to_exchange(bucket.getBufferRef())) : StepTimer::Ticket();
  return {hook_(bucket), future, ticket};
}

void HookRunner::conclude(Job& job) {
  const auto& work = job.exchange.work.native();
  if (!work) {
    if (timer_) timer_->end_exchange(job.ticket);
    job.future->markCompleted(c10::IValue(std::move(job.exchange.result)));
    return;
  }
  // The end is noted before anybody can have waited for it.
  work->getFuture()->addCallback(
      [timer = timer_, future = job.future, ticket = job.ticket, result = job.exchange.result](Future& done) {
        if (timer) timer->end_exchange(ticket);
        if (done.hasError()) {
          future->setError(done.exception_ptr());
        } else {
          future->markCompleted(c10::IValue(result));
        }
      });
}

bool HookRunner::advance(Job& job) {
  if (job.exchange.work.native()) job.exchange.work.wait();
  // What runs may hold its own function.
  const auto then = std::move(job.exchange.then);
  job.exchange = then();
  if (job.exchange.then) return false;
  conclude(job);
  return true;
}

c10::intrusive_ptr<Future> HookRunner::runHook(c10d::GradBucket& bucket) {
  const at::NoGradGuard no_grad;
  auto future = make_future(c10::TensorType::get(), {bucket.getBufferRef()});
  if (timer_ && timer_->holds()) {
    timer_->hold([this, bucket, future] { run_alone(bucket, future); });
    return future;
  }
  try {
    for (auto job = jobs_.begin(); job != jobs_.end();) job = advance(*job) ? jobs_.erase(job) : job + 1;
    Job job = begin(bucket, future);
    if (job.exchange.then) {
      jobs_.push_back(std::move(job));
    } else {
      conclude(job);
    }
    while (!jobs_.empty() && (bucket.isLast() || !overlaps_)) {
      while (!advance(jobs_.front())) {
      }
      jobs_.pop_front();
    }
  } catch (...) {
    for (const Job& job : jobs_) job.future->setErrorIfNeeded(std::current_exception());
    jobs_.clear();
    throw;
  }
  return future;
}

void HookRunner::run_alone(c10d::GradBucket bucket, const c10::intrusive_ptr<Future>& future) {
  const at::NoGradGuard no_grad;
  try {
    Job job = begin(bucket, future);
    if (job.exchange.then) {
      while (!advance(job)) {
      }
    } else {
      conclude(job);
    }
    future->wait();
  } catch (...) {
    future->setErrorIfNeeded(std::current_exception());
  }
}

}  // namespace tandem
