// Tensors, lists of them, and autograd.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tandem/abi/handle.hpp"

namespace tandem::abi {

struct Device {
  int32_t type = TDM_DEVICE_CPU;  // TDM_DEVICE_…
  int32_t index = -1;             // -1: the current one of that type

  Device() = default;
  explicit Device(int32_t type_, int32_t index_ = -1) : type(type_), index(index_) {}
  tdm_device raw() const { return {type, index}; }
};

// One reference to a LibTorch tensor. A copy is a second handle to the same tensor, not to a copy of its elements.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(tdm_tensor* owned) : handle_(owned) {}
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;
  Tensor(const Tensor& other) {
    if (other.raw()) check(tdm_tensor_share(other.raw(), handle_.out()));
  }
  Tensor& operator=(const Tensor& other) {
    if (this != &other) *this = Tensor(other);
    return *this;
  }

  // Copies `bytes` bytes of C-contiguous elements into a new CPU tensor.
  static Tensor from_data(const void* data, size_t bytes, int32_t dtype, const std::vector<int64_t>& sizes) {
    Tensor tensor;
    check(tdm_tensor_from_data(data, bytes, dtype, sizes.data(), static_cast<int64_t>(sizes.size()),
                               tensor.handle_.out()));
    return tensor;
  }

  template <typename T>
  static Tensor from_vector(const std::vector<T>& data, int32_t dtype, const std::vector<int64_t>& sizes) {
    return from_data(data.data(), data.size() * sizeof(T), dtype, sizes);
  }

  bool defined() const { return raw() != nullptr; }
  int64_t dim() const { return tdm_tensor_dim(raw()); }
  int64_t numel() const { return tdm_tensor_numel(raw()); }
  size_t nbytes() const { return tdm_tensor_nbytes(raw()); }
  size_t storage_nbytes() const { return tdm_tensor_storage_nbytes(raw()); }
  int32_t dtype() const { return tdm_tensor_get_dtype(raw()); }
  Device device() const {
    const tdm_device device = tdm_tensor_get_device(raw());
    return Device(device.type, device.index);
  }
  bool requires_grad() const { return tdm_tensor_requires_grad(raw()) != 0; }
  bool is_leaf() const { return tdm_tensor_is_leaf(raw()) != 0; }
  bool is_contiguous() const { return tdm_tensor_is_contiguous(raw()) != 0; }
  // TDM_LAYOUT_…, -1 for another.
  int32_t layout() const { return tdm_tensor_get_layout(raw()); }
  bool is_same(const Tensor& other) const { return tdm_tensor_is_same(raw(), other.raw()) != 0; }

  std::vector<int64_t> sizes() const { return numbers(tdm_tensor_sizes(raw())); }
  // In elements; empty for sparse tensors.
  std::vector<int64_t> strides() const { return numbers(tdm_tensor_strides(raw())); }

  // First element of a dense CPU tensor; lives as long as the tensor's storage.
  void* data() const {
    void* data = nullptr;
    check(tdm_tensor_data(raw(), &data));
    return data;
  }
  // All elements, C-contiguous, from any device; `bytes` must be nbytes().
  void copy_to(void* destination, size_t bytes) const { check(tdm_tensor_copy_to(raw(), destination, bytes)); }
  void copy_from(const void* source, size_t bytes) { check(tdm_tensor_copy_from(raw(), source, bytes)); }

  template <typename T>
  std::vector<T> to_vector() const {
    std::vector<T> elements(static_cast<size_t>(numel()));
    copy_to(elements.data(), elements.size() * sizeof(T));
    return elements;
  }

  // The element of a tensor that has one.
  double item_double() const {
    double value = 0;
    check(tdm_tensor_item_double(raw(), &value));
    return value;
  }
  int64_t item_int64() const {
    int64_t value = 0;
    check(tdm_tensor_item_int64(raw(), &value));
    return value;
  }
  // As PyTorch prints it in C++.
  std::string to_string() const {
    tdm_string* string = nullptr;
    check(tdm_tensor_to_string(raw(), &string));
    return take_string(string);
  }

  // What autograd recorded the tensor as a result of, "MulBackward0"; empty for nothing.
  std::string grad_fn_name() const {
    tdm_string* name = nullptr;
    check(tdm_tensor_grad_fn_name(raw(), &name));
    return name ? take_string(name) : std::string();
  }

