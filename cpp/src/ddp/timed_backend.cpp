#include "ddp/timed_backend.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace tandem {
namespace {

using c10::ivalue::Future;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;

// The calls that c10d::Reducer makes.
class TimedBackend final : public c10d::Backend {
 public:
  TimedBackend(c10::intrusive_ptr<c10d::Backend> inner, std::shared_ptr<StepTimer> timer)
      : c10d::Backend(inner->getRank(), inner->getSize()), inner_(std::move(inner)), timer_(std::move(timer)) {}

  const std::string getBackendName() const override { return inner_->getBackendName(); }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    return inner_->broadcast(tensors, options);
  }
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    return exchange(tensors, [inner = inner_, options](Tensors& given) { return inner->allreduce(given, options); });
  }
  WorkPtr allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    return exchange(tensors,
                    [inner = inner_, options](Tensors& given) { return inner->allreduce_sparse(given, options); });
  }
  void abort() override { inner_->abort(); }
  void shutdown() override { inner_->shutdown(); }

 private:
  template <typename Start>
  WorkPtr exchange(const Tensors& tensors, Start start) {
    // Gradients. Whole numbers say which parameters were used.
    const bool is_bucket = tensors.size() == 1 && (tensors[0].is_floating_point() || tensors[0].is_complex());
    auto done = c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()));
    // The end is noted before anybody can have waited for it.
    auto begin = [timer = timer_, tensors, is_bucket, start, done]() -> WorkPtr {
      Tensors given = tensors;
      const StepTimer::Ticket ticket =
          is_bucket ? timer->begin_exchange(bytes_to_exchange(given[0])) : StepTimer::Ticket();
      const WorkPtr work = start(given);
      work->getFuture()->addCallback([timer, ticket, done](Future& ended) {
        timer->end_exchange(ticket);
        if (ended.hasError()) {
          done->setError(ended.exception_ptr());
        } else {
          done->markCompleted(ended.value());
        }
      });
      return work;
    };
    if (!timer_->holds()) {
      begin();
    } else {
      timer_->hold([begin, done] {
        try {
          begin()->wait();
          done->wait();
        } catch (...) {
          done->setErrorIfNeeded(std::current_exception());
        }
      });
    }
    return c10d::Work::create_from_future(done);
  }

  const c10::intrusive_ptr<c10d::Backend> inner_;
  const std::shared_ptr<StepTimer> timer_;
};

}  // namespace

c10::intrusive_ptr<c10d::ProcessGroup> timed_group(ProcessGroup& group, std::shared_ptr<StepTimer> timer) {
  const auto& native = group.native();
  auto timed = c10::make_intrusive<c10d::ProcessGroup>(native->getRank(), native->getSize());
  const auto type = native->getBackendType();
  timed->setDefaultBackend(type);
  timed->setBackend(c10::kCPU, type,
                    c10::make_intrusive<TimedBackend>(native->getBackend(c10::kCPU), std::move(timer)));
  return timed;
}

std::int64_t bytes_to_exchange(const at::Tensor& gradients) {
  if (gradients.layout() == at::kStrided) return static_cast<std::int64_t>(gradients.nbytes());
  return static_cast<std::int64_t>(gradients._indices().nbytes() + gradients._values().nbytes());
}

}  // namespace tandem
