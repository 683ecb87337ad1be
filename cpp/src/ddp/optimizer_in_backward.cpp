#include "ddp/optimizer_in_backward.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/engine.h>

namespace tandem {
namespace {

// While it lives, only some parameters have a gradient, so that an optimizer steps them alone.
class OnlyTheseGradients {
 public:
  OnlyTheseGradients(const std::vector<at::Tensor>& all, const std::vector<std::pair<at::Tensor, at::Tensor>>& kept)
      : all_(all), kept_(kept) {
    for (const at::Tensor& parameter : all_) hidden_.push_back(std::exchange(parameter.mutable_grad(), at::Tensor()));
    for (const auto& [parameter, gradient] : kept_) parameter.mutable_grad() = gradient;
  }
  ~OnlyTheseGradients() {
    for (std::size_t i = 0; i < all_.size(); ++i) all_[i].mutable_grad() = std::move(hidden_[i]);
    for (const auto& [parameter, gradient] : kept_) parameter.mutable_grad() = at::Tensor();  // used up
  }
  OnlyTheseGradients(const OnlyTheseGradients&) = delete;
  OnlyTheseGradients& operator=(const OnlyTheseGradients&) = delete;

 private:
  const std::vector<at::Tensor>& all_;
  const std::vector<std::pair<at::Tensor, at::Tensor>>& kept_;
  std::vector<at::Tensor> hidden_;
};

}  // namespace

OptimizerInBackward::OptimizerInBackward(std::shared_ptr<optim::Optimizer> optimizer,
                                         const std::vector<at::Tensor>& exchanged, std::optional<Usage> usage,
                                         std::function<void(const std::vector<at::Tensor>&)> before_step)
    : optimizer_(std::move(optimizer)), usage_(std::move(usage)), before_step_(std::move(before_step)) {
  for (const at::Tensor& parameter : exchanged) exchanged_.insert(parameter.unsafeGetTensorImpl());
}

const std::vector<at::Tensor>& OptimizerInBackward::others() {
  for (; looked_at_ < optimizer_->parameters().size(); ++looked_at_) {
    const at::Tensor& parameter = optimizer_->parameters()[looked_at_];
    if (exchanged_.count(parameter.unsafeGetTensorImpl()) == 0) others_.push_back(parameter);
  }
  return others_;
}

CommHook OptimizerInBackward::after(CommHook hook) {
  // Weak: the hook belongs to what owns this.
  return [weak = weak_from_this(), hook = std::move(hook)](c10d::GradBucket& bucket) {
    if (const auto self = weak.lock()) self->queue_end();
    return then_convert(hook(bucket), [weak, given = bucket](const at::Tensor& result) {
      if (const auto self = weak.lock()) self->step_bucket(given, result);
      return result;
    });
  };
}

void OptimizerInBackward::queue_end() {
  if ((!usage_ && others().empty()) || std::exchange(queued_, true)) return;
  auto& engine = torch::autograd::Engine::get_default_engine();
  // Twice, to come after the reducer's own end, which is queued later in backward.
  engine.queue_callback([weak = weak_from_this(), &engine] {
    engine.queue_callback([weak] {
      if (const auto self = weak.lock()) self->end();
    });
  });
}

void OptimizerInBackward::begin_shadow() {
  queued_ = true;
}

void OptimizerInBackward::step_bucket(const c10d::GradBucket& bucket, const at::Tensor& averaged) {
  const std::vector<at::Tensor> parameters = bucket.getParameters();
  before_step_(parameters);
  const std::vector<at::Tensor> gradients = gradients_of(bucket, averaged);
  std::vector<std::pair<at::Tensor, at::Tensor>> now;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool waits = usage_ && !usage_->here(parameters[i]);
    (waits ? waiting_ : now).emplace_back(parameters[i], gradients[i]);
  }
  step(now);
}

void OptimizerInBackward::end() {
  queued_ = false;
  const auto waiting = std::exchange(waiting_, {});
  if (!usage_ && others().empty()) return;
  std::vector<std::pair<at::Tensor, at::Tensor>> now;
  if (usage_) {
    const auto is_used = usage_->anywhere();
    for (const auto& [parameter, gradient] : waiting) {
      if (is_used(parameter)) now.emplace_back(parameter, gradient);
    }
    usage_->forget();
  }
  for (const at::Tensor& parameter : others()) {
    if (parameter.grad().defined()) now.emplace_back(parameter, parameter.grad());
  }
  step(now);
}

void OptimizerInBackward::step(const std::vector<std::pair<at::Tensor, at::Tensor>>& stepped) {
  const at::NoGradGuard no_grad;
  const OnlyTheseGradients only(optimizer_->parameters(), stepped);
  optimizer_->step();
}

void OptimizerInBackward::forget() {
  queued_ = false;
  waiting_.clear();
  if (usage_) usage_->forget();
}

}  // namespace tandem
