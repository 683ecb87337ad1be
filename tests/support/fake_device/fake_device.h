// An accelerator for LibTorch that is none: its memory is the host's, and its streams work as late as they may. What is
// queued runs when somebody waits for it, so whoever forgets to wait, or gives memory up too early, reads other bytes,
// each time. Operators compute on the CPU (operators.cpp) and refuse, as a GPU's do, tensors that are not all on one
// device; LSTM and GRU it does not have. Freed memory is never given back: for small models.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace tandem::testing::fake_device {

// Makes it LibTorch's accelerator, of this process and for good; once.
void install();
inline constexpr c10::DeviceIndex kDevices = 4;
at::Device device(c10::DeviceIndex index = -1);

// Waits for its device's current stream.
void synchronize(const at::Tensor& tensor);
// Runs all that is queued on all streams, default ones last.
void run();
// Tasks that have run.
std::int64_t done();
// The bytes of a tensor on the device as its device's current stream will find them, without keeping the tensor; waits
// for that stream when it is called.
std::function<at::Tensor()> read_later(const at::Tensor& tensor);

struct Memory {
  std::int64_t on_device = 0, pinned = 0;  // now, whoever holds it
  std::int64_t most = 0;                   // of both at once, since reset_memory()
  std::int64_t unpinned_copies = 0;        // copies to the device that had to be made at once, from other memory
};
Memory memory();
void reset_memory();
// Of allocations on the device from now on, the one of that number (0: the next) fails; -1: none.
void fail_allocation(std::int64_t number);

}  // namespace tandem::testing::fake_device
