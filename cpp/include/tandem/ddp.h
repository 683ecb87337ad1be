// Data-parallel training: gradients are averaged over all ranks while backward runs.
//
//   tandem::DistributedDataParallel<Net> ddp(net, group);   // Net: a torch::nn module holder
//   auto loss = torch::nll_loss(ddp.forward(images), labels);
//   loss.backward();                                        // every rank's parameters have the mean gradient
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/comm_hook.h"
#include "tandem/export.h"
#include "tandem/nested.h"
#include "tandem/optim.h"
#include "tandem/process_group.h"

namespace tandem {

// Dtypes that a module computes and exchanges in, while its parameters, gradients and optimizer stay as they are.
// Unset: unchanged. Only what is of floating point is cast. Source: torch.nn.parallel.distributed._MixedPrecision.
struct MixedPrecision {
  std::optional<at::ScalarType> param_dtype;   // of parameters from forward to the end of backward, and of inputs
  std::optional<at::ScalarType> reduce_dtype;  // that gradients are exchanged in; unset: param_dtype
  std::optional<at::ScalarType> buffer_dtype;  // of buffers, for good
  bool cast_forward_inputs = true;
};

struct DataParallelOptions {
  double bucket_cap_mb = 25;  // MiB of gradients that travel together; 0: each gradient alone
  // Of the gradients that are ready first; unset: 1, or bucket_cap_mb where that is not 25.
  std::optional<double> first_bucket_mb;
  bool broadcast_buffers = true;         // from rank 0, at the start and before each forward that trains
  bool find_unused_parameters = false;   // parameters may be without gradient in a step
  // Gradients are views of the buckets: less memory, and on CPUs backward writes weights of linear layers there, so that
  // they are not copied. Take a clone of a gradient that is to be kept: the next backward writes in the same place, and
  // fails where its own graph holds what was there.
  bool gradient_as_bucket_view = false;
  bool static_graph = false;             // every step uses the same parameters, in the same order
  bool init_sync = true;                 // verify shapes and broadcast from rank 0 at the start
  // Buckets that were not used are not exchanged; all ranks use the same parameters in a step.
  bool skip_all_reduce_unused_params = false;

  // A rank's gradient counts as much as its batch has samples, so that ranks with batches of different sizes train as
  // one process does on all of them, where the loss is a mean over the batch. Else every rank counts the same. Costs an
  // exchange of a few bytes each forward. Forwards before one backward have batches of which ranks have the same shares.
  bool average_by_samples = false;

  // Names of parameters, and for a module of buffers, that DDP leaves alone.
  std::vector<std::string> parameters_to_ignore;
  MixedPrecision mixed_precision;
};

struct JoinOptions {
  bool divide_by_initial_world_size = true;  // false: gradients are averaged over the ranks that still have inputs
  bool throw_on_early_termination = false;   // all ranks fail when the first is out of inputs
  // What a rank that is out of inputs does after each backward of the others, whose gradients it then has too: the
  // optimizer's step, where that exchanges something (ZeroRedundancyOptimizer).
  std::function<void()> shadow_step;
};

// One bucket's exchange. Times are nanoseconds since the iteration began.
struct BucketTimes {
  std::int64_t bytes = 0;
  std::int64_t begun = 0;  // its gradients are there
  std::int64_t done = 0;   // their averages are there
};

// One iteration: from the first forward to the averaged gradients of the backward that follows. Times are nanoseconds.
// What is in `total` and in no other part of it is the program's own between forward and backward.
struct DataParallelIteration {
  std::int64_t number = 0;            // of those that exchanged gradients, from 0
  bool separate = false;              // see DataParallelReducer::set_separate_exchanges()
  std::int64_t begun = 0;             // on the steady clock
  std::int64_t forward_exchange = 0;  // before the module's forward: buffers, and who is there
  std::int64_t forward = 0;           // of the module; of several before one backward, together
  std::int64_t backward_begun = 0;    // since `begun`: the first gradient of an output
  std::int64_t backward = 0;          // computing: from then to the last gradient of a parameter
  std::int64_t wait = 0;              // from then until all averages are there
  std::int64_t total = 0;
  std::int64_t communication = 0;    // how long at least one bucket was under way
  std::vector<BucketTimes> buckets;  // in the order in which they began; none with a hook of LibTorch's interface
};

// What training has cost so far. Times are nanoseconds of the iterations that are kept, without the first two, in which
// memory and buckets are made, where there are others: of each kind of time the mean of the middle half, so that what
// disturbs the machine once does not count; 0: not measured. On GPUs only the first ten fields, measured by
// c10d::Logger; with parameters on several devices, or on accelerators other than CUDA's, the first four.
struct DataParallelStatistics {
  std::int64_t iterations = 0;             // that exchanged gradients
  std::vector<std::int64_t> bucket_bytes;  // in the order of exchange
  std::vector<std::vector<std::string>> bucket_parameters;
  bool buckets_rebuilt = false;  // in the order in which gradients came
  std::int64_t forward_compute = 0;
  std::int64_t backward_compute = 0;
  std::int64_t backward_communication = 0;  // from the first bucket's start to the last one's end
  std::int64_t overlap = 0;                 // of the last two

