// Makes one trace of those of several ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

struct MergeOptions {
  bool allow_missing = false;                         // ranks
  std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of one file, which takes several times that in memory
};

struct MergeResult {
  std::vector<int> ranks;  // in ascending order
  std::int64_t events = 0;
  std::int64_t dropped = 0;         // when they were recorded
  std::int64_t clock_error_ns = 0;  // the largest of a rank
};

// Writes to `out` what is in `files`, which are traces and profiles that Tandem wrote, each rank's on one clock: rank
// 0's, from the run's beginning on. Processes keep apart, and are named after their ranks. `out` appears whole or not
// at all, and may be one of the files. Errors: kInvalidArgument (no file, a rank twice or missing, files of different
// runs, a file that is no trace of Tandem's or of a later version), kDataLoss naming the place where a file is damaged,
// kIo.
MergeResult merge_traces(const std::vector<std::string>& files, const std::string& out,
                         const MergeOptions& options = {});

}  // namespace tandem
