// In which order the ranks of a pipeline compute, as data.
#pragma once

#include <string>
#include <vector>

#include "tandem/export.h"

namespace tandem {

// One piece of work of a rank. What it needs from other stages is known from it: the activations of a forward come from
// the stage before, the gradients of a backward from the one after.
struct PipelineAction {
  enum class Kind { kForward, kBackward };
  Kind kind = Kind::kForward;
  int stage = 0;
  int micro_batch = 0;
  bool operator==(const PipelineAction&) const = default;
};

// "forward of micro-batch 3 on stage 1"
TANDEM_API std::string describe(const PipelineAction& action);

struct PipelineSchedule {
  std::string name;  // in errors
  int micro_batches = 0;
  std::vector<int> rank_of_stage;                    // in order of stages
  std::vector<std::vector<PipelineAction>> actions;  // of each rank, in its order

  int ranks() const { return static_cast<int>(actions.size()); }
  int stages() const { return static_cast<int>(rank_of_stage.size()); }
};

// Every rank has `stages_per_rank` stages: rank r has r, ranks + r, 2 * ranks + r …
//
// All forwards, then all backwards. Source: Huang et al., GPipe (2019).
TANDEM_API PipelineSchedule gpipe_schedule(int ranks, int micro_batches, int stages_per_rank = 1);
// A backward follows each forward as soon as that is possible, so that a rank keeps the activations of no more
// micro-batches than there are stages from its own on. Source: Narayanan et al., PipeDream (2019).
TANDEM_API PipelineSchedule one_forward_one_backward_schedule(int ranks, int micro_batches);
// The same with several stages a rank: the bubble shrinks by that factor, messages grow by it. Any number of
// micro-batches. Source: Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters (2021).
TANDEM_API PipelineSchedule interleaved_schedule(int ranks, int micro_batches, int stages_per_rank);
// "gpipe", "1f1b" or "interleaved1f1b", the above. Errors: kNotFound, with the names that there are.
TANDEM_API PipelineSchedule make_pipeline_schedule(const std::string& name, int ranks, int micro_batches,
                                                   int stages_per_rank);

// Errors: kInvalidArgument naming the rank and its action when a stage has no rank, or an action belongs to another
// rank, comes twice or not at all, or when ranks would wait for each other in a circle.
TANDEM_API void verify(const PipelineSchedule& schedule);

// What share of the ranks' time is spent waiting, from 0 to 1, if each forward takes 1 unit and each backward
// `backward`, and messages take none: the bubble. The schedule must be one that verify() takes.
TANDEM_API double bubble_share(const PipelineSchedule& schedule, double backward = 2);

}  // namespace tandem
