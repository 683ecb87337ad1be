// Communication hooks: how DistributedDataParallel exchanges a bucket of gradients, instead of by an all-reduce.
//
//   ddp.reducer().register_comm_hook(tandem::bf16_compress_hook(group));   // half the bytes
//
// Source: torch.distributed.algorithms.ddp_comm_hooks.
#pragma once

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/export.h"
#include "tandem/process_group.h"

namespace tandem {

// The exchange of a bucket, under way.
struct Exchange {
  Work work;                       // what it waits for; empty: nothing
  std::function<Exchange()> then;  // what follows once `work` is done; empty: then `result` is the exchanged bucket
  at::Tensor result;               // of the bucket's size and dtype; may be its buffer
};

// Begins the exchange of a bucket: bucket.getBuffer() are its gradients, flat, which it may change and may use for the
// result; of an embedding with sparse gradients it is a sparse tensor. It runs on the thread of backward, under the
// reducer's lock, and so do `then`s, in an order that is the same on all ranks: those of a bucket between the
// beginnings of later buckets, one stage at each, and what is left after the last one has begun. Hooks divide, for a
// mean.
using CommHook = std::function<Exchange(c10d::GradBucket&)>;

// The gradients in a bucket's buffer, or in another tensor in its place (an exchange's result), as views with the sizes of
// bucket.getParameters() and their strides (c10d::GradBucket::getGradients() has those of a contiguous tensor, which
// permutes a channels_last parameter's). Of sparse gradients the buffer itself.
TANDEM_API std::vector<at::Tensor> gradients_of(const c10d::GradBucket& bucket);
TANDEM_API std::vector<at::Tensor> gradients_of(const c10d::GradBucket& bucket, const at::Tensor& buffer);

// `exchange`, whose result then goes through `convert`.
TANDEM_API Exchange then_convert(Exchange exchange, std::function<at::Tensor(const at::Tensor&)> convert);

// The mean over all ranks. What a reducer without a hook does.
TANDEM_API CommHook allreduce_hook(std::shared_ptr<ProcessGroup> group);

// The mean, exchanged in a dtype of half the size. Sparse gradients travel as they are.
TANDEM_API CommHook fp16_compress_hook(std::shared_ptr<ProcessGroup> group);
TANDEM_API CommHook bf16_compress_hook(std::shared_ptr<ProcessGroup> group);
// The same around any hook, which is given a bucket of that dtype.
TANDEM_API CommHook fp16_compress_wrapper(CommHook hook);
TANDEM_API CommHook bf16_compress_wrapper(CommHook hook);
TANDEM_API CommHook compress_wrapper(at::ScalarType dtype, CommHook hook);

// The mean of what each rank has rounded to 256 levels between its smallest and its largest gradient, which needs a
// quarter of the bytes per rank, but a gather instead of a reduction. Sparse gradients are all-reduced.
TANDEM_API CommHook quantization_pertensor_hook(std::shared_ptr<ProcessGroup> group);
// Levels of their own for every `bucket_size` gradients.
TANDEM_API CommHook quantization_perchannel_hook(std::shared_ptr<ProcessGroup> group, std::int64_t bucket_size = 512);

// Leaves each rank its own gradients: to measure, or to average models instead.
TANDEM_API CommHook noop_hook();

// Averages over all ranks in the first iterations, over `subgroup` later (or not at all, with
// post_local_gradient_allreduce off); models are then to be averaged: tandem/model_averaging.h. Iterations count from
// the hook's making. Source: post_localSGD_hook; Lin et al., "Don't Use Large Mini-Batches, Use Local SGD", 2018.
struct PostLocalSgdOptions {
  std::int64_t start_local_sgd_iter = 0;
  bool post_local_gradient_allreduce = true;
};
TANDEM_API CommHook post_local_sgd_hook(std::shared_ptr<ProcessGroup> group, std::shared_ptr<ProcessGroup> subgroup,
                                        const PostLocalSgdOptions& options);

struct PowerSgdOptions {
  std::int64_t matrix_approximation_rank = 1;
  std::int64_t start_power_sgd_iter = 1000;  // before it, gradients are all-reduced
  double min_compression_rate = 2;           // a gradient is compressed when it shrinks to less than 1/rate
  bool use_error_feedback = true;            // what compression lost is added to the next gradient
  bool warm_start = true;                    // Q of the step before is where the next begins
  double orthogonalization_epsilon = 0;      // above 0: Gram-Schmidt with it added to each norm
  std::uint64_t random_seed = 0;             // the same on all ranks
};

// PowerSGD: gradients travel as products of two thin matrices, found by one step of a power iteration over all ranks.
// Its state belongs to one DDP object. Source: powerSGD_hook, batched_powerSGD_hook; Vogels, Karimireddy, Jaggi,
// "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization", 2019.
class TANDEM_API PowerSgdState {
 public:
  // Errors: kInvalidArgument for a rank or a rate below 1, or a start_power_sgd_iter below 2 with error feedback or
  // warm start, for buckets are rebuilt after the first iteration.
  PowerSgdState(std::shared_ptr<ProcessGroup> group, const PowerSgdOptions& options);
  ~PowerSgdState();

  // Numbers of gradients before and after compression since it started.
  std::int64_t numel_before_compression() const;
  std::int64_t numel_after_compression() const;
  // What compression lost of the last gradients of a bucket; undefined before the first.
  at::Tensor error_of(std::int64_t bucket) const;

  // What the next exchange begins with, for a checkpoint of this rank: "iteration", "random", "numel" and, by bucket,
  // "error.B", "p.B" and "q.B". Errors are each rank's own; all else is the same on all. Tensors share storage. Buckets
  // must be what they were, too: DataParallelReducer::bucket_layout().
  std::vector<std::pair<std::string, at::Tensor>> state() const;
  // Takes copies. All or nothing. Errors: kInvalidArgument for a name, dtype or size that no state has.
  void load_state(const std::vector<std::pair<std::string, at::Tensor>>& state);

 private:
  friend CommHook power_sgd_hook(std::shared_ptr<PowerSgdState> state);
  friend CommHook batched_power_sgd_hook(std::shared_ptr<PowerSgdState> state);
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

// Each gradient of two or more dimensions is a matrix; what does not gain is all-reduced.
TANDEM_API CommHook power_sgd_hook(std::shared_ptr<PowerSgdState> state);
// The whole bucket is one square matrix: quicker, and less exact.
TANDEM_API CommHook batched_power_sgd_hook(std::shared_ptr<PowerSgdState> state);

}  // namespace tandem
