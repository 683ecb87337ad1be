// Errors of the C ABI as one exception type.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "tandem/tandem.h"

namespace tandem::abi {

// What a call of the C ABI reported. what() is "operation: message".
class Error : public std::runtime_error {
 public:
  Error(tdm_error_code code, std::string operation, std::string message, std::exception_ptr cause = nullptr)
      : std::runtime_error(operation + ": " + message),
        code_(code),
        operation_(std::move(operation)),
        message_(std::move(message)),
        cause_(std::move(cause)) {}

  tdm_error_code code() const noexcept { return code_; }  // TDM_ERROR_…
  const std::string& operation() const noexcept { return operation_; }
  const std::string& message() const noexcept { return message_; }
  // What a callback of this program threw that led to it; null for nothing.
  const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  tdm_error_code code_;
  std::string operation_;
  std::string message_;
  std::exception_ptr cause_;
};

// Frees the exception that an error carries; the function's address says that it is one.
inline void drop_exception(void* carried) {
  delete static_cast<std::exception_ptr*>(carried);
}

// Throws what `error` says, of this `operation` (NULL: its own), and frees it; nothing when it is NULL.
inline void check(tdm_error* error, const char* operation = nullptr) {
  if (!error) return;
  const auto* cause = static_cast<const std::exception_ptr*>(tdm_error_user_data(error, drop_exception));
  Error thrown(tdm_error_get_code(error), operation ? operation : tdm_error_operation(error), tdm_error_message(error),
               cause ? *cause : nullptr);
  tdm_error_free(error);
  throw thrown;
}

}  // namespace tandem::abi
