// The trace that TANDEM_TRACE=PREFIX asks for.
#pragma once

#include <mutex>
#include <string>

#include "tandem/process_group.h"

namespace tandem {

// Of one group. Thread-safe.
class EnvironmentTrace {
 public:
  ~EnvironmentTrace() { end(); }

  // Starts the process's trace, if one is asked for and none is on. All ranks call it when they have made a group that
  // is nobody's sub-group.
  void begin(ProcessGroup& group);
  // Writes what began here to PREFIX.rank<r>.json, once. Where that fails, it says so on stderr: nobody asked for the
  // file in the program.
  void end();

 private:
  std::mutex mutex_;
  std::string path_;  // "": it is not on
};

}  // namespace tandem
