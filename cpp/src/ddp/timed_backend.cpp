#include "ddp/timed_backend.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <utility>

#include "comm/traits_for_cpu.h"

namespace tandem {
namespace {

using c10::ivalue::Future;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;

thread_local bool at_once = false;

// Exchanges that wait until backward has computed everything, and then run on its thread: where a rank has one core,
// what runs beside backward takes that core from it, and what backward needs from its caches.
class LateExchanges : public std::enable_shared_from_this<LateExchanges> {
 public:
  // Within backward, before c10d::Reducer queues the callback that waits for buckets: in the innermost backward, where
  // a checkpoint makes one within another.
  void add(std::uint64_t iteration, std::function<void()> exchange) {
    if (iteration_ != iteration) exchanges_.clear();  // of a backward that failed
    iteration_ = iteration;
    exchanges_.push_back(std::move(exchange));
    const int backward = torch::autograd::get_current_graph_task_id();
    if (backward_ == backward) return;
    backward_ = backward;
    torch::autograd::Engine::get_default_engine().queue_callback([self = shared_from_this()] { self->run(); });
  }

 private:
  void run() {
    backward_ = -1;
    const WaitsAtOnce here;
    for (const auto& exchange : std::exchange(exchanges_, {})) exchange();
  }

  std::uint64_t iteration_ = 0;
  int backward_ = -1;  // the last one that has a callback
  std::vector<std::function<void()>> exchanges_;
};

// The calls that c10d::Reducer makes.
class TimedBackend final : public c10d::Backend {
 public:
  TimedBackend(c10::intrusive_ptr<c10d::Backend> inner, std::shared_ptr<StepTimer> timer, bool late)
      : c10d::Backend(inner->getRank(), inner->getSize()),
        inner_(std::move(inner)),
        timer_(std::move(timer)),
        late_(late ? std::make_shared<LateExchanges>() : nullptr) {}

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
    const auto run_to_end = [begin, done] {
      try {
        begin()->wait();
        done->wait();
      } catch (...) {
        done->setErrorIfNeeded(std::current_exception());
      }
    };
    // Late for all that the reducer exchanges, or for none of it, on every rank: the order is that of the calls.
    const bool in_backward = torch::autograd::get_current_graph_task_id() != -1;
    if (timer_->holds()) {
      timer_->hold(run_to_end);
    } else if (late_ && in_backward && !at_once) {
      late_->add(timer_->iteration(), run_to_end);
    } else {
      begin();
    }
    return c10d::Work::create_from_future(done);
  }

  const c10::intrusive_ptr<c10d::Backend> inner_;
  const std::shared_ptr<StepTimer> timer_;
  const std::shared_ptr<LateExchanges> late_;  // null: they begin at once
};

}  // namespace

ExchangesAtOnce::ExchangesAtOnce() {
  at_once = true;
}

ExchangesAtOnce::~ExchangesAtOnce() {
  at_once = false;
}

c10::intrusive_ptr<c10d::ProcessGroup> timed_group(ProcessGroup& group, std::shared_ptr<StepTimer> timer) {
  const auto& native = group.native();
  auto timed = c10::make_intrusive<c10d::ProcessGroup>(native->getRank(), native->getSize());
  const auto type = native->getBackendType();
  timed->setDefaultBackend(type);
  timed->setBackend(c10::kCPU, type,
                    c10::make_intrusive<TimedBackend>(native->getBackend(c10::kCPU), std::move(timer),
                                                      traits_for_cpu(group).lacks_cores));
  return timed;
}

std::int64_t bytes_to_exchange(const at::Tensor& gradients) {
  if (gradients.layout() == at::kStrided) return static_cast<std::int64_t>(gradients.nbytes());
  return static_cast<std::int64_t>(gradients._indices().nbytes() + gradients._values().nbytes());
}

}  // namespace tandem
