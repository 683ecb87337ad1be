// What a DataParallelReducer is made of.
#pragma once

#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "ddp/gradients/accumulation_hooks.h"
#include "ddp/gradients/places.h"
#include "ddp/bucket_advisor.h"
#include "ddp/mixed_precision.h"
#include "ddp/optimizer_in_backward.h"
#include "ddp/reducer_factory.h"
#include "ddp/roll_call.h"
#include "ddp/gradients/sample_weights.h"
#include "ddp/step_timer.h"
#include "tandem/ddp.h"

namespace tandem {

struct DataParallelReducer::Parts {
  // Outlives its owner where a graph still refers to it.
  struct Pass {
    // True from a forward that a synchronizing backward follows until that begins.
    std::atomic<bool> pending{false};
    std::mutex mutex;
    // Where the outputs of forwards that wait for a backward came from.
    std::vector<std::pair<WeakNodePointer, std::uint32_t>> outputs;
  };

  std::shared_ptr<ProcessGroup> group;
  DataParallelOptions options;
  std::vector<at::Tensor> parameters;  // frozen ones too
  std::vector<at::Tensor> buffers;
  std::vector<at::Tensor> given_buffers;  // that they were taken from
  std::vector<std::pair<at::Tensor, std::string>> frozen;
  std::vector<at::Tensor> trained;
  std::vector<std::string> trained_names;
  std::unordered_map<const at::TensorImpl*, std::size_t> numbers;  // of the trained ones
  std::vector<bool> sparse_gradients;  // of the trained ones
  std::vector<at::Device> devices;     // that the trained ones were on
  bool is_multi_device = false;
  std::shared_ptr<c10d::Reducer> reducer;
  std::shared_ptr<c10d::Logger> logger;
  std::shared_ptr<StepTimer> timer;  // null unless all is on the CPU: the logger takes GPUs' times
  std::shared_ptr<Pass> pass = std::make_shared<Pass>();
  std::unique_ptr<LoweredParameters> lowered;
  AccumulationHooks watches;  // that refuse what the reducer would do wrong
  std::shared_ptr<GradientPlaces> places;  // where gradients are views of buckets on the CPU

  bool require_backward_sync = true;
  bool require_forward_sync = true;
  bool armed = false;    // the next backward exchanges gradients
  bool refused = false;  // that backward was, and is not made
  std::int64_t iterations = 0;
  bool rebuilt = false;
  // A static graph learns at its first backward how often gradients come. One that accumulates before (no_sync) would
  // be counted in, and gradients then be waited for that never come: the reducer is made anew after it.
  bool first_of_static = false;
  bool accumulated_first = false;
  std::unique_ptr<ReducerArguments> arguments;
  // The first backward of a static graph reduces at its end, where all gradients are known to be there. Set by the
  // outputs that it begins at; until then, forwards are of the first iteration.
  std::shared_ptr<std::atomic<bool>> static_begun;
  bool static_prepared = false;       // the reducer counts that iteration
  std::atomic<bool> bypassed{false};  // it came to parameters, but not to outputs

  CommHook hook;  // empty: the reducer's own all-reduce, or one of LibTorch's interface
  bool has_hook = false;
  std::shared_ptr<c10d::CommHookInterface> native_hook;
  std::shared_ptr<OptimizerInBackward> in_backward;
  std::vector<char> used;  // which parameters have got a gradient since the last exchange; for in_backward
  bool hook_is_set = false;  // in the reducer, for good
  bool averages_itself = false;   // the backend; the reducer does not divide then (AverageHook)
  std::atomic<int> averaged_over{1};  // ranks, in the backward that follows

  std::optional<BucketTrialOptions> trial_options;  // while bucket sizes are tried
  std::unique_ptr<BucketAdvisor> advisor;           // of the last trial, once it has begun
  std::int64_t trial_counted = 0;                   // iterations

  int statistics_rate = 0;  // what the program has asked for

  bool joins = false;
  JoinOptions join;
  std::shared_ptr<RollCall> roll;  // of the last forward that exchanged something
  std::int64_t samples = 1;        // in its batch
  std::optional<std::int64_t> batch_samples;  // what the program has said of it
  at::Tensor shadowed_usage;       // which parameters any rank used, in the last iteration that this one shadowed
  std::shared_ptr<SampleWeights> weights;
  std::vector<std::pair<at::Tensor, unsigned>> weight_hooks;

  at::Device device() const { return trained.front().device(); }
  void broadcast(const std::vector<at::Tensor>& tensors, int root);
  void rebuild_buckets();
  void find_places();
  // The reducer's; none where it does not show them: from LibTorch 2.15 on with sparse gradients, until this rank's first
  // backward.
  std::vector<c10d::GradBucket> buckets() const;
  void make_reducer();
  // Its first iteration is still to come.
  void make_reducer_anew();
  // When an iteration is over.
  void advance_trial();
  void start_trial();
  void end_trial();
  void use_layout(const BucketAdvisor::Layout& layout);
  std::vector<std::vector<std::int64_t>> bucket_layout() const;
  void set_hook();
  void install_hook();
  // The ranks that gradients are averaged over: all, or in a join those of `roll`.
  int count_averaged(RollCall& roll) const;
  void average_over(int ranks);
  // Before the first collective of a forward.
  void call_roll(bool training);
  bool sends_buffers(bool training) const;
  at::Tensor watch_output(const at::Tensor& output);
  void weigh_gradients();
  void gradient_came(std::size_t parameter);
  void check_before_forward();
  // Errors: kInvalidArgument naming the parameters that the last backward gave no gradient.
  void check_finished();
  std::size_t number_of(const at::Tensor& parameter) const { return numbers.at(parameter.unsafeGetTensorImpl()); }
  // int32 on the CPU, one a trained parameter: not 0 where any rank used it. After an iteration that told.
  at::Tensor usage_of_all() const;

  // As the others do it, on a rank that is out of inputs.
  void shadow(RollCall& others);
  void shadow_backward(bool static_first);
};

// What a bucket_cap_mb means in bytes, for the first bucket and for others. Errors: kInvalidArgument.
void set_bucket_bytes(const DataParallelOptions& options, double bucket_cap_mb, std::int64_t* bytes,
                      std::int64_t* first_bytes);

}  // namespace tandem