  std::vector<BucketTimes> bucket_times;  // of iterations with the buckets above; empty where there is none
  std::int64_t step = 0;                  // DataParallelIteration::total
  std::int64_t communication = 0;         // how long at least one bucket was under way
  // What an exchange adds to a step: its time without step_without_exchange where that is measured; else how long
  // forward and the end of backward waited.
  std::int64_t exposed_communication = 0;
  // Of separate iterations, see set_separate_exchanges().
  std::int64_t step_without_exchange = 0;   // up to the end of backward's computing, without exchanges before forward
  std::int64_t communication_alone = 0;     // the same buckets, one after the other, beside nothing else
  std::vector<std::int64_t> buckets_alone;  // of each bucket; empty as above
};

// Which bucket sizes are compared, and how thoroughly: DataParallelReducer::try_bucket_sizes().
struct BucketTrialOptions {
  std::vector<double> sizes_mb = {0, 1, 5, 10, 25, 50, 100};  // as bucket_cap_mb
  int iterations = 4;  // measured of each size in a round, after two that are not
  int rounds = 6;      // after each, sizes that are clearly slower than the best are given up
};

struct BucketTrial {
  double bucket_cap_mb = 0;
  std::int64_t buckets = 0;  // that this makes
  std::int64_t step = 0;     // nanoseconds, the mean over ranks of the median; 0: not known yet
};

struct BucketAdvice {
  bool done = false;
  double bucket_cap_mb = 0;         // in use; after the trial the quickest
  std::vector<BucketTrial> trials;  // sizes that make the same buckets are tried once, as the first of them
};

// c10d::Reducer with what PyTorch's Python wrapper does around it, over lists of tensors. Not for use by several
// threads at once. Source: torch.nn.parallel.DistributedDataParallel.
class TANDEM_API DataParallelReducer {
 public:
  // Parameters that require no gradient are only broadcast; a parameter or buffer given twice counts once. `names` name
  // the parameters in errors; empty: their numbers. `sparse_gradients` says which parameters get sparse gradients
  // (sparse embeddings); empty: none. Holds the tensors and the group. Blocks: all ranks construct it together.
  // They may lie on several devices (docs/model-parallel.md). Errors: kInvalidArgument for no trainable parameter, naming
  // one that cannot be trained so (the result of an operation, an inference tensor, without data, sparse, or on a device
  // that the group's backend does not take), or naming the first parameter or buffer that differs between ranks.
  DataParallelReducer(std::shared_ptr<ProcessGroup> group, std::vector<at::Tensor> parameters,
                      std::vector<std::string> names, std::vector<at::Tensor> buffers,
                      const DataParallelOptions& options = {}, std::vector<bool> sparse_gradients = {});
  ~DataParallelReducer();
  DataParallelReducer(const DataParallelReducer&) = delete;
  DataParallelReducer& operator=(const DataParallelReducer&) = delete;

