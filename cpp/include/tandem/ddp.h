// Data-parallel training: gradients are averaged over all ranks while backward runs.
//
//   tandem::DistributedDataParallel<Net> ddp(net, group);   // Net: a torch::nn module holder
//   auto loss = torch::nll_loss(ddp.forward(images), labels);
//   loss.backward();                                        // every rank's parameters have the mean gradient
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/export.h"
#include "tandem/process_group.h"

namespace tandem {

struct DataParallelOptions {
  double bucket_cap_mb = 25;             // MiB; the first bucket is 1 MiB, as in PyTorch
  bool broadcast_buffers = true;         // from rank 0, before each forward that trains
  bool find_unused_parameters = false;   // parameters may be without gradient in a step
  bool gradient_as_bucket_view = false;  // gradients are views of the buckets: less memory and no copy
  bool static_graph = false;             // every step uses the same parameters, in the same order
  bool init_sync = true;                 // verify shapes and broadcast from rank 0 at the start
};

// c10d::Reducer with what PyTorch's Python wrapper does around it, over lists of tensors. Not for use by several
// threads at once. Source: torch.nn.parallel.DistributedDataParallel.
class TANDEM_API DataParallelReducer {
 public:
  // Parameters that require no gradient are only broadcast; a parameter or buffer given twice counts once. `names` name
  // the parameters in errors; empty: their numbers. `sparse_gradients` says which parameters get sparse gradients
  // (sparse embeddings); empty: none. Holds the tensors and the group. Blocks: all ranks construct it together.
  // Errors: kInvalidArgument for no trainable parameter, or naming the first parameter or buffer that differs between
  // ranks.
  DataParallelReducer(std::shared_ptr<ProcessGroup> group, std::vector<at::Tensor> parameters,
                      std::vector<std::string> names, std::vector<at::Tensor> buffers,
                      const DataParallelOptions& options = {}, std::vector<bool> sparse_gradients = {});
  ~DataParallelReducer();
  DataParallelReducer(const DataParallelReducer&) = delete;
  DataParallelReducer& operator=(const DataParallelReducer&) = delete;

  // Before the module's forward. `training`: whether the module is in training mode.
  // Errors: kInvalidArgument naming parameters that got no gradient in the step before; those of collectives.
  void prepare_forward(bool training);

  // With the forward's outputs, before backward. May replace elements of `outputs` by equal tensors, which are to be
  // used instead: with find_unused_parameters all outputs go through one node, so that those the loss does not use
  // count as unused.
  void prepare_backward(std::vector<at::Tensor>& outputs);

  // false: gradients accumulate locally until switched on again. Takes effect at the next forward.
  void set_require_backward_grad_sync(bool on);
  bool require_backward_grad_sync() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

namespace internal {

template <typename T>
void collect_tensors(T& value, std::vector<at::Tensor*>& out);

template <typename Tuple, std::size_t... kIndex>
void collect_from_tuple(Tuple& value, std::vector<at::Tensor*>& out, std::index_sequence<kIndex...>) {
  (collect_tensors(std::get<kIndex>(value), out), ...);
}

template <typename T>
struct IsTuple : std::false_type {};
template <typename... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <typename A, typename B>
struct IsTuple<std::pair<A, B>> : std::true_type {};

// The tensors in what a forward returns: a tensor, or tuples, pairs and vectors of such.
template <typename T>
void collect_tensors(T& value, std::vector<at::Tensor*>& out) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    if (value.defined()) out.push_back(&value);
  } else if constexpr (IsTuple<T>::value) {
    collect_from_tuple(value, out, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (std::is_same_v<T, std::vector<at::Tensor>>) {
    for (at::Tensor& element : value) collect_tensors(element, out);
  } else {
    static_assert(std::is_arithmetic_v<T>,
                  "DistributedDataParallel: forward returns tensors, or tuples, pairs and "
                  "vectors of them");
  }
}

// Which parameters of `module` belong to embeddings with sparse gradients, in the order of module.named_parameters().
TANDEM_API std::vector<bool> sparse_gradients_of(const torch::nn::Module& module);
TANDEM_API std::unique_ptr<DataParallelReducer> make_reducer(std::shared_ptr<ProcessGroup> group,
                                                             const torch::nn::Module& module,
                                                             const DataParallelOptions& options);

}  // namespace internal

// A torch::nn module, by its holder (TORCH_MODULE), trained data-parallel. Every rank makes the same module; rank 0's
// parameters and buffers are taken at the start. Build the optimizer from module()->parameters() as usual.
template <typename ModuleHolder>
class DistributedDataParallel {
 public:
  DistributedDataParallel(ModuleHolder module, std::shared_ptr<ProcessGroup> group,
                          const DataParallelOptions& options = {})
      : module_(std::move(module)), reducer_(internal::make_reducer(std::move(group), *module_, options)) {}

  template <typename... Arguments>
  auto forward(Arguments&&... arguments) {
    reducer_->prepare_forward(module_->is_training());
    auto result = module_->forward(std::forward<Arguments>(arguments)...);
    std::vector<at::Tensor*> places;
    internal::collect_tensors(result, places);
    std::vector<at::Tensor> outputs;
    for (at::Tensor* place : places) outputs.push_back(*place);
    reducer_->prepare_backward(outputs);
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = outputs[i];
    return result;
  }

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

 private:
  ModuleHolder module_;
  std::unique_ptr<DataParallelReducer> reducer_;
};

}  // namespace tandem
