// The file in which a worker says why it failed (TORCHELASTIC_ERROR_FILE).
#pragma once

#include <optional>
#include <string>

namespace tandem::launch {

struct ErrorReport {
  std::string message;
  double timestamp = 0;   // of the error, in seconds since 1970, as the worker wrote it (torch: whole seconds)
  double written_at = 0;  // when the file was written: the finer clock
};

// Reads {"message": {"message": "…", "extraInfo": {"timestamp": "…"}}} or {"message": "…"}. Nothing when there is no
// such file or it is something else.
std::optional<ErrorReport> read_error_file(const std::string& path);

}  // namespace tandem::launch
