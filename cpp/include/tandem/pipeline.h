// Pipeline-parallel training: a model cut into stages, each on a rank of its own, and a batch cut into micro-batches, so
// that stages compute at the same time.
//
//   tandem::PipelineStage stage = tandem::pipeline_stage(group->rank(), part);   // a module holder: this rank's layers
//   tandem::PipelineOptions options;
//   options.schedule = tandem::one_forward_one_backward_schedule(group->size(), 8);
//   options.loss = [](const auto& outputs, const auto& targets) { return torch::mse_loss(outputs[0], targets[0]); };
//   tandem::Pipeline pipeline(group, {stage}, options);
//   double loss = pipeline.step({x}, {y});   // gradients are those of one process on the whole batch
//   optimizer.step();
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tandem/ddp.h"
#include "tandem/device_mesh.h"
#include "tandem/error.h"
#include "tandem/export.h"
#include "tandem/named_tensors.h"
#include "tandem/pipeline_schedule.h"
#include "tandem/process_group.h"

namespace tandem {

struct PipelineParts;

// A part of the model, on the rank that has it.
struct PipelineStage {
  using Tensors = std::vector<at::Tensor>;

  int index = 0;  // among the stages of all ranks, from 0
  // One micro-batch: takes what the stage before gives, the first one the batch's inputs. What it gives goes to the next
  // stage, the last one's to the loss. Tensors that need no gradient (masks, numbers of tokens) pass as well.
  std::function<Tensors(const Tensors& inputs)> forward;
  // Exchanged with replicas, where there are some, and kept in checkpoints, by names of the whole model: no two stages have
  // one of the same name but tied ones.
  NamedTensors parameters;
  NamedTensors buffers = {};
  std::vector<bool> sparse_gradients = {};  // which parameters get sparse gradients; empty: none
  // Names of parameters that are one with those of the same name of other stages, as an embedding and an output layer
  // are: they begin with the lowest stage's values and get the sum of their gradients. Of buffers those that several stages
  // read, which begin alike and nothing more.
  std::vector<std::string> tied = {};
};

namespace internal {
// Errors: kInvalidArgument for none, and for several.
TANDEM_API const at::Tensor& only_input(const std::vector<at::Tensor>& inputs);
}  // namespace internal

// The stage that is `module`: a holder whose forward takes a tensor and gives one. `prefix` is put before its names, so that
// they are those of the whole model: "blocks.1.".
template <typename ModuleHolder>
PipelineStage pipeline_stage(int index, ModuleHolder module, const std::string& prefix = "") {
  PipelineStage stage;
  stage.index = index;
  for (const auto& item : module->named_parameters()) stage.parameters.emplace_back(prefix + item.key(), item.value());
  for (const auto& item : module->named_buffers()) stage.buffers.emplace_back(prefix + item.key(), item.value());
  stage.sparse_gradients = internal::sparse_gradients_of(*module);
  stage.forward = [module](const std::vector<at::Tensor>& inputs) mutable {
    return std::vector<at::Tensor>{module->forward(internal::only_input(inputs))};
  };
  return stage;
}

struct PipelineOptions {
  PipelineSchedule schedule;
  // On the last stage: the loss of one micro-batch, a single number.
  std::function<at::Tensor(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& targets)> loss;
  // Losses are means over a micro-batch's rows: gradients and the loss are then those of the mean over the batch,
  // whatever the sizes of micro-batches. false: those of the sum of the losses.
  bool average_losses = true;
  at::Device device = at::kCPU;  // of the tensors that stages of this rank are given by others

  // The ranks that have this rank's stages in other replicas of the pipeline: their gradients are averaged, once a step,
  // while the last micro-batch's backward runs. Null: there are none. `everyone`: all ranks of all replicas.
  std::shared_ptr<ProcessGroup> replicas, everyone;
  DataParallelOptions data_parallel;  // without average_by_samples, mixed_precision and static_graph

  // What this rank found wrong before it could give its schedule or stages: all ranks then fail with it, and none waits
  // for this one. Null: nothing.
  std::shared_ptr<const Error> fault;
};

// Runs a schedule over messages between the ranks of a group. Receives go on beside computing, on a thread of its own,
// and gradients for the stage before leave as soon as they are there. Shapes may be other ones in each micro-batch.
// Between steps, parameters and gradients are the program's, as after any backward. Not for use by several threads.
//
// A micro-batch that fails has all ranks fail with the same Error, which names stage, micro-batch and rank; without
// replicas the next step can be made, with them their groups are aborted. A lost rank is Error kPeerLost, and ends the
// groups. Source: torch.distributed.pipelining.
class TANDEM_API Pipeline {
 public:
  // All ranks make it together; `stages` are those that the schedule has on this rank, in any order. Blocks: what ranks
  // give is compared. Errors, on all ranks: kInvalidArgument naming the rank whose schedule, stages, parameters or tied
  // parameters do not fit the others', for replicas that do not have its stages, for what DataParallelReducer refuses,
  // and for a schedule that verify() refuses; kUnsupported for options of DistributedDataParallel that do not go together
  // with this, and for tied parameters with sparse gradients.
  Pipeline(std::shared_ptr<ProcessGroup> group, std::vector<PipelineStage> stages, PipelineOptions options);
  // With the stages along one dimension of a mesh, and replicas along the other, where it has two. Errors: as above;
  // kNotFound for a dimension that the mesh does not have.
  Pipeline(const std::shared_ptr<DeviceMesh>& mesh, const std::string& dimension, std::vector<PipelineStage> stages,
           PipelineOptions options);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Forward and backward of a batch: adds to the gradients of the stages' parameters. `inputs` are the first stage's,
  // `targets` the last one's; other ranks give nothing. They are cut along the first dimension, as by tensor_split.
  // Gives the batch's loss, on all ranks; with replicas the mean of theirs. Blocks.
  // Errors: kInvalidArgument for batches of fewer rows than micro-batches, or of tensors with different numbers of rows;
  // what a stage throws, see above; those of messages and collectives.
  double step(const std::vector<at::Tensor>& inputs = {}, const std::vector<at::Tensor>& targets = {});
  // The loss alone, without gradients.
  double evaluate(const std::vector<at::Tensor>& inputs = {}, const std::vector<at::Tensor>& targets = {});
  // Forward alone, without gradients: on the rank of the last stage its outputs for the batch, elsewhere nothing.
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs = {});

  const PipelineSchedule& schedule() const;
  // This rank's, in order of their numbers.
  const std::vector<PipelineStage>& stages() const;
  // Whether this rank is the first of its pipeline with a parameter or buffer of its stages: of a tied one the lowest
  // stage's is.
  bool is_first_with(const std::string& name) const;
  // Whether it is this rank that writes it to a checkpoint: the first, of the first replica. See tandem/pipeline_state.h.
  bool saves(const std::string& name) const;

 private:
  std::unique_ptr<PipelineParts> parts_;
};

}  // namespace tandem
