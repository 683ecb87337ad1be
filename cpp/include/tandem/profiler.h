// LibTorch's profiler, Kineto, without Python: operators of all threads, the collectives of ranks, and kernels where
// there is a GPU, on one timeline.
//
//   tandem::start_profiler({}, group.get());
//   …
//   std::cout << tandem::stop_profiler("profile.rank0.json");   // a table; the file is for Perfetto
#pragma once

#include <optional>
#include <string>

#include "tandem/export.h"
#include "tandem/process_group.h"

namespace tandem {

struct ProfilerOptions {
  std::optional<bool> cuda;    // kernels as well; unset: where this process has CUDA
  bool record_shapes = false;  // of operators' tensors
  bool with_flops = false;     // of matrix products and convolutions
};

// From now on everything that LibTorch runs in this process is noted, whatever its thread. With `group` all its ranks
// call it together, and their files are on one clock for `tandem trace merge`, with those of a trace that is on
// (tandem/trace.h); it then blocks. Null: this process alone. Noting costs about a microsecond an operator.
// Errors: kInvalidArgument while it is on, kUnsupported for CUDA without one; those of collectives.
TANDEM_API void start_profiler(const ProfilerOptions& options = {}, ProcessGroup* group = nullptr);

// Ends it, and writes a file for Perfetto and chrome://tracing, whole or not at all; "": none. Gives a table of what
// took time: calls, time with and without what was called from inside, a line a name, the most expensive first. Errors:
// kInvalidArgument when it is not on; kNotFound (its folder) and kIo, after which the profile is lost.
TANDEM_API std::string stop_profiler(const std::string& path = "");

}  // namespace tandem
