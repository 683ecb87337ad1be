#include "data/loader/device_copies.h"

#include <ATen/DeviceAccelerator.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <exception>

#include "data/loader/loader_counts.h"
#include "tandem/error.h"
#include "tandem/runtime.h"

namespace tandem::loader {
namespace {

using c10::impl::VirtualGuardImpl;

// With its index. The core links no CUDA: devices are what LibTorch's registry has.
at::Device present(at::Device device) {
  const std::string name = "device " + device.str();
  if (!at::accelerator::isAccelerator(device.type())) {
    throw Error(ErrorCode::kInvalidArgument, name + " takes no batches: a loader's device is the CPU or a GPU");
  }
  const c10::DeviceIndex count =
      c10::impl::hasDeviceGuardImpl(device.type()) ? VirtualGuardImpl(device.type()).deviceCount() : 0;
  if (count == 0) {
    if (device.is_cuda()) require_cuda(name);  // which says why there is none
    throw Error(ErrorCode::kUnsupported, name + " is not there: this process can use none of its kind");
  }
  if (!device.has_index()) return VirtualGuardImpl(device.type()).getDevice();
  if (device.index() >= count) {
    throw Error(ErrorCode::kOutOfRange,
                name + " is not there: this process can use " + std::to_string(count) + " of its kind, counted from 0");
  }
  return device;
}

// A device that fails reads nothing any more; the program gets the error where it uses the device.
bool is_done(const c10::Event& event) noexcept {
  try {
    return event.query();
  } catch (...) {
    return true;
  }
}

bool is_on_cpu(const at::Tensor& tensor) {
  return tensor.is_cpu();
}

// What `copy` throws, as an Error that names the batch.
template <typename Copy>
void naming_batch(const LoadedBatch& batch, at::Device device, Copy&& copy) {
  const auto failed = [&](ErrorCode code, const std::string& why) {
    return Error(code, "cannot copy batch " + std::to_string(batch.number) + " of epoch " +
                           std::to_string(batch.epoch) + " to " + device.str() + ": " + why);
  };
  try {
    copy();
  } catch (const Error& error) {
    throw failed(error.code(), error.what());
  } catch (const c10::OutOfMemoryError& error) {
    throw failed(ErrorCode::kOutOfMemory,
                 std::string("it has no memory left; lower prefetch_bytes or the batch's size: ") +
                     error.what_without_backtrace());
  } catch (const c10::Error& error) {
    throw failed(ErrorCode::kInternal, error.what_without_backtrace());
  }
}

}  // namespace

std::shared_ptr<DeviceCopies> DeviceCopies::to(const std::optional<at::Device>& device) {
  if (!device || device->is_cpu()) return nullptr;
  return std::shared_ptr<DeviceCopies>(new DeviceCopies(present(*device)));
}

DeviceCopies::DeviceCopies(at::Device device)
    : stream_(VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device)) {}

DeviceCopies::~DeviceCopies() {
  for (const Source& source : sources_) {
    try {
      source.copied->synchronize();
    } catch (...) {  // a device that fails reads nothing any more
    }
  }
}

DeviceCopies::Copied DeviceCopies::send(LoadedBatch& batch) {
  bytes_under_way();
  const at::NoGradGuard no_grad;
  const auto copied = std::make_shared<c10::Event>(stream_.device_type());
  naming_batch(batch, device(), [&] {
    const c10::Stream callers = VirtualGuardImpl(stream_.device_type()).getStream(device());
    const c10::StreamGuard on_stream(stream_);
    if (!std::all_of(batch.tensors.begin(), batch.tensors.end(), is_on_cpu)) {  // the callers' stream made some
      c10::Event made(stream_.device_type());
      made.record(callers);
      made.block(stream_);
    }
    std::vector<at::Tensor> there;
    std::exception_ptr failure;
    try {
      for (const at::Tensor& tensor : batch.tensors) there.push_back(tensor.to(device(), /*non_blocking=*/true));
    } catch (...) {
      failure = std::current_exception();  // what was queued before it goes on reading
    }
    copied->record(stream_);
    std::vector<at::Tensor> source;
    std::copy_if(batch.tensors.begin(), batch.tensors.end(), std::back_inserter(source), is_on_cpu);
    const std::int64_t bytes = bytes_of(source);
    keep({std::move(source), bytes, copied});
    if (failure) std::rethrow_exception(failure);
    batch.tensors = std::move(there);
  });
  return copied;
}

void DeviceCopies::keep(Source source) {
  const std::lock_guard<std::mutex> lock(mutex_);
  sources_.push_back(std::move(source));
}

void DeviceCopies::receive(const LoadedBatch& batch, const Copied& copied) {
  bytes_under_way();
  naming_batch(batch, device(), [&] {
    const VirtualGuardImpl guard(stream_.device_type());
    const c10::Stream callers = guard.getStream(device());
    copied->block(callers);
    for (const at::Tensor& tensor : batch.tensors) {
      guard.recordDataPtrOnStream(tensor.storage().data_ptr(), callers);
    }
  });
}

std::int64_t DeviceCopies::bytes_under_way() {
  std::deque<Source> read;
  std::int64_t bytes = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (!sources_.empty() && is_done(*sources_.front().copied)) {
      read.push_back(std::move(sources_.front()));
      sources_.pop_front();
    }
    for (const Source& source : sources_) bytes += source.bytes;
  }
  return bytes;
}

}  // namespace tandem::loader
