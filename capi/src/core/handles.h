// Handles that several files of the C ABI share: tensors, lists of named tensors, strings.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/guard.h"
#include "core/handle.h"
#include "tandem/tandem.h"

// A reference to a tensor. Its memory comes from slabs that are never unmapped, so that a handle that was freed can be
// told by its state for as long as it is not reused.
//
// A handle made while a scope is open is in that scope's list, which only the scope's thread touches. Another thread
// that frees or keeps such a handle changes `state` alone, and the scope acts on that when it ends.
struct tdm_tensor {
  // See HandleState.
  enum State : std::uint32_t {
    kLive = tandem::capi::handle_tag(tandem::Kind::kTensor, tandem::capi::HandleState::kLive),
    kKept = tandem::capi::handle_tag(tandem::Kind::kTensor, tandem::capi::HandleState::kKept),
    kFreed = tandem::capi::handle_tag(tandem::Kind::kTensor, tandem::capi::HandleState::kFreed),
    kLeft = tandem::capi::handle_tag(tandem::Kind::kTensor, tandem::capi::HandleState::kLeft),
  };

  std::atomic<std::uint32_t> state{kFreed};  // first, as the tag of any handle
  at::Tensor tensor;
  tdm_tensor* next = nullptr;  // in its scope's list, or in a free list
  tdm_tensor* previous = nullptr;
  tdm_scope* scope = nullptr;  // NULL: none
  std::int64_t bytes = 0;      // counted in tdm_tensor_live_bytes()

  bool is_live() const {
    const std::uint32_t now = state.load(std::memory_order_relaxed);
    return now == kLive || now == kKept;
  }
};

struct tdm_string : tandem::capi::Handle<tandem::Kind::kString> {
  explicit tdm_string(std::string value) : text(std::move(value)) {}
  std::string text;
};

struct tdm_named_tensors : tandem::capi::Handle<tandem::Kind::kNamedTensors> {
  std::vector<std::pair<std::string, at::Tensor>> items;
};

namespace tandem::capi {

// Called once, at load: from then on a thread that ends gives back its handles and its pool.
void start_handles();

// A handle for `tensor`, which must be defined. It joins the scope that is open on this thread. Freed with
// tdm_tensor_free().
tdm_tensor* make_tensor_handle(at::Tensor tensor);
// One each, NULL for an undefined tensor. For a callback, whose scope frees them.
std::vector<tdm_tensor*> make_optional_handles(const std::vector<at::Tensor>& tensors);

// The tensor of a handle; throws Error naming `argument` when it is NULL, of another type (kInvalidArgument) or was
// freed (kClosed).
inline const at::Tensor& unwrap(const tdm_tensor* handle, const char* argument) {
  if (!handle || !handle->is_live()) refuse_handle(handle, static_cast<int>(Kind::kTensor), argument);
  return handle->tensor;
}

// An undefined tensor for NULL.
inline at::Tensor unwrap_optional(const tdm_tensor* handle, const char* argument) {
  return handle ? unwrap(handle, argument) : at::Tensor();
}

std::vector<at::Tensor> unwrap_list(tdm_tensor* const* handles, std::size_t count, const char* argument);
// NULL elements, or a NULL list, become undefined tensors.
std::vector<at::Tensor> unwrap_optional_list(tdm_tensor* const* handles, std::size_t count, const char* argument);

inline tdm_string* make_string(std::string text) {
  return new tdm_string(std::move(text));
}

// LibTorch's enums for the ABI's frozen numbers; throws Error (kInvalidArgument) naming `argument`.
at::ScalarType to_scalar_type(tdm_dtype dtype, const char* argument);
tdm_dtype from_scalar_type(at::ScalarType dtype);
// Throws Error (kUnsupported) with the reason for a GPU that this process cannot use.
at::Device to_device(tdm_device device, const char* argument);
// Of whatever type; throws Error (kInvalidArgument) for a number that no device has.
at::DeviceIndex to_device_index(tdm_device device, const char* argument);
tdm_device from_device(at::Device device);
// Whether it is one of the ABI's numbers, which are LibTorch's.
bool is_layout(tdm_layout layout);
// Checks ndim, sizes (not negative, no overflow) and returns them.
at::IntArrayRef to_sizes(const std::int64_t* sizes, std::int64_t ndim, const char* argument);

}  // namespace tandem::capi
