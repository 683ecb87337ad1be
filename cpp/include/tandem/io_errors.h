// What a loader does where files cannot be read, though nothing is known to be wrong with what they hold.
#pragma once

#include <cstdint>

namespace tandem {

// For errors of codes kIo and kTimeout, from files, servers and data sets of one's own: the store of the files is away,
// a token has expired, a disk fails. All three leave quarantines alone: nothing counts against a sample but what is
// wrong with the data itself (a checksum, a picture that is none, a file that is not there).
enum class OnIoError : std::int32_t {
  kRetry = 0,  // tries again, with pauses that grow to ten seconds, for `io_retry`; then it is an error
  kSkip = 1,   // the same, but then leaves the samples that still cannot be read out of their batch, this time
  kFail = 2,   // an error at once
};

}  // namespace tandem
