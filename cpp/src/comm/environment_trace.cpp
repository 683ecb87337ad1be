#include "comm/environment_trace.h"

#include <cstdio>
#include <utility>

#include "comm/clocks.h"
#include "comm/environment.h"
#include "tandem/trace.h"
#include "trace/recorder.h"

namespace tandem {

void EnvironmentTrace::begin(ProcessGroup& group) {
  const auto prefix = environment_variable("TANDEM_TRACE");
  if (!prefix || prefix->empty()) return;
  // Also where one is on: the other ranks take part in it.
  const TraceIdentity identity = align_clocks(group);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!TraceRecorder::instance().start(identity, TraceOptions().most_events)) return;
  path_ = *prefix + ".rank" + std::to_string(group.rank()) + ".json";
}

void EnvironmentTrace::end() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string path = std::exchange(path_, "");
  if (path.empty() || !is_tracing()) return;  // the program may have stopped it
  try {
    stop_trace(path);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tandem: the trace that TANDEM_TRACE asks for is lost: %s\n", error.what());
    TraceRecorder::instance().discard();
  }
}

}  // namespace tandem
