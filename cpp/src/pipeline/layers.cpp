// A model's layers, and stages that are made of them.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/invalid.h"
#include "tandem/pipeline_split.h"

namespace tandem {
namespace {

// What tensors are called, whichever layers have them.
class Names {
 public:
  // The first name that it had, as `name` for one who has not had any.
  const std::string& of(const std::string& name, const at::Tensor& tensor) {
    const auto [found, is_new] = names_.try_emplace(tensor.unsafeGetTensorImpl(), name);
    if (is_new && !tensors_.try_emplace(name, tensor.unsafeGetTensorImpl()).second) {
      invalid("two layers have a tensor '" + name + "' of their own; give each its name in the whole model");
    }
    return found->second;
  }

 private:
  std::map<const c10::TensorImpl*, std::string> names_;
  std::map<std::string, const c10::TensorImpl*> tensors_;
};

// Gives the name that it has there.
std::string add_tensor(NamedTensors& list, const std::string& own, const at::Tensor& tensor, Names& names, bool* is_new) {
  if (!tensor.defined()) invalid("a layer has no tensor for '" + own + "'");
  const std::string name = names.of(own, tensor);
  *is_new = std::ranges::none_of(list, [&](const auto& one) { return one.first == name; });
  if (*is_new) list.emplace_back(name, tensor);
  return name;
}

void add_layer(PipelineStage& stage, const PipelineStage& layer, Names& names) {
  if (!layer.tied.empty()) {
    invalid("a layer ties '" + layer.tied.front() + "', which stages do; have the layers share the tensor itself");
  }
  bool is_new = false;
  for (std::size_t i = 0; i < layer.parameters.size(); ++i) {
    add_tensor(stage.parameters, layer.parameters[i].first, layer.parameters[i].second, names, &is_new);
    if (is_new) stage.sparse_gradients.push_back(i < layer.sparse_gradients.size() && layer.sparse_gradients[i]);
  }
  for (const auto& [name, tensor] : layer.buffers) add_tensor(stage.buffers, name, tensor, names, &is_new);
}

}  // namespace

const at::Tensor& internal::only_input(const std::vector<at::Tensor>& inputs) {
  if (inputs.size() == 1) return inputs.front();
  invalid("a module takes one tensor here, not " + std::to_string(inputs.size()) +
          "; give the stage a forward of its own, which says what becomes of each");
}

std::vector<PipelineStage> pipeline_layers(const torch::nn::Sequential& model) {
  if (model.is_empty()) invalid("a pipeline's layers are those of a module, and there is none");
  std::vector<PipelineStage> layers;
  const auto children = model->named_children();
  auto child = children.begin();
  for (auto layer = model->begin(); layer != model->end(); ++layer, ++child) {
    PipelineStage made;
    made.index = static_cast<int>(layers.size());
    const std::string prefix = child->key() + ".";
    for (const auto& item : layer->ptr()->named_parameters()) made.parameters.emplace_back(prefix + item.key(), item.value());
    for (const auto& item : layer->ptr()->named_buffers()) made.buffers.emplace_back(prefix + item.key(), item.value());
    made.sparse_gradients = internal::sparse_gradients_of(*layer->ptr());
    made.forward = [module = *layer, name = child->key()](const std::vector<at::Tensor>& inputs) mutable {
      torch::nn::AnyValue given = module.any_forward(internal::only_input(inputs));
      if (at::Tensor* const output = given.template try_get<at::Tensor>()) return std::vector<at::Tensor>{*output};
      invalid("layer '" + name + "' of the Sequential (" + module.ptr()->name() + ") gives " +
              c10::demangle(given.type_info().name()) + "; stages give tensors: make a layer of it that does");
    };
    layers.push_back(std::move(made));
  }
  return layers;
}

std::vector<PipelineStage> pipeline_layers(const ExportedProgram& program, std::size_t least) {
  std::vector<PipelineStage> layers;
  for (auto& one : program.parts(least)) {
    const std::shared_ptr<nn::Module> part = std::move(one);
    PipelineStage made;
    made.index = static_cast<int>(layers.size());
    for (const auto& item : part->get().named_parameters()) made.parameters.emplace_back(item.key(), item.value());
    for (const auto& item : part->get().named_buffers()) made.buffers.emplace_back(item.key(), item.value());
    made.forward = [part](const std::vector<at::Tensor>& inputs) {
      const std::vector<at::IValue> arguments(inputs.begin(), inputs.end());
      std::vector<at::Tensor> outputs;
      for (const at::IValue& value : part->forward(arguments)) outputs.push_back(value.toTensor());
      return outputs;
    };
    layers.push_back(std::move(made));
  }
  return layers;
}

std::vector<PipelineStage> join_layers(const std::vector<PipelineStage>& layers, const std::vector<std::size_t>& first) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (i == 0 ? first[i] == 0 : first[i] > first[i - 1] && first[i] < layers.size()) continue;
    invalid("stage " + std::to_string(i) + " is to begin with layer " + std::to_string(first[i]) +
            "; the first begins with 0, and each other one after the one before and with one of the " +
            std::to_string(layers.size()) + " layers");
  }
  if (first.empty() || layers.empty()) invalid("a pipeline needs at least one stage and one layer");
  Names names;
  std::vector<PipelineStage> stages;
  for (std::size_t i = 0; i < first.size(); ++i) {
    PipelineStage& stage = stages.emplace_back();
    stage.index = static_cast<int>(i);
    std::vector<decltype(stage.forward)> forwards;
    const std::size_t end = i + 1 < first.size() ? first[i + 1] : layers.size();
    for (std::size_t layer = first[i]; layer < end; ++layer) {
      add_layer(stage, layers[layer], names);
      forwards.push_back(layers[layer].forward);
    }
    stage.forward = [forwards = std::move(forwards)](const std::vector<at::Tensor>& inputs) {
      std::vector<at::Tensor> values = inputs;
      for (const auto& forward : forwards) values = forward(values);
      return values;
    };
  }
  std::map<std::string, int> stages_with;
  const auto for_each = [](const PipelineStage& stage, const auto& visit) {
    for (const auto& [name, tensor] : stage.parameters) visit(name);
    for (const auto& [name, tensor] : stage.buffers) visit(name);
  };
  for (const PipelineStage& stage : stages) for_each(stage, [&](const std::string& name) { ++stages_with[name]; });
  for (PipelineStage& stage : stages) {
    for_each(stage, [&](const std::string& name) {
      if (stages_with[name] > 1) stage.tied.push_back(name);
    });
  }
  return stages;
}

}  // namespace tandem
