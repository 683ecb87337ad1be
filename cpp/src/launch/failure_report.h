// Which worker failed first, and what is said about that when all have ended.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/error_file.h"

namespace tandem::launch {

// A worker that has ended.
struct EndedWorker {
  int rank = 0;
  pid_t pid = -1;
  int status = 0;               // of waitpid
  double ended_at = 0;          // seconds since 1970
  bool ended_by_itself = true;  // before anything was told to stop
  std::optional<ErrorReport> report;
  std::vector<std::string> last_lines;  // of its stderr

  bool failed() const { return status != 0; }
  // 128 + N after signal N.
  int exit_code() const;
  std::string name() const;  // "rank 1 (pid 4711)"
  std::string end() const;   // "exited with code 3", "was killed by SIGSEGV (signal 11)"
};

// The one whose error came first: by the error file's time if it wrote one, else by its end. Files of torch have whole
// seconds, so that is compared first. A killed worker comes before those that fail within half a second. NULL where none failed by itself or says why it did.
const EndedWorker* first_failure(const std::vector<EndedWorker>& workers);

// What to say last: the others that failed by a line each, then the first with its message and, unless it stands right
// above (`is_alone`: it is the only worker, and shown), its host and last lines.
std::string describe_failures(const std::vector<EndedWorker>& workers, const EndedWorker& first, bool is_alone);

}  // namespace tandem::launch
