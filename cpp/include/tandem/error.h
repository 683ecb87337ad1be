// The one exception type that Tandem throws.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tandem {

// Frozen numbers, the same as tdm_error_code in tandem.h.
enum class ErrorCode : std::int32_t {
  kInternal = 1,
  kInvalidArgument = 2,
  kOutOfRange = 3,
  kNotFound = 4,
  kIo = 5,
  kDataLoss = 6,
  kTimeout = 7,
  kAborted = 8,
  kPeerLost = 9,
  kUnsupported = 10,
  kClosed = 11,
  kLibrary = 12,
  kOutOfMemory = 13,
  kCallback = 14,
};

// Its message names the thing, the cause and what to do.
class __attribute__((visibility("default"))) Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tandem
