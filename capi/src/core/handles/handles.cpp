#include "core/handles/handles.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sched.h>

#include <limits>
#include <mutex>

#include "core/autograd/modes.h"
#include "core/handles/scope.h"
#include "core/operators/intra_op.h"
#include "memory/fork_locks.h"
#include "tandem/runtime.h"

namespace tandem::capi {
namespace {

constexpr std::size_t kSlab = 256;          // handles
constexpr std::size_t kThreadKeeps = 2048;  // free handles, before it gives half of them back

// Free handles of no thread.
struct Pool {
  std::mutex mutex;
  TensorSlot* free = nullptr;
  std::vector<TensorSlot*> slabs;
};

Pool& pool() {
  static auto* instance = [] {
    auto* made = new Pool;
    hold_in_fork(ForkLock::tensor_handles, made->mutex);
    return made;
  }();
  return *instance;
}

// Made when the library is loaded: a fork beside the first use would leave the child in the middle of it.
[[maybe_unused]] const Pool& pool_at_load = pool();

void give_back(ThreadState& state, std::size_t leave) {
  std::lock_guard<std::mutex> lock(pool().mutex);
  while (state.free_tensor_count > leave) {
    TensorSlot* slot = state.free_tensors;
    state.free_tensors = slot->next;
    --state.free_tensor_count;
    slot->next = pool().free;
    pool().free = slot;
  }
}

void end_thread(ThreadState& state) {
  end_intra_op(state);
  // Those of the process would hold for good, and what is kept for the others is a leak.
  if (!process_exits.load(std::memory_order_relaxed)) exit_modes_inside(nullptr);
  while (state.scope) exit_scope(state, state.scope);
  give_back(state, 0);
}

[[gnu::noinline]] TensorSlot* refill(ThreadState& state) {
  std::lock_guard<std::mutex> lock(pool().mutex);
  std::size_t taken = 0;
  TensorSlot* list = nullptr;
  for (; taken < kSlab && pool().free; ++taken) {
    TensorSlot* slot = pool().free;
    pool().free = slot->next;
    slot->next = list;
    list = slot;
  }
  if (!list) {
    pool().slabs.push_back(nullptr);
    auto* slab = pool().slabs.back() = new TensorSlot[kSlab];
    for (; taken < kSlab; ++taken) {
      slab[taken].next = list;
      list = &slab[taken];
    }
  }
  state.free_tensors = list->next;
  state.free_tensor_count = taken - 1;
  return list;
}

TensorSlot* take_slot(ThreadState& state) {
  TensorSlot* slot = state.free_tensors;
  if (!slot) return refill(state);
  state.free_tensors = slot->next;
  --state.free_tensor_count;
  return slot;
}

std::int64_t storage_bytes(const at::Tensor& tensor) {
  c10::TensorImpl* implementation = tensor.unsafeGetTensorImpl();
  if (!implementation->has_storage() || implementation->device_type() == at::DeviceType::Meta) return 0;
  return static_cast<std::int64_t>(implementation->unsafe_storage().nbytes());
}

[[noreturn]] void refuse_element(const tdm_tensor* handle, const char* argument, std::size_t index) {
  refuse_wrong_handle(handle, static_cast<int>(Kind::kTensor),
                      std::string("argument '") + argument + "'[" + std::to_string(index) + "]");
}

}  // namespace

void start_handles() {
  set_thread_end_handler(end_thread);
}

tdm_tensor* make_tensor_handle(at::Tensor tensor) {
  if (!tensor.defined()) throw Error(ErrorCode::kInternal, "an undefined tensor cannot be handed out");
  ThreadState& state = thread_state();
  TensorSlot* slot = take_slot(state);
  slot->bytes = storage_bytes(tensor);
  slot->tensor = std::move(tensor);
  slot->next = nullptr;
  slot->scope.store(nullptr, std::memory_order_relaxed);
  if (state.scope) state.scope->add(slot);
  slot->set(HandleState::kLive);
  state.count(Kind::kTensor, 1);
  ThreadState::add(state.live_bytes, slot->bytes);
  return with_generation<tdm_tensor>(slot, slot->generation());
}

std::vector<tdm_tensor*> make_optional_handles(const std::vector<at::Tensor>& tensors) {
  std::vector<tdm_tensor*> handles(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) handles[i] = make_tensor_handle(tensors[i]);
  }
  return handles;
}

