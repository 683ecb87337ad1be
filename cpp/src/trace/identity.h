// Which rank of which run a trace is of, and how its clock relates to the others'.
#pragma once

#include <cstdint>
#include <string>

namespace tandem {

struct TraceIdentity {
  std::string run;  // random, the same on all ranks that started together
  int rank = 0;
  int world_size = 1;
  std::string host;
  std::string backend;
  std::int64_t epoch_ns = 0;   // zero of all ranks' traces, on rank 0's steady clock
  std::int64_t offset_ns = 0;  // added to this rank's steady clock it is rank 0's
  std::int64_t error_ns = 0;   // by which that may be wrong, at most

  // The member "tandem" of a trace file. `kind` is "trace" or "profile"; times in the file are rank 0's, since the
  // epoch, when `shift_ns` is added.
  std::string json(const std::string& kind, std::int64_t shift_ns, std::int64_t dropped) const;
};

}  // namespace tandem
