// Devices: which one is current, their memory, and settings of the process.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>

#include "core/autograd/modes.h"
#include "core/call/options.h"
#include "core/devices/gpu.h"
#include "core/handles/handles.h"
#include "tandem/runtime.h"

namespace tandem::capi {
namespace {

struct CurrentDevice final : tdm_mode {
  explicit CurrentDevice(at::Device device) : before(gpu_guard().exchangeDevice(device)) {}
  ~CurrentDevice() override { gpu_guard().uncheckedSetDevice(before); }

  at::Device before;
};

// For the CPU there is nothing to change.
struct Nothing final : tdm_mode {};

void require_gpu_or_cpu(tdm_device_type type, const char* argument) {
  if (type == TDM_DEVICE_META)
    invalid(std::string("argument '") + argument + "' is the meta device, which computes nothing");
  if (type == TDM_DEVICE_PRIVATE_USE_1) {
    invalid(std::string("argument '") + argument + "' is no GPU; current devices, streams and memory are those of GPUs");
  }
  to_device({type, -1}, argument);
}

c10::DeviceAllocator& allocator() {
  at::globalContext().lazyInitDevice(at::kCUDA);
  return *c10::getDeviceAllocator(at::kCUDA);
}

constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

void set_if_given(std::int32_t given, const char* name, void (at::Context::*set)(bool)) {
  if (given == -1) return;
  if (given != 0 && given != 1) {
    invalid(std::string("settings->") + name + " is " + std::to_string(given) + "; 0, 1, or -1 to leave it");
  }
  (at::globalContext().*set)(given == 1);
}

}  // namespace

at::Device to_gpu(tdm_device device, const char* purpose) {
  if (device.type == TDM_DEVICE_CPU) {
    throw Error(ErrorCode::kUnsupported,
                std::string(purpose) + " is a GPU's, and the CPU has none: its work is done when a call returns");
  }
  if (device.type != TDM_DEVICE_CUDA) {
    invalid("argument 'device' has type " + std::to_string(device.type) + "; " + purpose + " is a GPU's");
  }
  require_cuda(purpose);
  const at::Device gpu = to_device(device, "device");
  const auto guard = gpu_guard();
  if (!gpu.has_index()) return guard.getDevice();
  if (gpu.index() >= guard.deviceCount()) {
    throw Error(ErrorCode::kOutOfRange, "argument 'device' is " + gpu.str() + ", but this process can use " +
                                            std::to_string(guard.deviceCount()) + " GPUs, counted from 0");
  }
  return gpu;
}

}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_device_current(tdm_device_type type, tdm_device* out) {
  return guard("tdm_device_current", [&] {
    not_null(out, "out");
    require_gpu_or_cpu(type, "type");
    *out = type == TDM_DEVICE_CPU ? tdm_device{TDM_DEVICE_CPU, 0} : from_device(gpu_guard().getDevice());
  });
}

tdm_error* tdm_mode_enter_device(tdm_device device, tdm_mode** out) {
  return guard("tdm_mode_enter_device", [&] {
    not_null(out, "out");
    require_gpu_or_cpu(device.type, "device");
    std::unique_ptr<tdm_mode> mode;
    if (device.type == TDM_DEVICE_CPU) {
      mode = std::make_unique<Nothing>();
    } else {
      mode = std::make_unique<CurrentDevice>(to_gpu(device, "a current device"));
    }
    *out = open_mode(std::move(mode));
  });
}

tdm_error* tdm_device_synchronize(tdm_device device) {
  return guard("tdm_device_synchronize", [&] {
    require_gpu_or_cpu(device.type, "device");
    if (device.type == TDM_DEVICE_CPU) return;
    const at::Device gpu = to_gpu(device, "synchronization");
    gpu_guard().synchronizeDevice(gpu.index());
  });
}

