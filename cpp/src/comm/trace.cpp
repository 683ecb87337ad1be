#include "tandem/trace.h"

#include "comm/clocks.h"
#include "tandem/error.h"
#include "trace/recorder.h"

namespace tandem {

void start_trace(ProcessGroup& group, const TraceOptions& options) {
  if (options.most_events < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "most_events is " + std::to_string(options.most_events) + "; it must be 1 or more");
  }
  // All ranks go through this, so that one whose trace is on does not leave the others waiting.
  const TraceIdentity identity = align_clocks(group);
  if (!TraceRecorder::instance().start(identity, options.most_events)) {
    throw Error(ErrorCode::kInvalidArgument, "a trace of this process is on already; stop it before the next");
  }
}

void stop_trace(const std::string& path) {
  TraceRecorder::instance().stop(path);
}

bool is_tracing() {
  return TraceRecorder::instance().on();
}

}  // namespace tandem
