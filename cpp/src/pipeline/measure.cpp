// How long layers take, forward and backward.
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "base/invalid.h"
#include "pipeline/failure.h"
#include "pipeline/message.h"
#include "pipeline/parts.h"
#include "pipeline/result_of.h"
#include "tandem/pipeline_split.h"

namespace tandem {
namespace {

// Has the program's tensors and random numbers be at its end what they were at its beginning.
class KeptState {
 public:
  explicit KeptState(const std::vector<PipelineStage>& layers)
      : generator_(at::globalContext().defaultGenerator(at::kCPU)) {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    random_ = generator_.get_state();
    for (const PipelineStage& layer : layers) {
      for (const auto& [name, tensor] : layer.buffers) values_.emplace_back(tensor, tensor.detach().clone());
    }
    // Only now, for a constructor that fails has no destructor that gives them back.
    for (const PipelineStage& layer : layers) {
      for (const auto& [name, tensor] : layer.parameters) {
        if (!tensor.requires_grad() || !tensor.is_leaf()) continue;
        gradients_.emplace_back(tensor, tensor.grad());
      }
    }
    drop_gradients();
  }
  ~KeptState() {
    try {
      const at::NoGradGuard no_grad;
      for (auto& [tensor, gradient] : gradients_) tensor.mutable_grad() = gradient;
      for (const auto& [tensor, value] : values_) tensor.copy_(value);
      const std::lock_guard<std::mutex> lock(generator_.mutex());
      generator_.set_state(random_);
    } catch (const std::exception&) {  // a device that fails, which the next operation on it says
    }
  }
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;

  // What each measurement begins with, as a step does.
  void drop_gradients() {
    for (auto& [tensor, gradient] : gradients_) tensor.mutable_grad() = at::Tensor();
  }

 private:
  at::Generator generator_;
  at::Tensor random_;
  std::vector<std::pair<at::Tensor, at::Tensor>> gradients_, values_;
};

// Until its device has computed one of them; streams compute in order.
void wait_for_device(const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || tensor.is_cpu() || tensor.numel() == 0) continue;
    tensor.detach().flatten().slice(0, 0, 1).cpu();
    return;
  }
}

double median_of(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// What a layer gives, as leaves for the next one, once backward has gone through it.
std::vector<at::Tensor> run_layer(const PipelineStage& layer, const std::vector<at::Tensor>& leaves, bool is_last,
                                  const PipelineSplitOptions& options) {
  std::vector<at::Tensor> given;
  for (const at::Tensor& leaf : leaves) {
    given.push_back(leaf.defined() && leaf.requires_grad() ? result_of(leaf) : leaf);
  }
  std::vector<at::Tensor> outputs = layer.forward(given), roots, gradients;
  const std::vector<at::Tensor> ends =
      is_last && options.loss ? std::vector<at::Tensor>{options.loss(outputs, options.targets)} : outputs;
  for (const at::Tensor& tensor : ends) {
    if (!tensor.defined() || !tensor.requires_grad()) continue;
    roots.push_back(tensor);
    gradients.push_back(at::ones_like(tensor));
  }
  if (!roots.empty()) torch::autograd::backward(roots, gradients);
  wait_for_device(outputs);
  std::vector<at::Tensor> next;
  for (const at::Tensor& tensor : outputs) {
    next.push_back(tensor.defined() ? tensor.detach().requires_grad_(tensor.requires_grad()) : tensor);
  }
  return next;
}

// Ranks that are asked in different groups would wait for each other.
void check_everyone(ProcessGroup& group, const PipelineSplitOptions& options) {
  const std::vector<std::string> all = group.all_gather_bytes(options.everyone ? "given" : "");
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    if (options.everyone) options.everyone->abort();  // where other replicas wait
    invalid("pipeline: of rank 0 and rank " + std::to_string(rank) +
            " one alone gives the group of everyone; give it on all ranks of all replicas, or on none");
  }
}

// Of each layer its time, and why what it gives cannot go to another stage; "": it can.
struct Measured {
  std::vector<double> times;
  std::vector<std::string> refusals;
};

