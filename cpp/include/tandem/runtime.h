// The core's life in a process: what LibTorch and device it runs on, and how it leaves without a crash.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "tandem/export.h"

namespace tandem {

// Called by libtandem's loader; a C++ program that links the core need not call it.
TANDEM_API void start_runtime(const std::string& libtorch_version, bool has_cuda, const std::string& no_cuda_reason);

TANDEM_API bool has_cuda();
// Throws Error(kUnsupported) with the reason when this process cannot use CUDA; `asked_by` names what asked.
TANDEM_API void require_cuda(const std::string& asked_by);

// Something with native threads or pending work (a process group, a loader), for as long as it lives. shutdown() calls
// `stop` of the newest first; `stop` aborts what is pending and joins threads, and may be called from any thread.
class TANDEM_API ShutdownHook {
 public:
  ShutdownHook(std::string name, std::function<void()> stop);
  ~ShutdownHook();
  ShutdownHook(const ShutdownHook&) = delete;
  ShutdownHook& operator=(const ShutdownHook&) = delete;

 private:
  long id_;
};

// Stops everything that registered a hook and waits for calls in flight. Throws Error(kTimeout) naming what still
// runs. Call it before main returns: threads that compute while a process tears down its libraries crash it.
TANDEM_API void shutdown(std::chrono::milliseconds timeout);

}  // namespace tandem
