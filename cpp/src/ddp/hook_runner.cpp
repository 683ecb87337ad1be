#include "ddp/hook_runner.h"

#include <ATen/core/ivalue.h>

namespace tandem {

using c10::ivalue::Future;

void HookRunner::conclude(Job& job) {
  const auto& work = job.exchange.work.native();
  if (!work) {
    job.future->markCompleted(c10::IValue(std::move(job.exchange.result)));
    return;
  }
  work->getFuture()->addCallback([future = job.future, result = job.exchange.result](Future& done) {
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
  auto future = c10::make_intrusive<Future>(c10::TensorType::get());
  try {
    for (auto job = jobs_.begin(); job != jobs_.end();) job = advance(*job) ? jobs_.erase(job) : job + 1;
    Job job{hook_(bucket), future};
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

}  // namespace tandem
