// Loading, leaving and the settings that hold for the whole process or thread.
#pragma once

#include <cstdint>
#include <string>

#include "tandem/abi/handle.hpp"

namespace tandem::abi {

// Opens LibTorch and the core. `libtorch` is the folder that holds lib/libtorch_cpu.so, an absolute path; "" for
// TANDEM_LIBTORCH or the one that is found (docs/abi-versions.md); `device` is one of TDM_LOAD_DEVICE_…. Implicit at the first call of anything else.
inline void load(const std::string& libtorch = "", int32_t device = TDM_LOAD_DEVICE_AUTO) {
  tdm_load_options options = TDM_LOAD_OPTIONS_INIT;
  options.libtorch = libtorch.empty() ? nullptr : libtorch.c_str();
  options.device = device;
  check(tdm_load(&options));
}

// Aborts groups and joins every native thread; later calls are TDM_ERROR_CLOSED. Call it before main returns.
inline void shutdown(int64_t timeout_ms) {
  check(tdm_shutdown(timeout_ms));
}

inline std::string version() {
  return tdm_version();
}
inline std::string libtorch_version() {
  return tdm_libtorch_version();
}

inline int32_t cuda_device_count() {
  int32_t count = 0;
  check(tdm_cuda_device_count(&count));
  return count;
}

// Live handles of a type ("tensor", "module", …), -1 for an unknown one.
inline int64_t live_count(const std::string& type) {
  return tdm_live_count(type.c_str());
}
inline int64_t tensor_live_bytes() {
  return tdm_tensor_live_bytes();
}

inline void manual_seed(uint64_t seed) {
  check(tdm_manual_seed(seed));
}
inline void set_num_threads(int32_t threads) {
  check(tdm_set_num_threads(threads));
}
inline int32_t get_num_threads() {
  int32_t threads = 0;
  check(tdm_get_num_threads(&threads));
  return threads;
}

// Notes everything that LibTorch runs in this process, on all threads, until stop_profiler(). Source: Kineto.
inline void start_profiler(bool record_shapes = false, bool cpu_only = false) {
  tdm_profiler_options options = TDM_PROFILER_OPTIONS_INIT;
  options.record_shapes = record_shapes;
  options.cpu_only = cpu_only;
  check(tdm_profiler_start(nullptr, &options));
}
// Writes a file for Perfetto ("": none), and gives a table of what took time.
inline std::string stop_profiler(const std::string& path = "") {
  tdm_string* table = nullptr;
  check(tdm_profiler_stop(path.empty() ? nullptr : path.c_str(), &table));
  return take_string(table);
}

// No gradients are recorded on this thread while it lives. It goes on the thread that made it.
class NoGrad {
 public:
  NoGrad() { check(tdm_mode_enter_grad(0, &mode_)); }
  ~NoGrad() { tdm_error_free(tdm_mode_exit(mode_)); }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  tdm_mode* mode_ = nullptr;
};

}  // namespace tandem::abi
