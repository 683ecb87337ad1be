// One process trains on several devices, or on several cores as if they were devices: each computes a part of the batch
// with a replica of the module, on a thread of its own.
//
//   auto net = std::make_shared<tandem::DataParallel<Net>>(Net());   // Net: a torch::nn module holder
//   auto loss = torch::nll_loss(net->forward(images), labels);
//   loss.backward();                                                // the gradients of the whole batch
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/export.h"
#include "tandem/nested.h"

namespace tandem {

struct ReplicaOptions {
  // How many replicas; 0: one for each device, on the CPU one for each thread that operators may use
  // (at::get_num_threads()).
  int replicas = 0;
  // GPUs, one for each replica; one may be named more than once. Empty: the CPU for a module that is there, else all
  // GPUs of the process, the module's first.
  std::vector<at::Device> devices;
  std::int64_t dim = 0;  // of the batch, in inputs and in outputs
  // That an operator of one replica uses on the CPU; 0: at::get_num_threads(), shared among the replicas.
  int threads = 0;
};

namespace internal {

class ReplicaThreads;

// What the replicas of one forward compute with. Nobody else uses them until the graph of that forward is gone.
struct ReplicaSet {
  std::vector<std::shared_ptr<torch::nn::Module>> modules;   // of the program's own making: empty
  std::vector<std::vector<at::Tensor>> parameters, buffers;  // of each replica, in the order of the module's
};

// One call of a module.
struct ReplicaCall {
  std::vector<at::Tensor> parameters, buffers;  // of the module
  std::shared_ptr<ReplicaSet> set;
  std::vector<at::Tensor> inputs;  // to be scattered; undefined ones stay so
  // Runs on the thread of a replica, with the modes of the caller.
  std::function<std::vector<at::Tensor>(int replica, std::vector<at::Tensor> inputs)> forward;
};

// Scatters, runs, gathers and connects gradients, over lists of tensors.
class TANDEM_API Replicas {
 public:
  // `device`: the module's. Throws Error (kInvalidArgument) for options that do not fit together.
  Replicas(const ReplicaOptions& options, at::Device device);
  ~Replicas();
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  int count() const { return static_cast<int>(devices_.size()); }
  at::Device device(int replica) const { return devices_[static_cast<std::size_t>(replica)]; }

  // Gathers the outputs, a list of the same length from each replica. Errors of a replica say which, and what it was
  // given.
  std::vector<at::Tensor> run(const ReplicaCall& call);

  // Inputs of a forward, on the first replica's device; undefined ones stay so.
  std::vector<at::Tensor> on_first(std::vector<at::Tensor> inputs) const;

  // Replicas of `module`, made by its clone() or used before, with its modes (training or not).
  std::shared_ptr<ReplicaSet> replicas_of(torch::nn::Module& module);

 private:
  struct Idle;

  std::vector<std::vector<at::Tensor>> scatter(const std::vector<at::Tensor>& inputs) const;
  at::Tensor gather(const std::vector<at::Tensor>& pieces) const;
  std::vector<at::Tensor> gather_all(const std::vector<std::vector<at::Tensor>>& outputs) const;
  std::shared_ptr<ReplicaSet> clone(torch::nn::Module& module) const;

  const ReplicaOptions options_;
  std::vector<at::Device> devices_;
  int threads_each_ = 1;
  std::once_flag started_;
  std::shared_ptr<ReplicaThreads> threads_;  // from the first run() on
  std::shared_ptr<Idle> idle_;
};

// The device of a module's first parameter or buffer; the CPU without any.
TANDEM_API at::Device device_of(const torch::nn::Module& module);

template <typename ModuleHolder>
auto pointer_of(ModuleHolder& module) {
  if constexpr (requires { module.ptr(); }) {
    return module.ptr();
  } else {
    return module;  // a std::shared_ptr
  }
}

}  // namespace internal

// A torch::nn module, by its holder (TORCH_MODULE) or a std::shared_ptr, that several replicas compute. Itself a
// module, with the one given as "module", for optimizers, checkpoints and DistributedDataParallel.
//
// forward() takes what the module's takes. Its tensors are split along `dim` as at::chunk does, those without a
// dimension go to every replica, as does what is no tensor; so do tuples, pairs, arrays, vectors, optionals and maps of
// such. A batch that is smaller than the number of replicas goes to as many as it has samples. The outputs, of the type
// that the module's forward gives, are joined along `dim`; those without a dimension, as losses are, become a vector
// with one element a replica. One replica alone is the module itself, whose inputs come to its device.
//
// Replicas share the memory of the parameters on their device, and are given those of others at each forward. They are
// made by clone(), and again when the module's parameters or buffers have other names; what else is changed in a module
// after its first forward they do not see, but for train(). Buffers of the first replica are the module's own, so that
// what forward does to them in place stays; the others begin each forward with copies.
//
// Gradients are summed in the order of replicas, so that they have the same bits each time. On the CPU a replica's
// part of backward runs on its own thread; gradients come to the parameters when all replicas are through. Derivatives
// of gradients (create_graph) work. A tensor that requires a gradient and is neither a parameter nor an input of the
// module is refused (kInvalidArgument), for its gradient would be lost.
//
// Random numbers on the CPU: each forward draws seeds for its replicas from the default generator, so that they do not
// depend on which thread comes first.
//
// The threads belong to this, and are joined when it and the graphs of its forwards are gone. It may be used by several
// threads, whose replicas then take turns. Source: torch.nn.DataParallel.
template <typename ModuleHolder>
class DataParallel : public torch::nn::Module {
 public:
  explicit DataParallel(ModuleHolder module, const ReplicaOptions& options = {})
      : module_(std::move(module)), replicas_(options, internal::device_of(*module_)) {
    register_module("module", internal::pointer_of(module_));
  }

  template <typename... Arguments>
  auto forward(const Arguments&... arguments) {
    using Given = std::tuple<std::decay_t<const Arguments&>...>;
    using Result = std::remove_cvref_t<decltype(module_->forward(arguments...))>;
    static_assert(internal::Nested<Result>::kOnlyTensors,
                  "DataParallel: forward gives tensors, or tuples, pairs, arrays, vectors, optionals and maps of them");
    Given given(arguments...);
    if (replicas_.count() == 1) {
      internal::put_tensors(given, replicas_.on_first(internal::tensors_of(given)));
      return std::apply([&](const auto&... each) { return Result(module_->forward(each...)); }, given);
    }

    using Implementation = std::remove_cvref_t<decltype(*module_)>;
    internal::ReplicaCall call;
    call.parameters = module_->parameters();
    call.buffers = module_->buffers();
    call.set = replicas_.replicas_of(*module_);
    call.inputs = internal::tensors_of(given);
    std::vector<std::optional<Result>> results(static_cast<std::size_t>(replicas_.count()));
    call.forward = [&](int replica, std::vector<at::Tensor> inputs) {
      const auto index = static_cast<std::size_t>(replica);
      Given own = given;
      internal::put_tensors(own, inputs);
      auto& module = dynamic_cast<Implementation&>(*call.set->modules[index]);
      results[index] = std::apply([&](const auto&... each) { return module.forward(each...); }, own);
      return internal::tensors_of(*results[index]);
    };
    const std::vector<at::Tensor> outputs = replicas_.run(call);
    internal::put_tensors(*results.front(), outputs);
    return *std::move(results.front());
  }

  ModuleHolder& module() { return module_; }
  int replicas() const { return replicas_.count(); }

 private:
  ModuleHolder module_;
  internal::Replicas replicas_;
};

}  // namespace tandem
