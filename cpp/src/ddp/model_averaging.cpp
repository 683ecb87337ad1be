#include "tandem/model_averaging.h"

#include <ATen/ATen.h>

#include "base/invalid.h"
#include "nn/same_kind.h"
#include "tandem/error.h"

namespace tandem {
namespace {

void average(const std::vector<at::Tensor>& parameters, ProcessGroup& group) {
  at::NoGradGuard no_grad;
  const auto kinds = by_kind(parameters);
  std::vector<std::pair<Work, at::Tensor>> flat;
  for (const auto& [kind, tensors] : kinds) {
    std::vector<at::Tensor> parts;
    for (const at::Tensor& tensor : tensors) parts.push_back(tensor.reshape({-1}));
    const at::Tensor joined = at::cat(parts).div_(group.size());
    flat.emplace_back(group.all_reduce_async(joined), joined);
  }
  std::size_t next = 0;
  for (const auto& [kind, tensors] : kinds) {
    auto& [work, joined] = flat[next++];
    work.wait();
    std::int64_t at = 0;
    for (const at::Tensor& tensor : tensors) {
      at::Tensor(tensor).copy_(joined.narrow(0, at, tensor.numel()).view(tensor.sizes()));
      at += tensor.numel();
    }
  }
}

class Periodic final : public ModelAverager {
 public:
  Periodic(std::shared_ptr<ProcessGroup> group, std::int64_t period, std::int64_t warmup)
      : group_(std::move(group)), period_(period), warmup_(warmup) {}

 protected:
  ProcessGroup* group_at(std::int64_t step) const override {
    return step >= warmup_ && (step - warmup_) % period_ == 0 ? group_.get() : nullptr;
  }

 private:
  const std::shared_ptr<ProcessGroup> group_;
  const std::int64_t period_, warmup_;
};

class Hierarchical final : public ModelAverager {
 public:
  Hierarchical(std::vector<std::pair<std::int64_t, std::shared_ptr<ProcessGroup>>> groups, std::int64_t warmup)
      : groups_(std::move(groups)), warmup_(warmup) {}

 protected:
  ProcessGroup* group_at(std::int64_t step) const override {
    if (step < warmup_) return nullptr;
    for (auto level = groups_.rbegin(); level != groups_.rend(); ++level) {
      if (step % level->first == 0) return level->second.get();
    }
    return nullptr;
  }

 private:
  const std::vector<std::pair<std::int64_t, std::shared_ptr<ProcessGroup>>> groups_;
  const std::int64_t warmup_;
};

constexpr const char* kAveragerStep = "averager.step";

class PostLocalSgd final : public optim::Optimizer {
 public:
  PostLocalSgd(std::shared_ptr<optim::Optimizer> optimizer, std::shared_ptr<ModelAverager> averager)
      : Optimizer({}), optimizer_(std::move(optimizer)), averager_(std::move(averager)) {}

  const char* type() const override { return "PostLocalSGDOptimizer"; }
  void step() override {
    optimizer_->step();
    averager_->average_parameters(optimizer_->parameters());
  }
  at::Tensor step(const Closure& closure) override {
    const at::Tensor loss = optimizer_->step(closure);
    averager_->average_parameters(optimizer_->parameters());
    return loss;
  }
  std::size_t group_count() const override { return optimizer_->group_count(); }
  std::vector<std::size_t> group_sizes() const override { return optimizer_->group_sizes(); }
  std::vector<std::string> option_names() const override { return optimizer_->option_names(); }
  void add_group(optim::ParameterGroup group) override { optimizer_->add_group(std::move(group)); }
  // The optimizer underneath may be given groups by itself.
  const std::vector<at::Tensor>& parameters() const override { return optimizer_->parameters(); }
  using Optimizer::get_option;
  using Optimizer::set_option;
  void set_option(const Option& option) override { optimizer_->set_option(option); }
  void set_options(std::size_t group, const std::vector<Option>& options) override {
    optimizer_->set_options(group, options);
  }
  at::IValue get_option(std::size_t group, const std::string& name) const override {
    return optimizer_->get_option(group, name);
  }

  std::vector<std::pair<std::string, at::Tensor>> state() const override {
    auto all = optimizer_->state();
    all.emplace_back(kAveragerStep, at::full({}, averager_->step(), at::TensorOptions(at::kLong)));
    return all;
  }
  void load_state(const std::vector<std::pair<std::string, at::Tensor>>& state) override {
    std::vector<std::pair<std::string, at::Tensor>> inner;
    std::int64_t step = averager_->step();
    for (const auto& entry : state) {
      if (entry.first != kAveragerStep) {
        inner.push_back(entry);
      } else if (entry.second.numel() != 1) {
        invalid("PostLocalSGDOptimizer: state 'averager.step' must be one number");
      } else {
        step = entry.second.item<std::int64_t>();
      }
    }
    optimizer_->load_state(inner);
    averager_->set_step(step);
  }

 private:
  const std::shared_ptr<optim::Optimizer> optimizer_;
  const std::shared_ptr<ModelAverager> averager_;
};

}  // namespace

bool ModelAverager::average_parameters(const std::vector<at::Tensor>& parameters) {
  ProcessGroup* group = group_at(step_++);
  if (group) average(parameters, *group);
  return group != nullptr;
}

std::unique_ptr<ModelAverager> periodic_model_averager(std::shared_ptr<ProcessGroup> group, std::int64_t period,
                                                       std::int64_t warmup_steps) {
  if (!group) invalid("a model averager needs a process group");
  if (period < 1) invalid("the period is " + std::to_string(period) + "; it must be at least 1");
  if (warmup_steps < 0) invalid("warmup_steps is " + std::to_string(warmup_steps) + "; it must be at least 0");
  return std::make_unique<Periodic>(std::move(group), period, warmup_steps);
}

std::unique_ptr<ModelAverager> hierarchical_model_averager(
    std::vector<std::pair<std::int64_t, std::shared_ptr<ProcessGroup>>> groups, std::int64_t warmup_steps) {
  if (groups.empty()) invalid("a hierarchical model averager needs at least one period with its group");
  if (warmup_steps < 0) invalid("warmup_steps is " + std::to_string(warmup_steps) + "; it must be at least 0");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& [period, group] = groups[i];
    if (!group) invalid("period " + std::to_string(period) + " has no process group");
    if (period < 1) invalid("a period is " + std::to_string(period) + "; it must be at least 1");
    if (i > 0 && (period <= groups[i - 1].first || group->size() < groups[i - 1].second->size())) {
      invalid("periods and the sizes of their groups must rise; period " + std::to_string(period) + " of " +
              std::to_string(group->size()) + " ranks comes after period " + std::to_string(groups[i - 1].first) +
              " of " + std::to_string(groups[i - 1].second->size()));
    }
  }
  return std::make_unique<Hierarchical>(std::move(groups), warmup_steps);
}

std::unique_ptr<optim::Optimizer> post_local_sgd_optimizer(std::shared_ptr<optim::Optimizer> optimizer,
                                                           std::shared_ptr<ModelAverager> averager) {
  if (!optimizer || !averager) invalid("PostLocalSGDOptimizer needs an optimizer and a model averager");
  return std::make_unique<PostLocalSgd>(std::move(optimizer), std::move(averager));
}

}  // namespace tandem
