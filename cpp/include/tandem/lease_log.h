// What a dynamic partition leaves behind: who computed what, and what was left out. As JSON, for logs and checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/export.h"

namespace tandem {

// A sample that could not be loaded, or computed, again and again, and is left out from then on.
struct Quarantined {
  std::int64_t sample = 0;
  std::int64_t epoch = 0;  // when that was so
  std::int64_t step = 0;   // of that epoch, the first one without it
  std::int32_t failures = 0;
  std::string reason;  // of the last one, or its beginning

  bool operator==(const Quarantined&) const = default;
};

// An array of objects {"sample", "epoch", "step", "failures", "reason"}.
TANDEM_API std::string quarantine_json(const std::vector<Quarantined>& items);
// "" is none. Throws Error(kInvalidArgument) for what is no such array.
TANDEM_API std::vector<Quarantined> parse_quarantine(std::string_view json);

// A step that was committed: what it takes to run it again as it was.
struct TANDEM_API CommittedStep {
  struct Part {
    std::int32_t micro;    // the number of the part in the global batch
    std::int32_t rank;     // that computed it
    std::int64_t samples;  // in it, without those that were left out
    bool operator==(const Part&) const = default;
  };
  // Samples of a part that could not be read and were left out (OnIoError::kSkip), this time.
  struct Skipped {
    std::int32_t micro;
    std::int64_t first;  // its place in the part, of which nothing is left out yet
    std::int64_t count;  // of those that follow each other
    bool operator==(const Skipped&) const = default;
  };
  std::int64_t generation = 0;
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::vector<Part> parts;            // in the order in which they were leased
  std::vector<Quarantined> left_out;  // of this step's samples, for the first time
  std::vector<Skipped> skipped{};     // by part, and by place in it

  bool operator==(const CommittedStep&) const = default;
  // That all ranks computed.
  std::int64_t samples() const {
    std::int64_t sum = 0;
    for (const Part& part : parts) sum += part.samples;
    return sum;
  }

  // One line, {"generation", "epoch", "step", "parts": [[micro, rank, samples], …], "left_out": as quarantine_json()},
  // and where any were skipped "skipped": [[micro, first, count], …]: a file of these is the log of a run.
  std::string json() const;
  // Throws Error(kInvalidArgument) for what is no such line.
  static CommittedStep parse(std::string_view json);
};

}  // namespace tandem
