// What a rank's gradients count, where each sample of all ranks' batches counts the same.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <vector>

#include "ddp/roll_call.h"

namespace tandem {

// Weighs the gradient of each parameter, once in a backward. Outputs are not weighted: a gradient that passes through
// several forwards (of one module that is called again with its own output, or of two modules under DDP) would be
// weighted at each of them.
class SampleWeights : public std::enable_shared_from_this<SampleWeights> {
 public:
  SampleWeights(int rank, int size) : rank_(rank), size_(size) {}

  // Within backward: it has come to an output of the forward that `roll` belongs to. Waits for the roll call.
  // Errors: kInvalidArgument when ranks' shares in this batch are not those of another forward that backward came to: a
  // parameter that both used has no one weight then. All ranks see the same numbers, and fail together.
  void begin(const std::shared_ptr<RollCall>& roll);

  // A forward that a backward is to follow. Its share counts, too, for a backward that comes to a parameter and to no
  // output: of a loss that the module kept beside what forward returned.
  void expect(const std::shared_ptr<RollCall>& roll);

  // A parameter's gradient, times this rank's share and the number of ranks, which the reducer divides by. Errors: as
  // begin().
  at::Tensor weigh(const at::Tensor& gradient);

  // A backward that failed ends here; others end by themselves.
  void forget();

 private:
  std::vector<std::shared_ptr<RollCall>> unseen();

  const int rank_, size_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<RollCall>> begun_;  // in the backward that runs
  std::vector<double> shares_;                    // of ranks, in all of them
  // Of forwards to whose outputs no backward has come yet; those whose outputs are gone have gone as well.
  std::vector<std::weak_ptr<RollCall>> expected_;
};

}  // namespace tandem
