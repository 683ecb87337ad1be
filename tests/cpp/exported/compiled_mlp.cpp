// A library as AOTInductor makes them, of files/mlp_eval.pt2, written by hand: the machine that runs the tests has no Python
// that could compile one. As theirs it goes by addresses and the strides that it was made for, and checks neither.
//
// Its results lie column by column in memory, by which tests tell them from the graph's. COMPILED_MLP in the environment
// changes it when it is loaded: "inlined", "folded", "empty", "other".
#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_runtime/constant_type.h>
#include <torch/csrc/inductor/aoti_runtime/interface.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using torch::aot_inductor::ConstantType;
using Values = std::unordered_map<std::string, AtenTensorHandle>;

constexpr const char* kTakes = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [
  {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}]},
  {"type": "builtins.dict", "context": "[]", "children_spec": []}]}])";
constexpr const char* kGives = R"([1, {"type": null, "context": null, "children_spec": []}])";

struct Constant {
  const char *name, *in_model;
  std::vector<std::int64_t> shape;
};

const std::vector<Constant> kConstants = {
    {"layers_0_weight", "layers.0.weight", {16, 6}}, {"layers_0_bias", "layers.0.bias", {16}},
    {"layers_2_weight", "layers.2.weight", {8, 16}}, {"layers_4_weight", "layers.4.weight", {3, 8}},
    {"layers_4_bias", "layers.4.bias", {3}},         {"layers_2_bias", "layers.2.bias", {8}},
};

at::Tensor* tensor_of(AtenTensorHandle handle) {
  return reinterpret_cast<at::Tensor*>(handle);
}

bool is_variant(const char* name) {
  const char* variant = std::getenv("COMPILED_MLP");
  return variant && std::strcmp(variant, name) == 0;
}

struct Container {
  explicit Container(std::size_t models) : models(models), count(is_variant("inlined") ? 5 : 6) {
    for (std::size_t i = 0; i < count; ++i) {
      const Constant& constant = kConstants[i];
      std::vector<std::int64_t> shape = constant.shape;
      if (is_variant("other") && i == 3) shape = {4, 8};
      own.push_back(at::full(shape, std::nan(""), at::kDouble));  // whoever reads these has not given its own
    }
    for (at::Tensor& tensor : own) active.push_back(&tensor);
    inactive = active;
  }

  const std::size_t models, count;
  std::vector<at::Tensor> own;
  std::vector<at::Tensor*> active, inactive;
  std::atomic<std::size_t> running{0};
};

Container& container_of(AOTInductorModelContainerHandle handle) {
  return *reinterpret_cast<Container*>(handle);
}

// Row by row, whatever its strides say.
at::Tensor rows(const at::Tensor& tensor, at::IntArrayRef shape) {
  return at::from_blob(tensor.data_ptr(), shape, at::kDouble);
}

at::Tensor compute(Container& container, const at::Tensor& input) {
  const at::Tensor x = rows(input, input.sizes());
  if (std::isnan(x.flatten()[0].item<double>())) throw std::runtime_error("an input that the test wants to fail");
  const auto constant = [&](std::size_t i) {
    if (i >= container.count) return at::zeros(kConstants[i].shape, at::kDouble);
    return rows(*container.active[i], kConstants[i].shape);
  };
  const at::Tensor first = at::relu(at::addmm(constant(1), x, constant(0).t()));
  const at::Tensor second = at::tanh(at::addmm(constant(5), first, constant(2).t()));
  return at::addmm(constant(4), second, constant(3).t()).t().contiguous().t();
}

template <typename Body>
AOTIRuntimeError guarded(const Body& body) {
  try {
    body();
    return AOTI_RUNTIME_SUCCESS;
  } catch (const std::exception&) {
    return AOTI_RUNTIME_FAILURE;
  }
}

AOTIRuntimeError update(AOTInductorModelContainerHandle handle, AOTInductorConstantMapHandle map, bool inactive) {
  Container& container = container_of(handle);
  if (container.running != 0) return AOTI_RUNTIME_FAILURE;
  const Values& values = *reinterpret_cast<Values*>(map);
  for (std::size_t i = 0; i < container.count; ++i) {
    const auto found = values.find(kConstants[i].name);
    if (found != values.end()) (inactive ? container.inactive : container.active)[i] = tensor_of(found->second);
  }
  return AOTI_RUNTIME_SUCCESS;
}

}  // namespace

