// One way of a batch through a schedule.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/messenger.h"
#include "pipeline/parts.h"

namespace tandem {

class PipelinePass {
 public:
  using Tensors = std::vector<at::Tensor>;
  enum class Purpose { kTrain, kLoss, kOutputs };

  PipelinePass(PipelineParts& parts, Purpose purpose, const Tensors& inputs, const Tensors& targets);

  // Goes through all actions of this rank, also after a failure, when there is nothing left to compute: then what others
  // wait for is that it failed. Errors: what messages throw.
  void run();

  // The first failure that this rank has, or has heard of.
  const std::shared_ptr<const Error>& failure() const { return failure_; }
  // Of the last stage, where this rank has it.
  double loss() const { return loss_; }
  // Of the batch, on the rank that has the last stage, in a pass for outputs.
  const Tensors& outputs() const { return joined_; }

 private:
  struct Saved {
    Tensors inputs;   // those that require a gradient
    Tensors outputs;  // on the last stage the loss
  };
  // Gives the number of rows.
  std::int64_t cut(const Tensors& batch, const char* what, std::vector<Tensors>* pieces);
  std::vector<PipelineAction> actions_of(Purpose purpose) const;
  StageMessage forward(const PipelineAction& action, StageMessage message);
  void backward(const PipelineAction& action, StageMessage message);
  void join_outputs();
  at::Tensor loss_of(const Tensors& outputs, int micro_batch, const StageMessage& message);
  void trace(const PipelineAction& action, std::chrono::steady_clock::time_point begun) const;
  bool is_last(int stage) const { return stage + 1 == parts_.options.schedule.stages(); }
  DataParallelReducer* reducer_of(int stage) const;

  PipelineParts& parts_;
  const Purpose purpose_;
  std::vector<Tensors> inputs_, targets_;  // of each micro-batch
  std::int64_t rows_ = 0, target_rows_ = 0;
  std::shared_ptr<const Error> failure_;
  const std::vector<PipelineAction> actions_;
  std::map<std::pair<int, int>, Saved> saved_;  // by stage and micro-batch, between forward and backward
  std::map<int, int> backwards_;                // how many each stage has made
  bool is_sent_ = false;                        // the result of this action
  double loss_ = 0;
  std::vector<Tensors> outputs_;  // of each micro-batch
  Tensors joined_;
  std::optional<StageMessenger> messenger_;
};

}  // namespace tandem
