// Traces: what a rank did, and when, as a file for Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing). It has the
// parts of each step of DistributedDataParallel, its buckets, and all collectives and messages on CPUs. Ranks' files
// are on one clock; `tandem trace merge` makes one of them.
//
//   tandem::start_trace(*group);
//   …
//   tandem::stop_trace("step.rank" + std::to_string(group->rank()) + ".json");
//
// Without a line of code: TANDEM_TRACE=PREFIX in the environment of all ranks traces from the first group that a
// process makes to that group's end, into PREFIX.rank<r>.json.
#pragma once

#include <cstdint>
#include <string>

#include "tandem/export.h"
#include "tandem/process_group.h"

namespace tandem {

struct TraceOptions {
  std::int64_t most_events = 1'000'000;  // later ones are counted in the file as dropped; about 150 bytes each
};

// From now on what this process does is kept. All ranks of the group call it together: they find out how their clocks
// differ, to within a round trip, which is in the file; ranks on one host have one clock. Blocks.
// Errors: kInvalidArgument while a trace is on, or for most_events below 1; those of collectives.
TANDEM_API void start_trace(ProcessGroup& group, const TraceOptions& options = {});

// Ends the trace and writes it. What is still under way is not in it. After an error of the file it is on still.
// Errors: kInvalidArgument when none is on, kNotFound where its folder is missing, kIo.
TANDEM_API void stop_trace(const std::string& path);

// Whether one is on.
TANDEM_API bool is_tracing();

}  // namespace tandem