extern "C" {

AOTIRuntimeError AOTInductorModelContainerCreateWithDevice(AOTInductorModelContainerHandle* made, std::size_t models,
                                                           const char*, const char*) {
  return guarded([&] { *made = reinterpret_cast<AOTInductorModelContainerHandle>(new Container(models)); });
}
AOTIRuntimeError AOTInductorModelContainerDelete(AOTInductorModelContainerHandle handle) {
  delete &container_of(handle);
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerRun(AOTInductorModelContainerHandle handle, AtenTensorHandle* inputs, std::size_t,
                                              AtenTensorHandle* outputs, std::size_t, AOTInductorStreamHandle,
                                              AOTIProxyExecutorHandle) {
  Container& container = container_of(handle);
  const std::unique_ptr<at::Tensor> input(tensor_of(std::exchange(inputs[0], nullptr)));  // LibTorch 2.15 deletes what is left
  const bool too_many = container.running.fetch_add(1) + 1 > container.models;
  const AOTIRuntimeError error = guarded([&] {
    if (too_many) throw std::runtime_error("more calls than models");
    outputs[0] = reinterpret_cast<AtenTensorHandle>(new at::Tensor(compute(container, *input)));
  });
  --container.running;
  return error;
}
AOTIRuntimeError AOTInductorModelContainerRunSingleThreaded(AOTInductorModelContainerHandle, AtenTensorHandle*, std::size_t,
                                                            AtenTensorHandle*, std::size_t, AOTInductorStreamHandle,
                                                            AOTIProxyExecutorHandle) {
  return AOTI_RUNTIME_FAILURE;
}
AOTIRuntimeError AOTInductorModelContainerGetNumInputs(AOTInductorModelContainerHandle, std::size_t* count) {
  *count = 1;
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetNumOutputs(AOTInductorModelContainerHandle, std::size_t* count) {
  *count = 1;
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetCallSpec(AOTInductorModelContainerHandle, const char** takes,
                                                      const char** gives) {
  *takes = kTakes;
  *gives = kGives;
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetNumConstants(AOTInductorModelContainerHandle handle, std::size_t* count) {
  *count = container_of(handle).count;
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetConstantName(AOTInductorModelContainerHandle, std::size_t i,
                                                          const char** name) {
  *name = kConstants[i].name;
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetConstantOriginalFQN(AOTInductorModelContainerHandle, std::size_t i,
                                                                 const char** name) {
  *name = kConstants[i].in_model;
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetConstantFromFolded(AOTInductorModelContainerHandle, std::size_t i,
                                                                bool* folded) {
  *folded = i == 0 && is_variant("folded");
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetConstantType(AOTInductorModelContainerHandle, std::size_t,
                                                          std::int32_t* type) {
  *type = ConstantType::Parameter;
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetConstantDtype(AOTInductorModelContainerHandle, std::size_t,
                                                           std::int32_t* dtype) {
  *dtype = static_cast<std::int32_t>(at::kDouble);
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetConstantDataSize(AOTInductorModelContainerHandle handle, std::size_t i,
                                                              std::size_t* size) {
  *size = container_of(handle).own[i].nbytes();
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerExtractConstantsMap(AOTInductorModelContainerHandle handle,
                                                              AOTInductorConstantMapHandle map, bool) {
  if (is_variant("empty")) return AOTI_RUNTIME_SUCCESS;
  Container& container = container_of(handle);
  for (std::size_t i = 0; i < container.count; ++i) {
    reinterpret_cast<Values*>(map)->emplace(kConstants[i].in_model,
                                            reinterpret_cast<AtenTensorHandle>(container.active[i]));
  }
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerUpdateUserManagedConstantBuffer(AOTInductorModelContainerHandle handle,
                                                                          AOTInductorConstantMapHandle map, bool inactive,
                                                                          bool) {
  return update(handle, map, inactive);
}
AOTIRuntimeError AOTInductorModelContainerUpdateConstantBuffer(AOTInductorModelContainerHandle, AOTInductorConstantMapHandle,
                                                               bool, bool) {
  return AOTI_RUNTIME_FAILURE;  // which would copy
}
AOTIRuntimeError AOTInductorModelContainerUpdateInactiveConstantBuffer(AOTInductorModelContainerHandle,
                                                                       AOTInductorConstantMapHandle) {
  return AOTI_RUNTIME_FAILURE;
}
AOTIRuntimeError AOTInductorModelContainerRunConstantFolding(AOTInductorModelContainerHandle, bool, AOTInductorStreamHandle,
                                                             AOTIProxyExecutorHandle) {
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerSwapConstantBuffer(AOTInductorModelContainerHandle handle) {
  container_of(handle).active.swap(container_of(handle).inactive);
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerFreeInactiveConstantBuffer(AOTInductorModelContainerHandle handle) {
  for (at::Tensor& tensor : container_of(handle).own) tensor = at::Tensor();
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelContainerGetConstantsBlobSize(AOTInductorModelContainerHandle, std::uint64_t* size) {
  *size = 0;
  return AOTI_RUNTIME_SUCCESS;
}
AOTIRuntimeError AOTInductorModelUpdateConstantsFromBlob(AOTInductorModelContainerHandle, const std::uint8_t*) {
  return AOTI_RUNTIME_FAILURE;
}

}  // extern "C"
