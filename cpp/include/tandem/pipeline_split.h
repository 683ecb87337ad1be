// Cuts a model into stages that take about the same time.
//
//   auto layers = tandem::pipeline_layers(model);   // of a torch::nn::Sequential, the same on all ranks
//   auto stages = tandem::split_by_time(*group, layers, {x.narrow(0, 0, 4)});   // a micro-batch, on rank 0
//   tandem::Pipeline pipeline(group, stages, options);
#pragma once

#include <torch/nn/modules/container/sequential.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "tandem/export.h"
#include "tandem/exported_program.h"
#include "tandem/pipeline.h"
#include "tandem/pipeline_balance.h"

namespace tandem {

// Each layer as if it were a stage: parameters and buffers have their names in the whole model, "2.weight". Each takes one
// tensor and gives one.
TANDEM_API std::vector<PipelineStage> pipeline_layers(const torch::nn::Sequential& model);

// The parts of an exported program, at least `least` where it has as many: each takes the tensors that the one before
// gives. Errors: those of ExportedProgram::parts().
TANDEM_API std::vector<PipelineStage> pipeline_layers(const ExportedProgram& program, std::size_t least);

// Layers in a row joined to stages, of which first[i] is the first layer of stage i: 0, 3, 5 are three stages. A parameter
// that several layers have gets the name of the first; where they come to be in several stages it is tied in these.
// Errors: kInvalidArgument where `first` does not begin with 0 and rise, for two tensors of one name, and for layers with
// `tied`: it is the tensor itself that they share.
TANDEM_API std::vector<PipelineStage> join_layers(const std::vector<PipelineStage>& layers,
                                                  const std::vector<std::size_t>& first);

struct PipelineSplitOptions {
  int stages_per_rank = 1;  // rank r gets the stages r, r + the group's size, and so on
  int repeats = 5;          // measurements, of which the median counts; one more goes before them
  // The last layer's time has that of the loss, where there is one, as PipelineOptions has it.
  std::function<at::Tensor(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& targets)> loss = {};
  std::vector<at::Tensor> targets = {};  // of the micro-batch
  // All ranks of all replicas of the pipeline, which are cut alike; null: there are none.
  std::shared_ptr<ProcessGroup> everyone = {};
  // Why this rank cannot take part, which it tells all the others in place of measuring: all of them throw it.
  std::shared_ptr<const Error> fault = {};
};

// Seconds for forward and backward of each layer, on a micro-batch. Inputs, gradients, buffers and the CPU's random numbers
// are afterwards what they were. Errors: what a layer fails of, with its number.
TANDEM_API std::vector<double> measure_layers(const std::vector<PipelineStage>& layers,
                                              const std::vector<at::Tensor>& inputs,
                                              const PipelineSplitOptions& options = {});

// Where to cut, for join_layers(). All ranks call it with the layers of the whole model; rank 0 of all, which alone needs
// the inputs, measures, and all take its answer. It is not cut where a message would not hold what crosses. Blocks. Errors, on
// all ranks: those of measure_layers() and balance_stages() on rank 0, kUnsupported where too few cuts are left, which says why
// of each, and kInvalidArgument for ranks that give other numbers of layers or of stages.
TANDEM_API std::vector<std::size_t> where_to_split(ProcessGroup& group, const std::vector<PipelineStage>& layers,
                                                   const std::vector<at::Tensor>& inputs,
                                                   const PipelineSplitOptions& options = {});
// The same, and gives the stages that this rank has of them.
// Source: torchgpipe's balance_by_time (Kim et al., 2020).
TANDEM_API std::vector<PipelineStage> split_by_time(ProcessGroup& group, const std::vector<PipelineStage>& layers,
                                                    const std::vector<at::Tensor>& inputs,
                                                    const PipelineSplitOptions& options = {});

}  // namespace tandem