bool is_live_word(std::uint64_t word, std::uint16_t generation) {
  return word == TensorSlot::word_of(HandleState::kLive, generation) ||
         word == TensorSlot::word_of(HandleState::kKept, generation) ||
         word == TensorSlot::word_of(HandleState::kMoving, generation);
}

TensorSlot* claim(const tdm_tensor* handle, HandleState state) {
  const std::uint16_t generation = generation_of(handle);
  while (TensorSlot* slot = live_slot(handle)) {
    if (slot->change(HandleState::kLive, state, generation) || slot->change(HandleState::kKept, state, generation)) {
      return slot;
    }
    sched_yield();  // another thread takes it from one scope to another
  }
  return nullptr;
}

void recycle_slot(ThreadState& state, TensorSlot* slot) {
  const std::uint16_t last = slot->generation();
  slot->word.store(TensorSlot::word_of(HandleState::kFreed, last == UINT16_MAX ? 1 : last + 1),
                   std::memory_order_relaxed);
  slot->next = state.free_tensors;
  state.free_tensors = slot;
  if (++state.free_tensor_count > kThreadKeeps) give_back(state, kThreadKeeps / 2);
}

namespace {

// Takes the tensor out of a slot that is left for its scope, if it is `left`, and drops it.
void drop_tensor(ThreadState& state, TensorSlot* slot, bool left) {
  // Out of the slot first: the tensor's end may call back, and a slot that is left may be used again at once.
  at::Tensor last = std::move(slot->tensor);
  const std::int64_t bytes = slot->bytes;
  if (left) slot->set(HandleState::kLeft);
  state.count(Kind::kTensor, -1);
  ThreadState::add(state.live_bytes, -bytes);
  last.reset();
}

}  // namespace

void release_slot(ThreadState& state, TensorSlot* slot) {
  drop_tensor(state, slot, false);
  recycle_slot(state, slot);
}

std::vector<at::Tensor> unwrap_list(tdm_tensor* const* handles, std::size_t count, const char* argument) {
  check_count(count, argument);
  if (count != 0) not_null(handles, argument);
  std::vector<at::Tensor> tensors;
  tensors.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const TensorSlot* slot = live_slot(handles[i]);
    if (!slot) refuse_element(handles[i], argument, i);
    tensors.push_back(slot->tensor);
  }
  return tensors;
}

std::vector<at::Tensor> unwrap_optional_list(tdm_tensor* const* handles, std::size_t count, const char* argument) {
  check_count(count, argument);
  std::vector<at::Tensor> tensors(count);
  for (std::size_t i = 0; handles && i < count; ++i) {
    if (!handles[i]) continue;
    const TensorSlot* slot = live_slot(handles[i]);
    if (!slot) refuse_element(handles[i], argument, i);
    tensors[i] = slot->tensor;
  }
  return tensors;
}

// The ABI's numbers are LibTorch's, as of 2.11; that they still are is asserted here.
static_assert(static_cast<int>(at::kByte) == TDM_DTYPE_UINT8 && static_cast<int>(at::kLong) == TDM_DTYPE_INT64 &&
              static_cast<int>(at::kHalf) == TDM_DTYPE_FLOAT16 && static_cast<int>(at::kDouble) == TDM_DTYPE_FLOAT64 &&
              static_cast<int>(at::kComplexHalf) == TDM_DTYPE_COMPLEX32 &&
              static_cast<int>(at::kComplexDouble) == TDM_DTYPE_COMPLEX128 &&
              static_cast<int>(at::kBool) == TDM_DTYPE_BOOL && static_cast<int>(at::kBFloat16) == TDM_DTYPE_BFLOAT16 &&
              static_cast<int>(at::kFloat8_e5m2) == TDM_DTYPE_FLOAT8_E5M2 &&
              static_cast<int>(at::kFloat8_e4m3fn) == TDM_DTYPE_FLOAT8_E4M3FN &&
              static_cast<int>(at::kUInt16) == TDM_DTYPE_UINT16 && static_cast<int>(at::kUInt64) == TDM_DTYPE_UINT64);

