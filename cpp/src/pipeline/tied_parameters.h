// Parameters that several stages have in common.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

#include "tandem/pipeline.h"

namespace tandem {

class TiedParameters {
 public:
  // `stages_of[stage]`: the names of tied parameters of each stage of all ranks. All ranks of the group make it together;
  // ranks that have a parameter in common get a group for it. The lowest stage's values are taken.
  TiedParameters(ProcessGroup& group, const PipelineSchedule& schedule,
                 const std::vector<std::vector<std::string>>& names_of_stages,
                 const std::vector<PipelineStage>& stages);

  // Puts aside what gradients hold from before a pass; end_pass() adds it again, whatever became of the pass.
  void begin_pass();
  void end_pass();
  // Has each gradient be the sum of those of all stages that have the parameter; those that there are not count as zeros. All
  // ranks call it, after a pass that came to its end on all of them. Errors: the collective's, naming the parameter.
  void sum_gradients();
  // After a stage's last backward. Errors: kUnsupported for a sparse gradient, which cannot be summed in place.
  void check_gradients() const;
  // Nobody waits for this rank any more.
  void abort();

 private:
  struct Tied {
    std::string name;
    std::shared_ptr<ProcessGroup> group;  // of the ranks that have it; null: this one alone
    std::vector<at::Tensor> own;          // different tensors, in order of stages
    bool trains = false;                  // the same on all ranks
    std::vector<at::Tensor> before;       // gradients from before the pass
  };
  std::vector<Tied> tied_;  // in order of names
};

}  // namespace tandem