  // The buffers that are broadcast from now on, where the module has replaced some. All ranks give as many of the same
  // sizes. Errors: kInvalidArgument for one that is undefined or was made in inference mode.
  void set_buffers(std::vector<at::Tensor> buffers);

  // Before the module's forward. `training`: whether the module is in training mode. `samples` in this rank's batch
  // count with average_by_samples, unless set_batch_samples() says how many there are. Several forwards may come before
  // one backward; buffers are then broadcast before the first. Errors: kInvalidArgument naming parameters that got no
  // gradient in the step before, with which ranks would drift apart, or one that requires a gradient only since this
  // was made; those of collectives.
  void prepare_forward(bool training, std::int64_t samples = 1);

  // With the forward's outputs, before backward. May replace elements of `outputs` by equal tensors, which are to be
  // used instead: with find_unused_parameters all outputs go through one node, so that those the loss does not use
  // count as unused. A backward with create_graph fails (kUnsupported) when it comes to the parameters, for derivatives
  // of averaged gradients would be those of this rank alone.
  // Errors: kInvalidArgument when gradients are on and no element of `outputs` is defined.
  void prepare_backward(std::vector<at::Tensor>& outputs);

  // Instead of prepare_backward() where forward failed or no backward will follow: parameters that mixed_precision has
  // lowered are as before.
  void cancel_forward();

  bool average_by_samples() const;
  // How many samples this rank's next batches have, for average_by_samples; none: as prepare_forward() is told.
  // Errors: kInvalidArgument below 0.
  void set_batch_samples(std::optional<std::int64_t> samples);
  std::optional<std::int64_t> batch_samples() const;

  // false: gradients accumulate locally until switched on again. Takes effect at the next forward.
  void set_require_backward_grad_sync(bool on);
  bool require_backward_grad_sync() const;

  // Exchanges gradients by `hook` instead of an all-reduce: see tandem/comm_hook.h. All ranks register the same one,
  // once, before the first backward. Errors: kInvalidArgument the second time, or with mixed_precision's reduce_dtype.
  void register_comm_hook(CommHook hook);
  // LibTorch's own interface. For hooks that issue several collectives a bucket, the above keeps their order the same
  // on all ranks; here that is the hook's concern.
  void register_comm_hook(std::unique_ptr<c10d::CommHookInterface> hook);

  // Which parameters travel together: their numbers among those that require a gradient, a list a bucket, in the order of
  // exchange. Buckets change after the first iteration. use_bucket_layout() has them as they were, for hooks that keep
  // something for each (PowerSgdState::load_state()); before the first forward, the same on all ranks.
  // Errors: kInvalidArgument when not each parameter is in it once, or after the first forward.
  std::vector<std::vector<std::int64_t>> bucket_layout() const;
  void use_bucket_layout(const std::vector<std::vector<std::int64_t>>& layout);

  // Has `optimizer` step each bucket's parameters as soon as they are averaged, within backward, which frees their
  // gradients; at its end what else the optimizer holds is stepped once, and what another rank alone used. It must hold
  // the parameters, which lie on one device; step() is not called by the program any more. Call before the first backward,
  // after register_comm_hook(). Source: torch.distributed.optim._apply_optimizer_in_backward.
  void set_optimizer_in_backward(std::shared_ptr<optim::Optimizer> optimizer);

  // For ranks that have different numbers of batches. Every rank calls begin_join(), makes its steps and calls
  // end_join(), which takes part in the exchanges of those that still train, until all are there; then all get the
  // parameters of a rank that was among the last. cancel_join() only ends it here, after an error. Blocks.
  // Errors: kAborted on all ranks, with throw_on_early_termination; kInvalidArgument with
  // skip_all_reduce_unused_params. Source: torch.distributed.algorithms.Join.
  void begin_join(const JoinOptions& options = {});
  void end_join();
  void cancel_join();