namespace {

// Whether it is one of the ABI's numbers.
bool is_dtype(tdm_dtype dtype) {
  return (dtype >= TDM_DTYPE_UINT8 && dtype <= TDM_DTYPE_BOOL) || dtype == TDM_DTYPE_BFLOAT16 ||
         dtype == TDM_DTYPE_FLOAT8_E5M2 || dtype == TDM_DTYPE_FLOAT8_E4M3FN ||
         (dtype >= TDM_DTYPE_UINT16 && dtype <= TDM_DTYPE_UINT64);
}

}  // namespace

at::ScalarType to_scalar_type(tdm_dtype dtype, const char* argument) {
  if (!is_dtype(dtype)) {
    invalid(std::string("argument '") + argument + "' is " + std::to_string(dtype) + ", which is no TDM_DTYPE");
  }
  return static_cast<at::ScalarType>(dtype);
}

tdm_dtype from_scalar_type(at::ScalarType dtype) {
  const auto number = static_cast<tdm_dtype>(dtype);
  return is_dtype(number) ? number : -1;
}

at::DeviceIndex to_device_index(tdm_device device, const char* argument) {
  if (device.index < -1 || device.index > std::numeric_limits<at::DeviceIndex>::max()) {
    invalid(std::string("argument '") + argument + "' has device index " + std::to_string(device.index) +
            "; it must be -1 (the current one) or the number of a device");
  }
  return static_cast<at::DeviceIndex>(device.index);
}

namespace {

// LibTorch itself ends in an internal error, or in memory that is not there.
void require_accelerator(at::DeviceIndex index, const char* argument) {
  const std::string name = std::string("argument '") + argument + "'";
  if (!c10::impl::hasDeviceGuardImpl(c10::kPrivateUse1)) {
    throw Error(ErrorCode::kUnsupported, name + " is a device of type TDM_DEVICE_PRIVATE_USE_1, of which this process has "
                                                "none; load its library first (tdm_load_library)");
  }
  const auto count = c10::impl::getDeviceGuardImpl(c10::kPrivateUse1)->deviceCount();
  if (index < count) return;
  throw Error(ErrorCode::kOutOfRange, name + " is " + at::Device(c10::kPrivateUse1, index).str() +
                                          ", but there are " + std::to_string(count) + " of them, counted from 0");
}

}  // namespace

at::Device to_device(tdm_device device, const char* argument) {
  static_assert(static_cast<int>(at::DeviceType::CUDA) == TDM_DEVICE_CUDA &&
                static_cast<int>(at::DeviceType::Meta) == TDM_DEVICE_META &&
                static_cast<int>(at::DeviceType::PrivateUse1) == TDM_DEVICE_PRIVATE_USE_1);
  switch (device.type) {
    case TDM_DEVICE_CUDA:
      require_cuda(std::string("argument '") + argument + "' (cuda)");
      break;
    case TDM_DEVICE_PRIVATE_USE_1:
      require_accelerator(to_device_index(device, argument), argument);
      break;
    case TDM_DEVICE_CPU:
    case TDM_DEVICE_META:
      break;
    default:
      invalid(std::string("argument '") + argument + "' has device type " + std::to_string(device.type) +
              "; TDM_DEVICE_CPU, TDM_DEVICE_CUDA, TDM_DEVICE_META and TDM_DEVICE_PRIVATE_USE_1 exist");
  }
  return {static_cast<at::DeviceType>(device.type), to_device_index(device, argument)};
}

