// Memory for time: a part of the forward pass whose intermediate tensors are computed again when backward needs them.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <vector>

#include "tandem/export.h"

namespace tandem::nn {

// Open while a function runs forward on this thread: what LibTorch's operators save for backward meanwhile is not kept.
// When backward first needs some of it, the function runs again, on the thread that needs it, with the forward's random
// numbers, autocast and grad mode; all that it saved is then there, and is released as backward uses it up. So the
// gradients, those of tensors that the function captured among them, are those of a pass without this.
//
//   std::vector<at::Tensor> outputs;
//   {
//     ActivationCheckpoint checkpoint([block](const auto& inputs) { block->forward(inputs[0]); }, {x});
//     outputs = {block->forward(x)};
//   }
//
// The function must compute the same each time from inputs that nobody changed in place. It is kept until the graph
// that it was part of is gone, so it must not hold what it gave. Checkpoints nest: the inner function's inputs are
// computed again with the outer's. Instances on one thread end in the reverse order of their beginning. Source:
// torch.utils.checkpoint with use_reentrant=False, without its early stop.
class TANDEM_API ActivationCheckpoint {
 public:
  using Function = std::function<void(const std::vector<at::Tensor>& inputs)>;

  // The inputs, which may be undefined, are what `function` is given: detached, requiring grad where they did.
  // Without preserve_random a function that draws no random numbers saves the cost of keeping their state.
  // Throws tandem::Error (kUnsupported) in a process whose autograd engine is another's, such as Python's.
  ActivationCheckpoint(Function function, const std::vector<at::Tensor>& inputs, bool preserve_random = true);
  ~ActivationCheckpoint();
  ActivationCheckpoint(const ActivationCheckpoint&) = delete;
  ActivationCheckpoint& operator=(const ActivationCheckpoint&) = delete;

 private:
  class Forward;
  std::unique_ptr<Forward> forward_;
};

}  // namespace tandem::nn