std::string refusal_of(const std::vector<at::Tensor>& given) {
  try {
    check_sendable(given);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Measured measure(const std::vector<PipelineStage>& layers, const std::vector<at::Tensor>& inputs,
                 const PipelineSplitOptions& options) {
  if (options.repeats < 1) invalid("layers are measured " + std::to_string(options.repeats) + " times; give 1 or more");
  const at::AutoGradMode grad(true);
  std::vector<at::Tensor> first;
  for (const at::Tensor& tensor : inputs) first.push_back(tensor.defined() ? tensor.detach() : tensor);
  const auto copies = [&first] {  // which the first layer may change
    std::vector<at::Tensor> made;
    for (const at::Tensor& tensor : first) made.push_back(tensor.defined() ? tensor.clone() : tensor);
    return made;
  };
  KeptState kept(layers);
  std::vector<std::vector<double>> times(layers.size());
  Measured measured{{}, std::vector<std::string>(layers.size())};
  for (int repeat = 0; repeat <= options.repeats; ++repeat) {
    kept.drop_gradients();
    std::vector<at::Tensor> values = copies();
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto begun = std::chrono::steady_clock::now();
      try {
        values = run_layer(layers[i], values, i + 1 == layers.size(), options);
      } catch (const std::exception& error) {
        throw Error(code_of(error), "layer " + std::to_string(i) + " of " + std::to_string(layers.size()) +
                                        " fails as it is measured: " + plain(error));
      }
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
      if (repeat > 0) {
        times[i].push_back(taken.count());
      } else if (i + 1 < layers.size()) {  // what is made once is made before it counts
        measured.refusals[i] = refusal_of(values);
      }
    }
  }
  for (auto& all : times) measured.times.push_back(median_of(std::move(all)));
  return measured;
}

// Cut where messages hold what crosses.
std::vector<std::size_t> balance(const Measured& measured, int stages) {
  std::vector<double> times;
  std::vector<std::size_t> first;  // layer of each of these
  std::string refused;
  for (std::size_t i = 0; i < measured.times.size(); ++i) {
    if (i > 0 && !measured.refusals[i - 1].empty()) {
      times.back() += measured.times[i];
      refused += "\nno stage begins with layer " + std::to_string(i) + ": " + measured.refusals[i - 1];
    } else {
      times.push_back(measured.times[i]);
      first.push_back(i);
    }
  }
  if (times.size() < static_cast<std::size_t>(stages)) {
    throw Error(ErrorCode::kUnsupported, std::to_string(measured.times.size()) + " layers do not divide into " +
                                             std::to_string(stages) + " stages:" + refused);
  }
  std::vector<std::size_t> cuts = balance_stages(times, stages);
  for (std::size_t& cut : cuts) cut = first[cut];
  return cuts;
}

}  // namespace

std::vector<double> measure_layers(const std::vector<PipelineStage>& layers, const std::vector<at::Tensor>& inputs,
                                   const PipelineSplitOptions& options) {
  return measure(layers, inputs, options).times;
}

std::vector<std::size_t> where_to_split(ProcessGroup& group, const std::vector<PipelineStage>& layers,
                                        const std::vector<at::Tensor>& inputs, const PipelineSplitOptions& options) {
  check_everyone(group, options);
  ProcessGroup& everyone = options.everyone ? *options.everyone : group;
  const std::string who = "pipeline, rank " + std::to_string(everyone.rank()) + ": ";
  const std::int64_t stages = std::int64_t{group.size()} * options.stages_per_rank;
  const std::string model = std::to_string(layers.size()) + " layers in " + std::to_string(stages) + " stages";
  std::string fault, found = model + "\n";
  try {
    if (options.fault) throw *options.fault;
    if (stages < 1 || stages > static_cast<std::int64_t>(layers.size())) {
      invalid(std::to_string(layers.size()) + " layers do not divide into " + std::to_string(stages) +
              " stages; each stage has at least one");
    }
    if (everyone.rank() == 0) {
      for (const std::size_t first : balance(measure(layers, inputs, options), static_cast<int>(stages))) {
        found += std::to_string(first) + " ";
      }
    }
  } catch (const std::exception& error) {
    const Error told(code_of(error), who + plain(error));
    fault = tell(&told);
  }
  if (const auto chosen = chosen_of(everyone.all_gather_bytes(fault))) throw *chosen;
  const std::vector<std::string> all = everyone.all_gather_bytes(found);
  std::istringstream answer(all[0].substr(all[0].find('\n') + 1));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].substr(0, all[rank].find('\n')) == all[0].substr(0, all[0].find('\n'))) continue;
    invalid("pipeline, rank " + std::to_string(rank) + " has " + all[rank].substr(0, all[rank].find('\n')) + ", rank 0 " +
            all[0].substr(0, all[0].find('\n')) + "; give the layers of the whole model on all ranks");
  }
  std::vector<std::size_t> first;
  for (std::size_t one = 0; answer >> one;) first.push_back(one);
  return first;
}

std::vector<PipelineStage> split_by_time(ProcessGroup& group, const std::vector<PipelineStage>& layers,
                                         const std::vector<at::Tensor>& inputs, const PipelineSplitOptions& options) {
  PipelineSplitOptions how = options;
  try {
    if (!how.fault && !layers.empty()) join_layers(layers, {0});
  } catch (const Error& error) {  // which all ranks are to hear of
    how.fault = std::make_shared<const Error>(error);
  }
  std::vector<PipelineStage> own;
  for (PipelineStage& stage : join_layers(layers, where_to_split(group, layers, inputs, how))) {
    if (stage.index % group.size() == group.rank()) own.push_back(std::move(stage));
  }
  return own;
}

}  // namespace tandem
