// What checkpoints have of a pipeline.
#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/invalid.h"
#include "tandem/match_tensors.h"
#include "tandem/pipeline_state.h"

namespace tandem {
namespace {

constexpr const char* kModel = "model";
constexpr const char* kOptimizer = "optimizer";

// All tensors of this rank's stages; one that several of them have once.
NamedTensors tensors_of(const Pipeline& pipeline) {
  NamedTensors all;
  const auto add = [&all](const NamedTensors& tensors) {
    for (const auto& one : tensors) {
      const auto is_it = [&](const auto& other) { return other.first == one.first && other.second.is_same(one.second); };
      if (std::ranges::none_of(all, is_it)) all.push_back(one);
    }
  };
  for (const PipelineStage& stage : pipeline.stages()) {
    add(stage.parameters);
    add(stage.buffers);
  }
  return all;
}

// Names of an optimizer's parameters, in its order.
std::vector<std::string> names_of(const Pipeline& pipeline, const optim::Optimizer& optimizer) {
  std::map<const c10::TensorImpl*, std::string> names;
  for (const auto& [name, tensor] : tensors_of(pipeline)) names.try_emplace(tensor.unsafeGetTensorImpl(), name);
  std::vector<std::string> result;
  for (const at::Tensor& parameter : optimizer.parameters()) {
    const auto found = names.find(parameter.unsafeGetTensorImpl());
    if (found == names.end()) {
      invalid("the optimizer's parameter " + std::to_string(result.size()) +
              " is of no stage of this rank; make it of the stages' parameters");
    }
    result.push_back(found->second);
  }
  return result;
}

// "3.momentum_buffer" is 3 and "momentum_buffer"; numbers are below `count`.
std::pair<std::size_t, std::string> numbered(const std::string& key, std::size_t count) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  const auto digits = static_cast<std::size_t>(end - key.data());
  if (error != std::errc() || digits == key.size() || key[digits] != '.' || number >= count) {
    throw Error(ErrorCode::kUnsupported, "the optimizer's state '" + key +
                                             "' belongs to no parameter, and cannot be kept by names of the model");
  }
  return {number, key.substr(digits + 1)};
}

// The longest name before a dot that `key` begins with, for one name may be the beginning of another.
const std::string* name_in(const std::map<std::string, std::size_t>& names, const std::string& key) {
  for (auto dot = key.rfind('.'); dot != std::string::npos && dot > 0; dot = key.rfind('.', dot - 1)) {
    const auto found = names.find(key.substr(0, dot));
    if (found != names.end()) return &found->first;
  }
  return nullptr;
}

// As optimizers that no pipeline saved: "3.exp_avg", and not "3.weight.exp_avg".
bool is_numbered(const std::string& key) {
  const auto dot = key.find_first_not_of("0123456789");
  return dot != std::string::npos && dot > 0 && key[dot] == '.' && key.find('.', dot + 1) == std::string::npos;
}

std::map<std::string, std::size_t> numbers_of(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) numbers.try_emplace(names[i], i);
  return numbers;
}

}  // namespace

CheckpointContent pipeline_content(const Pipeline& pipeline, const optim::Optimizer* optimizer) {
  CheckpointContent content;
  auto& model = content.own[kModel];
  for (const auto& [name, tensor] : tensors_of(pipeline)) {
    const auto is_it = [&name](const OwnTensor& other) { return other.name == name; };
    if (pipeline.saves(name) && std::ranges::none_of(model, is_it)) model.push_back({name, tensor.detach()});
  }
  if (!optimizer) return content;
  if (std::string_view(optimizer->type()) == "LBFGS") {
    throw Error(ErrorCode::kUnsupported,
                "LBFGS remembers a direction of all of a rank's parameters, which is not kept by names of the model");
  }
  const bool is_spread = std::string_view(optimizer->type()) == "ZeroRedundancyOptimizer";
  const std::vector<std::string> names = names_of(pipeline, *optimizer);
  auto& remembered = content.own[kOptimizer];
  for (const auto& [key, tensor] : optimizer->state()) {
    const auto [number, what] = numbered(key, names.size());
    const std::string name = names[number] + "." + what;
    const auto is_it = [&name](const OwnTensor& other) { return other.name == name; };
    if (!(is_spread ? pipeline.is_first_with(names[number]) : pipeline.saves(names[number]))) continue;
    if (std::ranges::none_of(remembered, is_it)) remembered.push_back({name, tensor});
  }
  return content;
}

CheckpointRequest pipeline_request(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_of(pipeline)) names.push_back(name);
  CheckpointRequest request;
  request.part = [numbers = numbers_of(names)](const std::string& section, const std::string& name,
                                               const std::vector<std::int64_t>& sizes) -> std::optional<TensorPart> {
    if (section == kModel && !numbers.contains(name)) return std::nullopt;
    if (section == kOptimizer && !name_in(numbers, name) && !is_numbered(name)) return std::nullopt;
    return TensorPart{std::vector<std::int64_t>(sizes.size()), sizes};
  };
  return request;
}

void load_pipeline(Pipeline& pipeline, const Checkpoint& checkpoint, optim::Optimizer* optimizer) {
  const auto section = [&checkpoint](const char* name) {
    const auto found = checkpoint.sections.find(name);
    return found == checkpoint.sections.end() ? NamedTensors() : found->second;
  };
  const NamedTensors into = tensors_of(pipeline);
  // Stages of one rank may have tied parameters that are tensors of their own.
  std::map<std::string, at::Tensor> first;
  NamedTensors once, wanted;
  for (const auto& [name, tensor] : into) {
    if (first.try_emplace(name, tensor).second) once.emplace_back(name, tensor);
  }
  for (const auto& one : section(kModel)) {
    if (first.contains(one.first)) wanted.push_back(one);
  }
  load_tensors(once, wanted);
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : into) {
    if (!tensor.is_same(first.at(name))) at::Tensor(tensor).copy_(first.at(name));
  }
  if (!optimizer) return;
  const std::vector<std::string> names = names_of(pipeline, *optimizer);
  const auto numbers = numbers_of(names);
  NamedTensors state;
  for (const auto& [key, tensor] : section(kOptimizer)) {
    const std::string* const name = name_in(numbers, key);
    if (!name && is_numbered(key)) {
      invalid("the checkpoint has '" + key + "', which an optimizer remembers by number: it was saved without a pipeline; "
              "load its model alone");
    }
    if (!name) continue;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == *name) state.emplace_back(std::to_string(i) + key.substr(name->size()), tensor);
    }
  }
  optimizer->load_state(state);
}

}  // namespace tandem