  // The accumulated gradient; undefined when there is none.
  Tensor grad() const {
    Tensor grad;
    check(tdm_tensor_grad(raw(), grad.handle_.out()));
    return grad;
  }
  void set_grad(const Tensor& grad) { check(tdm_tensor_set_grad(raw(), grad.raw())); }
  void clear_grad() { check(tdm_tensor_set_grad(raw(), nullptr)); }
  void set_requires_grad(bool on) { check(tdm_tensor_set_requires_grad(raw(), on)); }

  tdm_tensor* raw() const noexcept { return handle_.get(); }
  tdm_tensor* release() noexcept { return handle_.release(); }

 private:
  std::vector<int64_t> numbers(const int64_t* first) const {
    return first ? std::vector<int64_t>(first, first + dim()) : std::vector<int64_t>();
  }

  Handle<tdm_tensor, tdm_tensor_free> handle_;
};

// Tensors as an argument: borrowed for the duration of the call.
class TensorList {
 public:
  TensorList() = default;
  TensorList(const std::vector<Tensor>& tensors) {  // NOLINT: implicit, so that calls take vectors
    for (const Tensor& tensor : tensors) add(tensor);
  }
  TensorList(std::initializer_list<const Tensor*> tensors) {
    for (const Tensor* tensor : tensors) add(*tensor);
  }
  void add(const Tensor& tensor) { pointers_.push_back(tensor.raw()); }
  void add_none() { pointers_.push_back(nullptr); }

  size_t size() const { return pointers_.size(); }
  tdm_tensor* const* data() const { return pointers_.data(); }

 private:
  std::vector<tdm_tensor*> pointers_;
};

// Names with tensors in a fixed order.
class NamedTensors {
 public:
  explicit NamedTensors(tdm_named_tensors* owned) : handle_(owned) {}

  size_t size() const { return tdm_named_tensors_size(handle_.get()); }
  // TDM_ERROR_OUT_OF_RANGE past the end.
  std::string name(size_t index) const {
    const char* name = tdm_named_tensors_name(handle_.get(), index);
    if (!name) throw Error(TDM_ERROR_OUT_OF_RANGE, "NamedTensors::name", "index past the end of the list");
    return name;
  }
  Tensor tensor(size_t index) const {
    tdm_tensor* tensor = nullptr;
    check(tdm_named_tensors_get(handle_.get(), index, &tensor));
    return Tensor(tensor);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < size(); ++i) names.push_back(name(i));
    return names;
  }
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < size(); ++i) tensors.push_back(tensor(i));
    return tensors;
  }

 private:
  Handle<tdm_named_tensors, tdm_named_tensors_free> handle_;
};

// Gradients of `tensors`, weighted by `gradients` (none: ones for scalars), accumulate into the leaves' grad().
// Source: torch.autograd.backward.
inline void backward(const TensorList& tensors, const TensorList& gradients = {}, bool retain_graph = false,
                     bool create_graph = false) {
  if (gradients.size() != 0 && gradients.size() != tensors.size()) {
    throw Error(TDM_ERROR_INVALID_ARGUMENT, "backward", "give one gradient for each tensor, or none at all");
  }
  check(tdm_autograd_backward(tensors.data(), gradients.size() ? gradients.data() : nullptr, tensors.size(),
                              retain_graph, create_graph));
}

// Gradients of outputs with respect to inputs; undefined where unused. Source: torch.autograd.grad.
inline std::vector<Tensor> grad(const TensorList& outputs, const TensorList& grad_outputs, const TensorList& inputs,
                                bool retain_graph = false, bool create_graph = false, bool allow_unused = false) {
  if (grad_outputs.size() != 0 && grad_outputs.size() != outputs.size()) {
    throw Error(TDM_ERROR_INVALID_ARGUMENT, "grad", "give one gradient for each output, or none at all");
  }
  std::vector<tdm_tensor*> raw(inputs.size());
  check(tdm_autograd_grad(outputs.data(), grad_outputs.size() ? grad_outputs.data() : nullptr, outputs.size(),
                          inputs.data(), inputs.size(), retain_graph, create_graph, allow_unused, raw.data()));
  std::vector<Tensor> results;
  for (tdm_tensor* tensor : raw) results.emplace_back(tensor);
  return results;
}

}  // namespace tandem::abi
