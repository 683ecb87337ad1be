// One forward of several replicas: scatter, run, gather, and the graph around.
#include "tandem/data_parallel.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <mutex>
#include <sstream>
#include <unordered_set>

#include "ddp/replicas/failure.h"
#include "ddp/replicas/module_pool.h"
#include "ddp/replicas/part_graph.h"
#include "ddp/replicas/spread_graph.h"
#include "ddp/replicas/tensors.h"
#include "ddp/replicas/threads.h"
#include "nn/thread_generator.h"
#include "tandem/error.h"
#include "tandem/runtime.h"

namespace tandem::internal {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "DataParallel: " + why);
}

std::vector<at::Device> gpus(at::Device first) {
  std::vector<at::Device> devices{first};
  const auto count = c10::impl::VirtualGuardImpl(first.type()).deviceCount();
  for (at::DeviceIndex i = 0; i < count; ++i) {
    if (i != first.index()) devices.emplace_back(first.type(), i);
  }
  return devices;
}

std::vector<at::Device> devices_for(const ReplicaOptions& options, at::Device module) {
  if (options.replicas < 0 || options.replicas > 1024) {
    refuse(std::to_string(options.replicas) + " replicas were asked for; give 1 to 1024, or 0 for as many as fit");
  }
  if (options.threads < 0 || options.threads > 1024) {
    refuse(std::to_string(options.threads) + " threads a replica were asked for; give 1 to 1024, or 0 to share them");
  }
  std::vector<at::Device> devices = options.devices;
  if (devices.empty()) {
    if (module.is_cpu()) {
      return std::vector<at::Device>(
          static_cast<std::size_t>(options.replicas ? options.replicas : at::get_num_threads()), module);
    }
    devices = gpus(module);
  } else if (options.replicas != 0 && options.replicas != static_cast<int>(devices.size())) {
    refuse(std::to_string(options.replicas) + " replicas on " + std::to_string(devices.size()) +
           " devices; give one of both, or a device for each");
  }
  for (at::Device& device : devices) {
    if (device.type() != module.type()) {
      refuse("the module is on " + module.str() + ", a replica on " + device.str() +
             "; move the module to a device of that type first");
    }
    if (!device.is_cpu() && !device.has_index()) device = at::empty({0}, at::TensorOptions(device)).device();
  }
  if (devices.front() != module) {
    refuse("the module is on " + module.str() + ", the first replica on " + devices.front().str() +
           "; move the module there");
  }
  return devices;
}

std::vector<at::Generator> generators_for(int count) {
  at::Generator generator = nn::current_generator(at::kCPU);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  auto* source = at::check_generator<at::CPUGeneratorImpl>(generator);
  std::vector<at::Generator> generators;
  for (int i = 0; i < count; ++i) generators.push_back(at::make_generator<at::CPUGeneratorImpl>(source->random()));
  return generators;
}

bool any_requires_grad(const std::vector<at::Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const at::Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); });
}

void check_device(const std::vector<at::Tensor>& tensors, at::Device device) {
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || tensor.device() == device) continue;
    refuse("a tensor of the module of sizes " + c10::str(tensor.sizes()) + " is on " + tensor.device().str() +
           ", the first replica on " + device.str() + "; move the module there, or make another DataParallel of it");
  }
}

// The replicas' parts of the graph, and what they are cut off from.
struct Cut {
  std::vector<at::Tensor> sources;
  std::vector<Part> parts;
};

// Has replicas begin with leaves. `inputs` are those of each, and are replaced.
Cut cut_off(const ReplicaCall& call, std::vector<std::vector<at::Tensor>>& inputs) {
  Cut cut;
  cut.parts.resize(inputs.size());
  std::unordered_set<const at::TensorImpl*> known;  // a module that is there twice has one set of tensors
  for (std::size_t i = 0; i < call.parameters.size(); ++i) {
    if (!call.parameters[i].requires_grad()) continue;
    for (std::size_t r = 0; r < inputs.size(); ++r) {
      if (!known.insert(call.set->parameters[r][i].unsafeGetTensorImpl()).second) continue;
      cut.parts[r].leaves.push_back(call.set->parameters[r][i]);
      cut.parts[r].sources.push_back(cut.sources.size());
    }
    cut.sources.push_back(call.parameters[i]);
  }
  for (std::size_t r = 0; r < inputs.size(); ++r) {
    for (at::Tensor& input : inputs[r]) {
      if (!input.defined() || !input.requires_grad()) continue;
      cut.parts[r].sources.push_back(cut.sources.size());
      cut.sources.push_back(input);
      input = input.detach().set_requires_grad(true);
      cut.parts[r].leaves.push_back(input);
    }
  }
  return cut;
}

}  // namespace

at::Device device_of(const torch::nn::Module& module) {
  for (const at::Tensor& parameter : module.parameters()) return parameter.device();
  for (const at::Tensor& buffer : module.buffers()) return buffer.device();
  return at::kCPU;
}

Replicas::Replicas(const ReplicaOptions& options, at::Device device)
    : options_(options), devices_(devices_for(options, device)), idle_(std::make_shared<Idle>()) {
  threads_each_ = options.threads ? options.threads : std::max(1, at::get_num_threads() / count());
}

Replicas::~Replicas() = default;

std::vector<at::Tensor> Replicas::on_first(std::vector<at::Tensor> inputs) const {
  for (at::Tensor& input : inputs) {
    if (input.defined()) input = input.to(devices_.front(), /*non_blocking=*/true);
  }
  return inputs;
}

