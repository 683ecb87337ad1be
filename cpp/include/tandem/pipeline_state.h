// Checkpoints of a pipeline: they hold the whole model under its own names, and load however it is cut.
//
//   folder.save(step, [&] { return tandem::pipeline_content(pipeline, optimizer.get()); });
//   if (auto last = folder.load(tandem::pipeline_request(pipeline))) {
//     folder.together([&] { tandem::load_pipeline(pipeline, *last, optimizer.get()); });
//   }
#pragma once

#include "tandem/checkpoint.h"
#include "tandem/export.h"
#include "tandem/optim.h"
#include "tandem/pipeline.h"

namespace tandem {

// What this rank saves of its stages: in the section "model" parameters and buffers, in "optimizer" what an optimizer of
// this rank's parameters remembers of each, as "layer0.weight.momentum_buffer". Of tied parameters the lowest stage's rank
// gives it, of replicas the first, but of a ZeroRedundancyOptimizer each its share. Shares storage; further sections and
// values are the program's to add. Make it in the save's function, so that all ranks hear of what one fails of. Errors:
// kInvalidArgument for an optimizer with parameters that are of no stage, kUnsupported for one that remembers what is of no
// single parameter: LBFGS, PostLocalSGDOptimizer.
TANDEM_API CheckpointContent pipeline_content(const Pipeline& pipeline, const optim::Optimizer* optimizer = nullptr);

// Has a rank read the tensors of its own stages alone, of these two sections and of whatever others there are.
TANDEM_API CheckpointRequest pipeline_request(const Pipeline& pipeline);

// Copies what a checkpoint has into the stages, and into the optimizer; where the checkpoint has nothing of the optimizer, as
// before its first step, it remembers nothing. Run it in CheckpointFolder::together(), so that all ranks hear of what one
// fails of. Errors: kInvalidArgument that lists what is missing or of another shape or dtype.
TANDEM_API void load_pipeline(Pipeline& pipeline, const Checkpoint& checkpoint, optim::Optimizer* optimizer = nullptr);

}  // namespace tandem
