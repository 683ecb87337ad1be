// A file of a rank's trace or profile, as the tool reads it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace tandem {

inline constexpr const char* kTraceKind = "trace";
inline constexpr const char* kProfileKind = "profile";

struct TraceFile {
  std::string path, kind, run;
  int rank = 0;
  int world_size = 0;
  std::int64_t shift_ns = 0, dropped = 0, error_ns = 0;
  nlohmann::ordered_json events;
};

// Errors: kInvalidArgument for what is no trace, of another version, or larger than most_bytes; kDataLoss naming what is
// damaged, kIo.
TraceFile read_trace_file(const std::string& path, std::uint64_t most_bytes);

[[noreturn]] void refuse_damaged(const std::string& path, const std::string& what);

}  // namespace tandem
