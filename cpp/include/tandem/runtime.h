// The core's life in a process: what LibTorch and device it runs on, and how it leaves without a crash.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "tandem/export.h"

namespace tandem {

// Called by libtandem's loader; a C++ program that links the core need not call it.
TANDEM_API void start_runtime(const std::string& libtorch_version, bool has_cuda, const std::string& no_cuda_reason);

// Loads LibTorch's CUDA part, for a C++ program that links the core and wants a GPU; libtandem's loader does the same
// for others. Call it before anything else of LibTorch, which settles at its first call whether there is CUDA. Throws
// Error(kUnsupported) with the reason where there is no GPU or no CUDA part.
TANDEM_API void load_cuda();

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

// Refuses new calls, stops everything that registered a hook, and waits for calls in flight on other threads. Throws
// Error(kTimeout) naming what still runs; it may be called again to wait on.
//
// Call it before main returns: threads that compute while a process tears down its libraries crash it. As a safety net
// the process's exit does the same for a few seconds; where computing goes on even then, it flushes stdio and leaves
// with the exit status, without the handlers and destructors that would run next.
TANDEM_API void shutdown(std::chrono::milliseconds timeout);

// Marks a thread of a C++ program that computes with LibTorch directly, so that shutdown() and exit wait for it. Keep
// it for one call or one step, not for the thread's life. Calls through the C ABI are marked by themselves.
// `what` must be a literal. The constructor throws Error(kClosed) after shutdown.
class TANDEM_API Computing {
 public:
  explicit Computing(const char* what);
  ~Computing();
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  bool outermost_;
};

// Puts the exit's safety net before what was registered to run at exit since the last call: LibTorch registers the
// destructors of its function-local statics when they are first used. Called after first uses.
void rearm_exit();

}  // namespace tandem
