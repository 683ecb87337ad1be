#include "support/fake_device/fake_device.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace tandem::testing::fake_device {
namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;
constexpr c10::StreamId kStreams = 4;  // of each device; 0 is the default
constexpr int kFreed = 0xdd;

using Place = std::pair<c10::DeviceIndex, c10::StreamId>;  // of a stream

struct Stream {
  std::deque<std::function<void()>> tasks;
  std::int64_t done = 0;

  std::int64_t queued() const { return done + static_cast<std::int64_t>(tasks.size()); }
};

// Done when so many tasks of that stream are.
struct Mark {
  Place stream;
  std::int64_t tasks;
};

struct Block {
  std::size_t bytes;
  Place stream;          // that it was made on
  std::set<Place> used;  // others that use it
};

// Never destroyed: what LibTorch holds at exit may come back to it.
struct State {
  std::recursive_mutex mutex;
  std::map<Place, Stream> streams;
  std::map<void*, Block> blocks;
  std::map<char*, std::size_t> pinned;
  std::vector<void*> freed;  // and never given back: who still reads it finds other bytes, and no other block
  Memory memory;
  std::int64_t fails_in = -1;
  c10::StreamId last_stream = 0;

  void count_most() { memory.most = std::max(memory.most, memory.on_device + memory.pinned); }
};

State& state() {
  static auto* const all = new State;
  return *all;
}

thread_local c10::DeviceIndex current_device = 0;
thread_local std::array<c10::StreamId, kDevices> current_streams{};

Place current(c10::DeviceIndex index) {
  return {index, current_streams[static_cast<std::size_t>(index)]};
}

Mark end_of(const Place& place) {
  return {place, state().streams[place].queued()};
}

bool is_done(const Mark& mark) {
  return state().streams[mark.stream].done >= mark.tasks;
}

// With the lock held, here and below.
void run_until(const Mark& mark) {
  Stream& stream = state().streams[mark.stream];
  while (stream.done < mark.tasks) {
    const auto task = std::move(stream.tasks.front());
    task();
    stream.tasks.pop_front();
    ++stream.done;
  }
}

void queue(const Place& place, std::function<void()> task) {
  state().streams[place].tasks.push_back(std::move(task));
}

void queue_wait(const Place& place, const Mark& mark) {
  queue(place, [mark] { run_until(mark); });
}

// In the order of its stream, and after what others do with it.
void free_on_device(void* data) {
  State& all = state();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  const auto found = all.blocks.find(data);
  const Block block = found->second;
  all.blocks.erase(found);
  all.freed.push_back(data);
  all.memory.on_device -= static_cast<std::int64_t>(block.bytes);
  for (const Place& user : block.used) queue_wait(block.stream, end_of(user));
  queue(block.stream, [data, bytes = block.bytes] { std::memset(data, kFreed, bytes); });
}

// At once: whoever copies from it has to keep it.
void free_pinned(void* data) {
  State& all = state();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  const auto found = all.pinned.find(static_cast<char*>(data));
  all.memory.pinned -= static_cast<std::int64_t>(found->second);
  std::memset(data, kFreed, found->second);
  all.pinned.erase(found);
  all.freed.push_back(data);
}

bool is_pinned(const void* data) {
  State& all = state();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  auto after = all.pinned.upper_bound(const_cast<char*>(static_cast<const char*>(data)));
  if (after == all.pinned.begin()) return false;
  --after;
  return static_cast<const char*>(data) < after->first + after->second;
}

struct DeviceMemory final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    State& all = state();
    const std::lock_guard<std::recursive_mutex> lock(all.mutex);
    const at::Device where(kType, current_device);
    if (bytes == 0) return {nullptr, where};
    const bool fails = all.fails_in == 0;
    if (all.fails_in >= 0) --all.fails_in;
    TORCH_CHECK_WITH(OutOfMemoryError, !fails, "the fake device is full");
    void* data = std::malloc(bytes);
    std::memset(data, kFreed, bytes);
    all.blocks[data] = {bytes, current(current_device), {}};
    all.memory.on_device += static_cast<std::int64_t>(bytes);
    all.count_most();
    return {data, data, &free_on_device, where};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_on_device; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};

struct PinnedMemory final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    State& all = state();
    const std::lock_guard<std::recursive_mutex> lock(all.mutex);
    if (bytes == 0) return {nullptr, at::kCPU};
    char* data = static_cast<char*>(std::malloc(bytes));
    all.pinned[data] = bytes;
    all.memory.pinned += static_cast<std::int64_t>(bytes);
    all.count_most();
    return {data, data, &free_pinned, at::kCPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_pinned; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};

