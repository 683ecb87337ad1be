// An error of the launcher's own: what to print and the exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace tandem::launch {

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& message, int exit_code = 1)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

}  // namespace tandem::launch
