// Errors of the C ABI as one exception type.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "tandem/tandem.h"

namespace tandem::abi {

// What a call of the C ABI reported. what() is "operation: message".
class Error : public std::runtime_error {
 public:
  Error(tdm_error_code code, std::string operation, std::string message)
      : std::runtime_error(operation + ": " + message),
        code_(code),
        operation_(std::move(operation)),
        message_(std::move(message)) {}

  tdm_error_code code() const noexcept { return code_; }  // TDM_ERROR_…
  const std::string& operation() const noexcept { return operation_; }
  const std::string& message() const noexcept { return message_; }

 private:
  tdm_error_code code_;
  std::string operation_;
  std::string message_;
};

// Throws what `error` says and frees it; nothing when it is NULL.
inline void check(tdm_error* error) {
  if (!error) return;
  Error thrown(tdm_error_get_code(error), tdm_error_operation(error), tdm_error_message(error));
  tdm_error_free(error);
  throw thrown;
}

}  // namespace tandem::abi