std::vector<std::vector<at::Tensor>> Replicas::scatter(const std::vector<at::Tensor>& inputs) const {
  const std::int64_t dim = options_.dim;
  const auto position = [&](const at::Tensor& tensor) { return dim < 0 ? dim + tensor.dim() : dim; };
  const at::Tensor* first = nullptr;
  for (const at::Tensor& input : inputs) {
    if (!input.defined() || input.dim() == 0) continue;
    std::ostringstream text;
    if (position(input) < 0 || position(input) >= input.dim()) {
      text << "an input of sizes " << input.sizes() << " has no dimension " << dim << " to be split along";
    } else if (first && first->size(dim) != input.size(dim)) {
      text << "inputs of sizes " << first->sizes() << " and " << input.sizes() << " differ in dimension " << dim
           << ", along which they are split; give each one the batch there, or what is the same for all samples as a "
              "member of the module";
    }
    if (!text.str().empty()) refuse(text.str());
    if (!first) first = &input;
  }
  std::size_t pieces = 1;
  std::vector<std::vector<at::Tensor>> chunks(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || inputs[i].dim() == 0 || inputs[i].size(dim) == 0) continue;
    chunks[i] = inputs[i].chunk(count(), dim);
    pieces = chunks[i].size();
  }
  std::vector<std::vector<at::Tensor>> scattered(pieces);
  for (std::size_t r = 0; r < pieces; ++r) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const at::Tensor& piece = chunks[i].empty() ? inputs[i] : chunks[i][r];
      scattered[r].push_back(piece.defined() ? piece.to(devices_[r], /*non_blocking=*/true) : piece);
    }
  }
  return scattered;
}

at::Tensor Replicas::gather(const std::vector<at::Tensor>& pieces) const {
  std::vector<at::Tensor> here;
  for (const at::Tensor& piece : pieces) {
    if (piece.defined() != pieces.front().defined()) {
      refuse("an output is there from one replica and undefined from another");
    }
    if (piece.defined()) here.push_back(piece.to(devices_.front()));
  }
  if (here.empty()) return {};
  if (here.front().dim() == 0) return at::stack(here);
  try {
    return here.size() == 1 ? here.front() : at::cat(here, options_.dim);
  } catch (c10::Error& error) {
    error.add_context("in joining the outputs of " + std::to_string(here.size()) + " replicas along dimension " +
                      std::to_string(options_.dim));
    throw;
  }
}

std::vector<at::Tensor> Replicas::gather_all(const std::vector<std::vector<at::Tensor>>& outputs) const {
  std::vector<at::Tensor> gathered;
  for (std::size_t i = 0; i < outputs.front().size(); ++i) {
    std::vector<at::Tensor> pieces;
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      if (outputs[r].size() != outputs.front().size()) {
        refuse("replica 0 gave " + std::to_string(outputs.front().size()) + " tensors, replica " + std::to_string(r) +
               " gave " + std::to_string(outputs[r].size()));
      }
      pieces.push_back(outputs[r][i]);
    }
    gathered.push_back(gather(pieces));
  }
  return gathered;
}

std::vector<at::Tensor> Replicas::run(const ReplicaCall& call) {
  check_device(call.parameters, devices_.front());
  check_device(call.buffers, devices_.front());
  std::call_once(started_, [this] { threads_ = std::make_shared<ReplicaThreads>(devices_, threads_each_); });
  std::vector<std::vector<at::Tensor>> inputs = scatter(call.inputs);
  const std::size_t count = inputs.size();
  bool recorded = any_requires_grad(call.parameters);
  for (const auto& list : inputs) recorded = recorded || any_requires_grad(list);
  recorded = recorded && at::GradMode::is_enabled() && !c10::InferenceMode::is_enabled();
  const bool in_parts = recorded && devices_.front().is_cpu();
  refresh(call, static_cast<int>(count), devices_, in_parts);

  const PartOwner owner{threads_, generators_for(static_cast<int>(count)), call.set};
  Cut cut;
  if (in_parts) {
    cut = cut_off(call, inputs);
  } else if (recorded) {
    connect_replicas(call.parameters, call.set->parameters);
  }
  std::vector<std::vector<at::Tensor>> outputs(count);
  threads_->run(static_cast<int>(count), [&](int replica) {
    const auto r = static_cast<std::size_t>(replica);
    const nn::ThreadGenerator random(owner.generators[r]);
    const c10::OptionalDeviceGuard device(devices_[r]);
    try {
      outputs[r] = call.forward(replica, inputs[r]);
      if (!in_parts) return;
      for (const at::Tensor& output : outputs[r]) {
        if (output.defined() && output.requires_grad()) cut.parts[r].roots.push_back(output);
      }
      check_closed(cut.parts[r]);
    } catch (...) {
      rethrow_from(replica, static_cast<int>(count), "forward", inputs[r]);
    }
  });

  if (in_parts) {
    const auto joined = record_parts(cut.sources, std::move(cut.parts), owner);
    for (std::size_t r = 0; r < count; ++r) {
      std::size_t next = 0;
      for (at::Tensor& output : outputs[r]) {
        if (output.defined() && output.requires_grad()) output = joined[r][next++];
      }
    }
  }
  std::vector<at::Tensor> gathered = gather_all(outputs);
  if (recorded && !in_parts) keep_with(gathered, call.set);
  return gathered;
}

}  // namespace tandem::internal