DeviceMemory device_memory;
PinnedMemory pinned_memory;

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return kDevices; }
  c10::DeviceIndex getCurrentDevice() const override { return current_device; }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_memory; }
};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static Place place_of(const c10::Stream& stream) { return {stream.device_index(), stream.id()}; }
  static c10::Stream stream_at(const Place& place) {
    return c10::Stream(c10::Stream::UNSAFE, at::Device(kType, place.first), place.second);
  }
  static const Mark& mark_of(void* event) { return *static_cast<Mark*>(event); }

  c10::DeviceType type() const override { return kType; }
  at::Device getDevice() const override { return {kType, current_device}; }
  at::Device exchangeDevice(at::Device device) const override {
    return {kType, std::exchange(current_device, device.index())};
  }
  void setDevice(at::Device device) const override { current_device = device.index(); }
  void uncheckedSetDevice(at::Device device) const noexcept override { current_device = device.index(); }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }

  c10::Stream getStream(at::Device device) const override { return stream_at(current(device.index())); }
  c10::Stream getDefaultStream(at::Device device) const override { return stream_at({device.index(), 0}); }
  c10::Stream getStreamFromGlobalPool(at::Device device, bool) const override {
    const std::lock_guard<std::recursive_mutex> lock(state().mutex);
    state().last_stream = state().last_stream % (kStreams - 1) + 1;
    return stream_at({device.index(), state().last_stream});
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const Place before = current(stream.device_index());
    current_streams[static_cast<std::size_t>(stream.device_index())] = stream.id();
    return stream_at(before);
  }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex, const c10::EventFlag) const override {
    const std::lock_guard<std::recursive_mutex> lock(state().mutex);
    if (!*event) *event = new Mark;
    *static_cast<Mark*>(*event) = end_of(place_of(stream));
  }
  void block(void* event, const c10::Stream& stream) const override {
    const std::lock_guard<std::recursive_mutex> lock(state().mutex);
    queue_wait(place_of(stream), mark_of(event));
  }
  bool queryEvent(void* event) const override {
    const std::lock_guard<std::recursive_mutex> lock(state().mutex);
    return is_done(mark_of(event));
  }
  void synchronizeEvent(void* event) const override {
    const std::lock_guard<std::recursive_mutex> lock(state().mutex);
    run_until(mark_of(event));
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete static_cast<Mark*>(event); }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    State& all = state();
    const std::lock_guard<std::recursive_mutex> lock(all.mutex);
    const auto found = all.blocks.find(data.get());
    if (found != all.blocks.end()) found->second.used.insert(place_of(stream));
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  const c10::OptionalDeviceGuard on_device(device);
  return at::detail::empty_strided_generic(
      sizes, strides, &device_memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), dtype.value_or(at::kFloat));
}

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<at::Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard on_device(device);
  return at::detail::empty_generic(sizes, &device_memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   dtype.value_or(at::kFloat), format);
}

// The same elements as a tensor of the CPU, with nothing queued before them.
at::Tensor host_view(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  run_until(end_of(current(tensor.device().index())));
  at::Tensor view = at::from_blob(const_cast<void*>(tensor.const_data_ptr()), tensor.sizes(), tensor.strides(),
                                  tensor.options().device(at::kCPU));
  view._set_conj(tensor.is_conj());
  view._set_neg(tensor.is_neg());
  return view;
}

bool are_bytes_alike(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() && a.scalar_type() == b.scalar_type() &&
         a.is_non_overlapping_and_dense() && a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

// Between the host and a device, on the device's current stream. As CUDA has it, memory that is not pinned is read and
// written at once. What is more than a copy of bytes, or stays on devices, is done when it returns.
at::Tensor copy_from(const at::Tensor& source, const at::Tensor& to, bool non_blocking) {
  State& all = state();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  if (to.numel() == 0) return to;
  const bool comes = source.is_cpu();
  if (comes == to.is_cpu() || !are_bytes_alike(source, to)) {
    const at::AutoDispatchBelowADInplaceOrView below;
    host_view(to).copy_(host_view(source));
    return to;
  }
  const Place place = current((comes ? to : source).device().index());
  void* written = to.mutable_data_ptr();
  const void* read = source.const_data_ptr();
  const std::size_t bytes = source.nbytes();
  if (comes && !is_pinned(read)) {
    ++all.memory.unpinned_copies;
    auto staged =
        std::make_shared<std::vector<char>>(static_cast<const char*>(read), static_cast<const char*>(read) + bytes);
    queue(place, [written, staged] { std::memcpy(written, staged->data(), staged->size()); });
  } else {
    queue(place, [written, read, bytes] { std::memcpy(written, read, bytes); });
  }
  if (!non_blocking || (!comes && !is_pinned(written))) run_until(end_of(place));
  return to;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_copy_from", copy_from);
}

}  // namespace

void install() {
  static const bool once = [] {
    c10::register_privateuse1_backend("fake");
    at::RegisterPrivateUse1HooksInterface(new Hooks);
    return true;
  }();
  static_cast<void>(once);
}

at::Device device(c10::DeviceIndex index) {
  return {kType, index};
}

void synchronize(const at::Tensor& tensor) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  run_until(end_of(current(tensor.device().index())));
}

void run() {
  State& all = state();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  std::vector<Mark> ends;
  for (const auto& [place, stream] : all.streams) ends.push_back({place, stream.queued()});
  std::reverse(ends.begin(), ends.end());
  for (const Mark& end : ends) run_until(end);
}

std::int64_t done() {
  State& all = state();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  std::int64_t tasks = 0;
  for (const auto& [place, stream] : all.streams) tasks += stream.done;
  return tasks;
}

std::function<at::Tensor()> read_later(const at::Tensor& tensor) {
  State& all = state();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  const at::Tensor copy = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
  const Place place = current(tensor.device().index());
  queue(place, [copy, read = tensor.const_data_ptr(), bytes = tensor.nbytes()] {
    if (bytes > 0) std::memcpy(copy.mutable_data_ptr(), read, bytes);
  });
  return [copy, mark = end_of(place)] {
    const std::lock_guard<std::recursive_mutex> lock(state().mutex);
    run_until(mark);
    return copy;
  };
}

Memory memory() {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  return state().memory;
}

void reset_memory() {
  State& all = state();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  all.memory.most = 0;
  all.count_most();
  all.memory.unpinned_copies = 0;
}

void fail_allocation(std::int64_t number) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  state().fails_in = number;
}

}  // namespace tandem::testing::fake_device