tdm_error* tdm_device_get_memory(tdm_device device, tdm_device_memory* out) {
  return guard("tdm_device_get_memory", [&] {
    check_struct_size(not_null(out, "out")->struct_size, "tdm_device_memory");
    const at::Device gpu = to_gpu(device, "a count of memory");
    const auto statistics = allocator().getDeviceStats(gpu.index());
    const auto [free, total] = allocator().getMemoryInfo(gpu.index());
    const auto& allocated = statistics.allocated_bytes[kAll];
    const auto& reserved = statistics.reserved_bytes[kAll];
    const tdm_device_memory memory{sizeof(tdm_device_memory),
                                   allocated.current,
                                   allocated.peak,
                                   reserved.current,
                                   reserved.peak,
                                   static_cast<std::int64_t>(free),
                                   static_cast<std::int64_t>(total),
                                   statistics.num_alloc_retries,
                                   statistics.num_ooms};
    write_struct(out, memory, "tdm_device_memory");
  });
}

tdm_error* tdm_device_reset_peak_memory(tdm_device device) {
  return guard("tdm_device_reset_peak_memory", [&] {
    const at::Device gpu = to_gpu(device, "a count of memory");
    allocator().resetPeakStats(gpu.index());
  });
}

tdm_error* tdm_cuda_empty_cache(void) {
  return guard("tdm_cuda_empty_cache", [&] {
    tandem::require_cuda("a cache of memory");
    allocator().emptyCache();
  });
}

tdm_error* tdm_cuda_get_settings(tdm_cuda_settings* out) {
  return guard("tdm_cuda_get_settings", [&] {
    check_struct_size(not_null(out, "out")->struct_size, "tdm_cuda_settings");
    tandem::require_cuda("a setting of CUDA");
    const auto& context = at::globalContext();
    const tdm_cuda_settings settings{sizeof(tdm_cuda_settings), context.benchmarkCuDNN(), context.deterministicCuDNN(),
                                     context.allowTF32CuBLAS(), context.allowTF32CuDNN()};
    write_struct(out, settings, "tdm_cuda_settings");
  });
}

tdm_error* tdm_cuda_set_settings(const tdm_cuda_settings* settings) {
  return guard("tdm_cuda_set_settings", [&] {
    const auto given =
        read_options<tdm_cuda_settings>(not_null(settings, "settings"), TDM_CUDA_SETTINGS_INIT, "tdm_cuda_settings");
    tandem::require_cuda("a setting of CUDA");
    set_if_given(given.cudnn_benchmark, "cudnn_benchmark", &at::Context::setBenchmarkCuDNN);
    set_if_given(given.cudnn_deterministic, "cudnn_deterministic", &at::Context::setDeterministicCuDNN);
    set_if_given(given.tf32_matmul, "tf32_matmul", &at::Context::setAllowTF32CuBLAS);
    set_if_given(given.tf32_cudnn, "tf32_cudnn", &at::Context::setAllowTF32CuDNN);
  });
}

tdm_error* tdm_set_determinism(tdm_determinism determinism) {
  return guard("tdm_set_determinism", [&] {
    if (determinism < TDM_DETERMINISM_OFF || determinism > TDM_DETERMINISM_ON) {
      invalid("argument 'determinism' is " + std::to_string(determinism) + ", which is no TDM_DETERMINISM");
    }
    at::globalContext().setDeterministicAlgorithms(determinism != TDM_DETERMINISM_OFF,
                                                   determinism == TDM_DETERMINISM_WARN);
  });
}

tdm_error* tdm_get_determinism(tdm_determinism* out) {
  return guard("tdm_get_determinism", [&] {
    not_null(out, "out");
    const auto& context = at::globalContext();
    *out = !context.deterministicAlgorithms()          ? TDM_DETERMINISM_OFF
           : context.deterministicAlgorithmsWarnOnly() ? TDM_DETERMINISM_WARN
                                                       : TDM_DETERMINISM_ON;
  });
}

tdm_error* tdm_set_num_interop_threads(std::int32_t threads) {
  return guard("tdm_set_num_interop_threads", [&] {
    check_threads(threads);
    at::set_num_interop_threads(threads);
  });
}

tdm_error* tdm_get_num_interop_threads(std::int32_t* out) {
  return guard("tdm_get_num_interop_threads", [&] {
    not_null(out, "out");
    *out = static_cast<std::int32_t>(at::get_num_interop_threads());
  });
}
