// Averaging models now and then instead of gradients at each step: local SGD.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <utility>
#include <vector>

#include "tandem/export.h"
#include "tandem/optim.h"
#include "tandem/process_group.h"

namespace tandem {

// Counts steps, and averages parameters over ranks in those that it is meant to. All ranks call it together.
// Source: torch.distributed.algorithms.model_averaging.
class TANDEM_API ModelAverager {
 public:
  virtual ~ModelAverager() = default;

  // Once a step, after the optimizer's. True when it averaged. Blocks.
  bool average_parameters(const std::vector<at::Tensor>& parameters);

  std::int64_t step() const { return step_; }
  // To go on from a checkpoint.
  void set_step(std::int64_t step) { step_ = step; }

 protected:
  // Over which group to average after this many steps; null: none.
  virtual ProcessGroup* group_at(std::int64_t step) const = 0;

 private:
  std::int64_t step_ = 0;
};

// Every `period` steps, from step `warmup_steps` on. Errors: kInvalidArgument for a period below 1.
TANDEM_API std::unique_ptr<ModelAverager> periodic_model_averager(std::shared_ptr<ProcessGroup> group,
                                                                  std::int64_t period, std::int64_t warmup_steps = 0);

// Over small groups often and over larger ones less often: (period, this rank's group of that size), the periods and
// the sizes rising. Where several periods divide a step, the largest counts. Errors: kInvalidArgument.
TANDEM_API std::unique_ptr<ModelAverager> hierarchical_model_averager(
    std::vector<std::pair<std::int64_t, std::shared_ptr<ProcessGroup>>> groups, std::int64_t warmup_steps = 0);

// Steps `optimizer`, then averages its parameters by `averager`, whose step is part of the state ("averager.step"). Its
// gradients come from post_local_sgd_hook(). Source: torch.distributed.optim.PostLocalSGDOptimizer.
TANDEM_API std::unique_ptr<optim::Optimizer> post_local_sgd_optimizer(std::shared_ptr<optim::Optimizer> optimizer,
                                                                      std::shared_ptr<ModelAverager> averager);

}  // namespace tandem
