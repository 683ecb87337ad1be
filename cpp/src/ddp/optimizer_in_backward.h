// Steps parameters within backward, as soon as their gradients are averaged.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tandem/comm_hook.h"
#include "tandem/optim.h"

namespace tandem {

// Everything is stepped once in a backward that exchanges gradients: a bucket's parameters when it is averaged; at the
// end what no bucket has (the optimizer may hold more than DDP exchanges), and parameters that this rank did not use,
// if another one did. Those that nobody used are left alone, as by a step after backward. All ranks call step() equally
// often, for optimizers that exchange something themselves.
class OptimizerInBackward : public std::enable_shared_from_this<OptimizerInBackward> {
 public:
  // Of parameters that may be unused.
  struct Usage {
    std::function<bool(const at::Tensor&)> here;                       // before backward is over
    std::function<std::function<bool(const at::Tensor&)>()> anywhere;  // at its end
    std::function<void()> forget;                                      // the iteration is over
  };

  // `exchanged`: the parameters that come in buckets. Without `usage` all are used. `before_step` is given a
  // bucket's parameters, of which no more gradients come.
  OptimizerInBackward(std::shared_ptr<optim::Optimizer> optimizer, const std::vector<at::Tensor>& exchanged,
                      std::optional<Usage> usage, std::function<void(const std::vector<at::Tensor>&)> before_step);

  // `hook`, after which what the bucket holds is stepped.
  CommHook after(CommHook hook);

  // The hook is called outside of backward next, by a rank that is out of inputs; then call end().
  void begin_shadow();
  // Steps what is left.
  void end();
  // A backward that failed ends here.
  void forget();

 private:
  void queue_end();
  // Those of the optimizer's parameters, which may become more, that DDP does not exchange.
  const std::vector<at::Tensor>& others();
  void step_bucket(const c10d::GradBucket& bucket, const at::Tensor& averaged);
  void step(const std::vector<std::pair<at::Tensor, at::Tensor>>& stepped);

  const std::shared_ptr<optim::Optimizer> optimizer_;
  const std::optional<Usage> usage_;
  const std::function<void(const std::vector<at::Tensor>&)> before_step_;
  std::unordered_set<const at::TensorImpl*> exchanged_;
  std::size_t looked_at_ = 0;  // of the optimizer's parameters
  std::vector<at::Tensor> others_;
  bool queued_ = false;
  std::vector<std::pair<at::Tensor, at::Tensor>> waiting_;  // for the end: parameters and their averages
};

}  // namespace tandem