  DataParallelStatistics statistics() const;
  // The last 256 that were measured, oldest first; those that are under way are not among them. Empty on GPUs.
  std::vector<DataParallelIteration> iterations() const;
  // statistics() as text, for people: a line a part of the step, and a line a bucket.
  std::string statistics_table() const;
  // Keeps every so many iterations; 1 at first, and on GPUs 100 after the first ten.
  // Errors: kInvalidArgument below 1.
  void set_statistics_sample_rate(int iterations);
  // Every so many iterations, the exchange waits until backward has computed, all ranks wait for each other, and
  // buckets are exchanged one after the other: that tells what a step costs without an exchange, and an exchange
  // without a step. Gradients are the same; such an iteration takes as long as both together. 0 at first: never, nor in
  // a join, nor with a hook of LibTorch's interface. All ranks call it with the same number, before the same forward.
  // Errors: kInvalidArgument below 0; kUnsupported on GPUs.
  void set_separate_exchanges(std::int64_t every);

  // Finds the quickest bucket size while training goes on: uses each for a few iterations, several times over, and
  // keeps the one with the shortest step, on all ranks the same. Begins when the order of gradients is known, after the
  // second iteration; takes as many iterations as there are sizes, times rounds, times iterations and 2, at most.
  // Averages are what they are with that bucket size anyway. Statistics begin anew when it ends. All ranks call it
  // together, between two iterations, and make the same forwards until it is done. Errors: kInvalidArgument (no sizes,
  // in a join, while sizes are tried); kUnsupported on GPUs and with a communication hook.
  void try_bucket_sizes(const BucketTrialOptions& options = {});
  BucketAdvice bucket_advice() const;

  // bucket_cap_mb is what is in use now.
  const DataParallelOptions& options() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

namespace internal {

// An argument of forward while it is cast: a copy of what may hold tensors, else the argument itself.
template <typename T>
using Castable = std::conditional_t<Nested<std::remove_cvref_t<T>>::kTensors, std::remove_cvref_t<T>, T&&>;

// Has every tensor of floating point in `value`, at any depth, be of `dtype`.
template <typename T>
void cast_tensors(T& value, at::ScalarType dtype) {
  const auto cast = [dtype](at::Tensor& tensor) {
    if (tensor.defined() && tensor.is_floating_point()) tensor = tensor.to(dtype);
  };
  Nested<std::remove_cvref_t<T>>::visit(value, cast);
}

// Elements of the first dimension of the first tensor that has one, at any depth; 1 where there is none, and -1 where
// one may be in an argument of a type that is not looked into.
template <typename... Arguments>
std::int64_t samples_in(const Arguments&... arguments) {
  std::int64_t samples = -1;
  [[maybe_unused]] const auto look = [&](const at::Tensor& tensor) {
    if (samples < 0 && tensor.defined() && tensor.dim() > 0) samples = tensor.size(0);
  };
  (Nested<Arguments>::visit(arguments, look), ...);
  constexpr bool kAllKnown = (Nested<Arguments>::kKnown && ...);
  return samples < 0 && kAllKnown ? 1 : samples;
}

// Which parameters of `module` belong to embeddings with sparse gradients, in the order of module.named_parameters().
TANDEM_API std::vector<bool> sparse_gradients_of(const torch::nn::Module& module);
TANDEM_API std::unique_ptr<DataParallelReducer> make_reducer(std::shared_ptr<ProcessGroup> group,
                                                             const torch::nn::Module& module,
                                                             const DataParallelOptions& options);
// Buffers that a module that trains has now are those that are broadcast.
TANDEM_API void refresh_buffers(DataParallelReducer& reducer, const torch::nn::Module& module);

}  // namespace internal

// A torch::nn module, by its holder (TORCH_MODULE), trained data-parallel. Every rank makes the same module; rank 0's
// parameters and buffers are taken at the start. Build the optimizer from module()->parameters() as usual. The module
// may span devices of one type.
//
// forward() takes and gives what the module's does. Tensors are found at any depth of what tandem/nested.h lists: those
// of floating point in the arguments are cast for mixed_precision, and a batch's samples, for average_by_samples, are
// the first dimension of the first; a loss may be computed from any of those that come back, or some. Throws Error
// (kInvalidArgument) when none comes back, with gradients on.
template <typename ModuleHolder>
class DistributedDataParallel {
 public:
  DistributedDataParallel(ModuleHolder module, std::shared_ptr<ProcessGroup> group,
                          const DataParallelOptions& options = {})
      : module_(std::move(module)), reducer_(internal::make_reducer(std::move(group), *module_, options)) {}

