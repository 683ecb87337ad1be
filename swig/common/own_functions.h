// What optimizers and schedulers call of a language's: classes that its program derives from, through directors. See
// own_data.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "own_data.h"

namespace tandem_swig {

class RateSource {
 public:
  virtual ~RateSource() = default;
  virtual double factor(int64_t group, double at) = 0;
};

class LossSource {
 public:
  virtual ~LossSource() = default;
  // One tensor.
  virtual Sample evaluate() = 0;
};

class TracedSource {
 public:
  virtual ~TracedSource() = default;
  virtual Sample compute(Sample inputs) = 0;
};

class MicroBatchSource {
 public:
  virtual ~MicroBatchSource() = default;
  virtual Sample compute(int64_t stage, Sample inputs) = 0;
  // One tensor.
  virtual Sample loss(Sample outputs, Sample targets) = 0;
};

// The source is the scheduler's from then on.
inline tandem::abi::LrScheduler lr_scheduler_of_function(const std::string& type,
                                                         const tandem::abi::Optimizer& optimizer,
                                                         const tandem::abi::Options& options, RateSource* source) {
  const std::shared_ptr<RateSource> owned(source, Release());
  return tandem::abi::LrScheduler::of_function(type, optimizer, options, [owned](int64_t group, double at) {
    return enter([&] { return owned->factor(group, at); });
  });
}

// `milestones`: one list of integers. Of functions that are no methods SWIG takes int64_t in a std::vector for another
// type than the compiler does.
inline tandem::abi::LrScheduler sequential_lr(const tandem::abi::Optimizer& optimizer,
                                              const std::vector<const tandem::abi::LrScheduler*>& schedulers,
                                              const tandem::abi::Arguments& milestones) {
  const auto& list = milestones.data()->as.list;
  const auto* first = static_cast<const int64_t*>(list.data);
  return tandem::abi::LrScheduler::sequential(optimizer, schedulers, {first, first + list.size});
}

// The source is deleted before this returns.
inline tandem::abi::Tensor step_with_closure(tandem::abi::Optimizer& optimizer, LossSource* source) {
  const std::shared_ptr<LossSource> owned(source, Release());
  return optimizer.step([owned] {
    auto loss = enter([&] { return owned->evaluate().tensors; });
    return loss.empty() ? tandem::abi::Tensor() : std::move(loss[0]);
  });
}

// The source is deleted before this returns.
inline tandem::abi::Module traced_module(TracedSource* source, const tandem::abi::TensorList& inputs,
                                         const std::vector<std::string>& parameter_names,
                                         const tandem::abi::TensorList& parameters,
                                         const std::vector<std::string>& buffer_names,
                                         const tandem::abi::TensorList& buffers) {
  const std::shared_ptr<TracedSource> owned(source, Release());
  return tandem::abi::jit_trace(
      [owned](std::vector<tandem::abi::Tensor> given) {
        return enter([&] { return owned->compute({std::move(given)}).tensors; });
      },
      inputs, parameter_names, parameters, buffer_names, buffers);
}

// A call of a function of the program's, on whichever thread.
struct RpcCall {
  tandem::abi::Results arguments;
  const tandem::abi::RpcReply& reply;
  int32_t code = 0;  // of what it failed with, if that was an exception of Tandem's
  std::string message;
};

class RpcSource {
 public:
  virtual ~RpcSource() = default;
  // `call` is an RpcCall's address, for the functions below.
  virtual void run(int64_t call) = 0;
};

// Its arguments, once.
inline tandem::abi::Results rpc_call_arguments(int64_t call) {
  return std::move(reinterpret_cast<RpcCall*>(call)->arguments);
}
// What it gives, one value.
inline void rpc_call_return(int64_t call, const tandem::abi::Arguments& result) {
  reinterpret_cast<RpcCall*>(call)->reply.give(result);
}
inline void rpc_call_fail(int64_t call, int32_t code, const std::string& message) {
  reinterpret_cast<RpcCall*>(call)->code = code;
  reinterpret_cast<RpcCall*>(call)->message = message;
}

// The source is RPC's from then on.
inline void rpc_register_source(const std::string& name, RpcSource* source) {
  const std::shared_ptr<RpcSource> owned(source, Release());
  tandem::abi::rpc_register_function(
      name, [owned](tandem::abi::Results arguments, const tandem::abi::RpcReply& reply) {
        RpcCall call{std::move(arguments), reply, 0, ""};
        enter([&] { owned->run(static_cast<int64_t>(reinterpret_cast<intptr_t>(&call))); });
        if (call.code != 0) throw tandem::abi::Error(call.code, "", call.message);
      });
}

class CompletionSource {
 public:
  virtual ~CompletionSource() = default;
  virtual void done() = 0;
};

// The source is called once, and RPC's from then on.
inline void rpc_on_completion(const tandem::abi::RpcFuture& future, CompletionSource* source) {
  const std::shared_ptr<CompletionSource> owned(source, Release());
  future.on_completion([owned] {
    try {
      enter([&] { owned->done(); });
    } catch (...) {
      // The program ends, and nobody waits any more.
    }
  });
}

// Without an object of the language for each report.
inline void report_metrics(int64_t step, int64_t epoch, int64_t samples, bool has_loss, double loss, double wait_seconds) {
  tandem::abi::report_metrics({step, epoch, samples, has_loss ? std::optional(loss) : std::nullopt, wait_seconds});
}

inline tandem::abi::MicroBatchFunctions functions_of(const std::shared_ptr<MicroBatchSource>& owned, bool has_loss) {
  tandem::abi::MicroBatchFunctions::Loss loss;
  if (has_loss) {
    loss = [owned](std::vector<tandem::abi::Tensor> outputs, std::vector<tandem::abi::Tensor> targets) {
      auto made = enter([&] { return owned->loss({std::move(outputs)}, {std::move(targets)}).tensors; });
      return made.empty() ? tandem::abi::Tensor() : std::move(made[0]);
    };
  }
  return {[owned](int64_t stage, std::vector<tandem::abi::Tensor> inputs) {
            return enter([&] { return owned->compute(stage, {std::move(inputs)}).tensors; });
          },
          std::move(loss)};
}

// The source is the pipeline's from then on. `numbers`: lists of integers, for each parameter its stage and whether it is tied
// and has sparse gradients, for each buffer its stage and whether it is tied.
inline tandem::abi::Pipeline pipeline_of_functions(
    tandem::abi::ProcessGroup& group, const tandem::abi::TensorList& parameters,
    const std::vector<std::string>& parameter_names, const tandem::abi::TensorList& buffers,
    const std::vector<std::string>& buffer_names, const tandem::abi::Arguments& numbers,
    const tandem::abi::PipelineOptions& options, const tandem::abi::ProcessGroup* replicas,
    const tandem::abi::ProcessGroup* everyone, bool has_loss, MicroBatchSource* source) {
  const std::shared_ptr<MicroBatchSource> owned(source, Release());
  const auto list = [&numbers](size_t i) {
    const auto& raw = numbers.data()[i].as.list;
    const auto* first = static_cast<const int64_t*>(raw.data);
    return std::vector<int64_t>(first, first + raw.size);
  };
  const tandem::abi::PipelineTensors tensors = {parameters, buffers, parameter_names, buffer_names, list(0),
                                                list(3),    list(1), list(4),         list(2)};
  return tandem::abi::Pipeline(group, tensors, options, replicas, everyone, functions_of(owned, has_loss));
}

// Where stages begin. The source is deleted before this returns.
inline std::vector<int64_t> split_pipeline_by_functions(
    tandem::abi::ProcessGroup& group, int64_t layers, const tandem::abi::TensorList& tensors,
    const tandem::abi::TensorList& inputs, const tandem::abi::TensorList& targets,
    const tandem::abi::PipelineSplitOptions& options, const tandem::abi::ProcessGroup* everyone, bool has_loss,
    MicroBatchSource* source) {
  const std::shared_ptr<MicroBatchSource> owned(source, Release());
  return tandem::abi::split_pipeline_by_time(group, layers, tensors, inputs, targets, options, everyone,
                                             functions_of(owned, has_loss));
}

}  // namespace tandem_swig
