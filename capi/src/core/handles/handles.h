// Handles that several files of the C ABI share: tensors, lists of named tensors, strings and lists of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/call/guard.h"
#include "core/handles/handle.h"
#include "tandem/tandem.h"

namespace tandem::capi {

// What a tdm_tensor stands for: a reference to a tensor. Slots lie in slabs that are never unmapped and are used again;
// a handle is the slot's address with the generation of its use (core/handles/handle_tag.h).
//
// A handle made while a scope is open is in that scope's list, which only the scope's thread touches. Who frees a
// handle or takes it out of its scope claims it first, by its state, so that one of two threads does. A thread that is
// not the scope's then changes the state alone, and the scope acts on that when it ends.
struct TensorSlot {
  // The tag of any handle below, the generation in the upper 16 bits.
  static constexpr std::uint64_t word_of(HandleState state, std::uint16_t generation) {
    return std::uint64_t{generation} << kGenerationShift | handle_tag(Kind::kTensor, state);
  }

  std::atomic<std::uint64_t> word{word_of(HandleState::kFreed, 1)};  // first, as the tag of any handle
  at::Tensor tensor;
  TensorSlot* next = nullptr;  // in its scope's list, or in a free list
  TensorSlot* previous = nullptr;
  std::atomic<tdm_scope*> scope{nullptr};  // NULL: none
  std::int64_t bytes = 0;                  // counted in tdm_tensor_live_bytes()

  std::uint16_t generation() const {
    return static_cast<std::uint16_t>(word.load(std::memory_order_relaxed) >> kGenerationShift);
  }
  void set(HandleState state) { word.store(word_of(state, generation()), std::memory_order_release); }
  // From one of these states to another, in this generation.
  bool change(HandleState from, HandleState to, std::uint16_t generation) {
    std::uint64_t expected = word_of(from, generation);
    return word.compare_exchange_strong(expected, word_of(to, generation), std::memory_order_acq_rel,
                                        std::memory_order_acquire);
  }
};
static_assert(std::endian::native == std::endian::little);

// Whether the slot's word says that a handle of this generation is live.
bool is_live_word(std::uint64_t word, std::uint16_t generation);

// The slot of a live handle; NULL for NULL, and for what is none or was freed.
inline TensorSlot* live_slot(const tdm_tensor* handle) {
  if (!handle) return nullptr;
  auto* slot = reinterpret_cast<TensorSlot*>(address_of(const_cast<tdm_tensor*>(handle)));
  const std::uint16_t generation = generation_of(handle);
  const std::uint64_t word = slot->word.load(std::memory_order_relaxed);
  if (word == TensorSlot::word_of(HandleState::kLive, generation)) [[likely]]
    return slot;
  return is_live_word(word, generation) ? slot : nullptr;
}

}  // namespace tandem::capi

struct tdm_string : tandem::capi::Handle<tandem::Kind::kString> {
  explicit tdm_string(std::string value) : text(std::move(value)) {}
  std::string text;
};

struct tdm_strings : tandem::capi::Handle<tandem::Kind::kStrings> {
  explicit tdm_strings(std::vector<std::string> list) : texts(std::move(list)) {}
  std::vector<std::string> texts;
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
  const TensorSlot* slot = live_slot(handle);
  if (!slot) [[unlikely]]
    refuse_handle(handle, static_cast<int>(Kind::kTensor), argument);
  return slot->tensor;
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
// -1 for what the ABI has no number for, here and in from_device().
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