  template <typename... Arguments>
  auto forward(Arguments&&... arguments) {
    internal::refresh_buffers(*reducer_, *module_);
    const std::int64_t samples = internal::samples_in(arguments...);
    if (samples < 0 && reducer_->average_by_samples() && !reducer_->batch_samples()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "average_by_samples: no tensor that is a batch was found in forward's arguments, and some are of types "
          "that are not looked into; pass the batch's tensor itself, or what tandem/nested.h lists, or say how many "
          "samples "
          "there are with set_batch_samples()");
    }
    reducer_->prepare_forward(module_->is_training(), samples < 0 ? 1 : samples);
    auto result = [&] {
      try {
        return call(std::forward<Arguments>(arguments)...);
      } catch (...) {
        reducer_->cancel_forward();
        throw;
      }
    }();
    using Result = internal::Nested<decltype(result)>;
    static_assert(
        Result::kTensors && Result::kKnown,
        "DistributedDataParallel: forward gives tensors, or tuples, pairs, arrays, vectors, optionals, variants "
        "and maps of them, or of structs that have auto fields() { return std::tie(a, b); }");
    std::vector<at::Tensor> outputs = internal::tensors_of(result);
    reducer_->prepare_backward(outputs);
    internal::put_tensors(result, outputs);
    return result;
  }

  // See DataParallelReducer::set_batch_samples().
  void set_batch_samples(std::optional<std::int64_t> samples) { reducer_->set_batch_samples(samples); }

  ModuleHolder& module() { return module_; }
  DataParallelReducer& reducer() { return *reducer_; }

  // While it lives, gradients accumulate locally; the first backward after it averages what has accumulated.
  class NoSync {
   public:
    explicit NoSync(DataParallelReducer& reducer) : reducer_(reducer), before_(reducer.require_backward_grad_sync()) {
      reducer_.set_require_backward_grad_sync(false);
    }
    ~NoSync() { reducer_.set_require_backward_grad_sync(before_); }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DataParallelReducer& reducer_;
    const bool before_;
  };
  NoSync no_sync() { return NoSync(*reducer_); }

  // Makes `body`'s steps, whose number may differ between ranks. All ranks call it.
  void join(const std::function<void()>& body, const JoinOptions& options = {}) {
    reducer_->begin_join(options);
    try {
      body();
    } catch (...) {
      reducer_->cancel_join();
      throw;
    }
    reducer_->end_join();
  }

 private:
  template <typename... Arguments>
  auto call(Arguments&&... arguments) {
    const MixedPrecision& precision = reducer_->options().mixed_precision;
    if (!precision.cast_forward_inputs || !precision.param_dtype) {
      return module_->forward(std::forward<Arguments>(arguments)...);
    }
    std::tuple<internal::Castable<Arguments>...> cast(std::forward<Arguments>(arguments)...);
    return std::apply(
        [&](auto&... each) {
          (internal::cast_tensors(each, *precision.param_dtype), ...);
          return module_->forward(static_cast<Arguments&&>(each)...);
        },
        cast);
  }

  ModuleHolder module_;
  std::unique_ptr<DataParallelReducer> reducer_;
};

}  // namespace tandem