tdm_device from_device(at::Device device) {
  const bool known = device.is_cpu() || device.is_cuda() || device.is_meta() || device.is_privateuseone();
  return {known ? static_cast<tdm_device_type>(device.type()) : -1, device.index()};
}

at::IntArrayRef to_sizes(const std::int64_t* sizes, std::int64_t ndim, const char* argument) {
  const std::string name = std::string("argument '") + argument + "'";
  if (ndim < 0 || ndim > 64) invalid(name + " has " + std::to_string(ndim) + " dimensions; 0 to 64 are possible");
  if (ndim != 0) not_null(sizes, argument);
  std::int64_t elements = 1;
  bool empty = false;
  for (std::int64_t i = 0; i < ndim; ++i) {
    if (sizes[i] < 0) invalid(name + "[" + std::to_string(i) + "] is " + std::to_string(sizes[i]) + ", below zero");
    if (sizes[i] == 0) empty = true;
  }
  for (std::int64_t i = 0; !empty && i < ndim; ++i) {
    // 16 bytes is the largest element.
    if (__builtin_mul_overflow(elements, sizes[i], &elements) ||
        elements > std::numeric_limits<std::int64_t>::max() / 16) {
      invalid(name + " has more elements than memory can hold");
    }
  }
  return {sizes, static_cast<std::size_t>(ndim)};
}

}  // namespace tandem::capi

using namespace tandem::capi;

void tdm_tensor_free(tdm_tensor* tensor) {
  guard_end("tdm_tensor_free", [&](tandem::ThreadState& state) {
    if (tandem::process_exits.load(std::memory_order_relaxed)) return;
    TensorSlot* slot = claim(tensor, HandleState::kLeaving);
    if (!slot) return;
    tdm_scope* scope = slot->scope.load(std::memory_order_relaxed);
    if (scope && scope->owner.load(std::memory_order_relaxed) != &state) {
      drop_tensor(state, slot, true);
      return;
    }
    if (scope) scope->remove(slot);
    release_slot(state, slot);
  });
}

const char* tdm_string_data(const tdm_string* string) {
  return if_live(string) ? string->text.c_str() : "";
}
std::size_t tdm_string_size(const tdm_string* string) {
  return if_live(string) ? string->text.size() : 0;
}
void tdm_string_free(tdm_string* string) {
  tandem::capi::free_handle(string);
}

std::size_t tdm_strings_count(const tdm_strings* list) {
  return if_live(list) ? list->texts.size() : 0;
}
const char* tdm_strings_data(const tdm_strings* list, std::size_t index) {
  return index < tdm_strings_count(list) ? list->texts[index].c_str() : nullptr;
}
std::size_t tdm_strings_size(const tdm_strings* list, std::size_t index) {
  return index < tdm_strings_count(list) ? list->texts[index].size() : 0;
}
void tdm_strings_free(tdm_strings* list) {
  tandem::capi::free_handle(list);
}

std::size_t tdm_named_tensors_size(const tdm_named_tensors* list) {
  return if_live(list) ? list->items.size() : 0;
}

const char* tdm_named_tensors_name(const tdm_named_tensors* list, std::size_t index) {
  return if_live(list) && index < list->items.size() ? list->items[index].first.c_str() : nullptr;
}

tdm_error* tdm_named_tensors_get(const tdm_named_tensors* list, std::size_t index, tdm_tensor** out) {
  return guard("tdm_named_tensors_get", [&] {
    not_null(list, "list");
    not_null(out, "out");
    if (index >= list->items.size()) {
      throw tandem::Error(tandem::ErrorCode::kOutOfRange, "argument 'index' is " + std::to_string(index) +
                                                              ", but the list has " +
                                                              std::to_string(list->items.size()) + " tensors");
    }
    *out = make_tensor_handle(list->items[index].second);
  });
}

void tdm_named_tensors_free(tdm_named_tensors* list) {
  tandem::capi::free_handle("tdm_named_tensors_free", list);
}
