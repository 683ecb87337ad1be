// Modes: thread state of LibTorch, opened and closed in order.
#include "core/autograd/modes.h"

#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <atomic>
#include <mutex>

#include "core/call/options.h"
#include "core/handles/handles.h"
#include "tandem/runtime.h"

namespace tandem::capi {
namespace {

thread_local tdm_mode* innermost = nullptr;

bool autocasts() {
  return at::autocast::is_autocast_enabled(at::kCPU) || at::autocast::is_autocast_enabled(at::kCUDA);
}

// A cached cast of a parameter knows nothing of another dtype, or of whether it was recorded for backward: whatever
// changes either has to drop it.
void forget_casts() {
  if (autocasts()) at::autocast::clear_cache();
}

struct GradModeChange final : tdm_mode {
  explicit GradModeChange(bool enabled) : before(at::GradMode::is_enabled()) {
    forget_casts();
    at::GradMode::set_enabled(enabled);
  }
  ~GradModeChange() override {
    forget_casts();
    at::GradMode::set_enabled(before);
  }
  bool before;
};

struct Inference final : tdm_mode {
  explicit Inference(bool enabled) : guard(enabled) { forget_casts(); }
  ~Inference() override { forget_casts(); }
  c10::InferenceMode guard;
};

struct Autocast final : tdm_mode {
  Autocast(at::DeviceType type, at::ScalarType dtype, bool enabled)
      : device(type),
        dtype_before(at::autocast::get_autocast_dtype(type)),
        enabled_before(at::autocast::is_autocast_enabled(type)) {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type, enabled);
    at::autocast::set_autocast_dtype(type, dtype);
  }
  ~Autocast() override {
    at::autocast::set_autocast_dtype(device, dtype_before);
    at::autocast::set_autocast_enabled(device, enabled_before);
    at::autocast::clear_cache();
  }
  at::DeviceType device;
  at::ScalarType dtype_before;
  bool enabled_before;
};

// LibTorch's switch is the process's: it is on while anybody wants it.
struct Anomaly final : tdm_mode {
  explicit Anomaly(bool check) : check_nan(check) { change(1); }
  ~Anomaly() override { change(-1); }

  void change(int by) const {
    static std::mutex mutex;
    static int open = 0;
    static int checking = 0;
    const std::lock_guard<std::mutex> lock(mutex);
    open += by;
    if (check_nan) checking += by;
    torch::autograd::AnomalyMode::set_enabled(open > 0, checking > 0);
  }

  bool check_nan;
};

at::ScalarType autocast_dtype(at::DeviceType device, tdm_dtype dtype) {
  if (dtype == TDM_UNCHANGED) return device == at::kCPU ? at::kBFloat16 : at::kHalf;
  if (dtype != TDM_DTYPE_BFLOAT16 && dtype != TDM_DTYPE_FLOAT16) {
    invalid("argument 'dtype' is " + std::to_string(dtype) +
            "; autocast computes in TDM_DTYPE_BFLOAT16 or TDM_DTYPE_FLOAT16");
  }
  return to_scalar_type(dtype, "dtype");
}

void exit_innermost_mode() {
  const std::unique_ptr<tdm_mode> mode(innermost);
  innermost = mode->outer;
}

tdm_mode* handle_of(tdm_mode* mode) {
  return with_generation<tdm_mode>(mode, mode->generation);
}

// The open mode of this thread with that handle, which may be stale: it is compared, and never followed.
tdm_mode* open_here(const tdm_mode* handle) {
  tdm_mode* open = innermost;
  while (open && handle_of(open) != handle) open = open->outer;
  return open;
}

tdm_dtype dtype_of_autocast(at::DeviceType device) {
  return at::autocast::is_autocast_enabled(device) ? from_scalar_type(at::autocast::get_autocast_dtype(device))
                                                   : TDM_UNCHANGED;
}

}  // namespace

tdm_mode* open_mode(std::unique_ptr<tdm_mode> mode) {
  static std::atomic<std::uint16_t> generations{0};
  mode->generation = generations.fetch_add(1, std::memory_order_relaxed);
  mode->outer = innermost;
  innermost = mode.release();
  return handle_of(innermost);
}

void exit_modes_inside(tdm_mode* outer) {
  while (innermost && innermost != outer) exit_innermost_mode();
}

tdm_mode* set_modes_aside() {
  return std::exchange(innermost, nullptr);
}

void bring_modes_back(tdm_mode* modes) {
  innermost = modes;
}

}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_mode_enter_grad(std::int32_t enabled, tdm_mode** out) {
  return guard("tdm_mode_enter_grad", [&] {
    not_null(out, "out");
    *out = open_mode(std::make_unique<GradModeChange>(enabled != 0));
  });
}

tdm_error* tdm_mode_enter_inference(std::int32_t enabled, tdm_mode** out) {
  return guard("tdm_mode_enter_inference", [&] {
    not_null(out, "out");
    *out = open_mode(std::make_unique<Inference>(enabled != 0));
  });
}

tdm_error* tdm_mode_enter_autocast(tdm_device_type device, tdm_dtype dtype, std::int32_t enabled, tdm_mode** out) {
  return guard("tdm_mode_enter_autocast", [&] {
    not_null(out, "out");
    if (device != TDM_DEVICE_CPU && device != TDM_DEVICE_CUDA) {
      invalid("argument 'device' is " + std::to_string(device) + "; autocast knows TDM_DEVICE_CPU and TDM_DEVICE_CUDA");
    }
    const at::DeviceType type = to_device({device, -1}, "device").type();
    *out = open_mode(std::make_unique<Autocast>(type, autocast_dtype(type, dtype), enabled != 0));
  });
}

tdm_error* tdm_mode_enter_anomaly(std::int32_t check_nan, tdm_mode** out) {
  return guard("tdm_mode_enter_anomaly", [&] {
    not_null(out, "out");
    *out = open_mode(std::make_unique<Anomaly>(check_nan != 0));
  });
}

tdm_error* tdm_mode_exit(tdm_mode* mode) {
  return guard("tdm_mode_exit", [&] {
    if (!mode) return;
    const tdm_mode* const open = open_here(mode);
    if (!open) {
      invalid(
          "argument 'mode' is not open on this thread: it was left before, or another thread entered it; pin the task "
          "to its thread for as long as a mode is open");
    }
    exit_modes_inside(open->outer);
  });
}

tdm_error* tdm_get_modes(tdm_modes* out) {
  return guard("tdm_get_modes", [&] {
    const tdm_modes modes{
        sizeof(tdm_modes),           at::GradMode::is_enabled(),   c10::InferenceMode::is_enabled(),
        dtype_of_autocast(at::kCPU), dtype_of_autocast(at::kCUDA), torch::autograd::AnomalyMode::is_enabled()};
    write_struct(not_null(out, "out"), modes, "tdm_modes");
  });
}
