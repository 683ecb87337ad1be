#include "capi/misuse/refusal.h"

#include <cstring>
#include <string_view>

namespace misuse {
namespace {

using testing::AssertionFailure;
using testing::AssertionSuccess;

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t j = 1; j < length; ++j) {
      if ((static_cast<unsigned char>(text[i + j]) & 0xc0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

testing::AssertionResult failed(const tdm_error* error, const std::string& why) {
  return AssertionFailure() << why << ": " << tdm_error_operation(error) << ": "
                            << std::string(tdm_error_message(error)).substr(0, 600) << " (" << tdm_error_get_code(error)
                            << ")";
}

}  // namespace

testing::AssertionResult is_well_worded(const tdm_error* error) {
  const std::string message = tdm_error_message(error);
  if (message.empty()) return failed(error, "it says nothing");
  if (message.size() > 70000) return failed(error, "it is " + std::to_string(message.size()) + " bytes long");
  if (!is_utf8(message)) return failed(error, "it is no UTF-8");
  for (const char* part : {"INTERNAL ASSERT", "Exception raised", "std::", "basic_string", "vector::", "Vector unable",
                           "bitset::", "please report", "operator writer", "enforce fail", "/pytorch/"}) {
    if (message.find(part) != std::string::npos) return failed(error, std::string("it says ") + part);
  }
  return AssertionSuccess();
}

testing::AssertionResult is_clean(const tdm_error* error, const std::string& function) {
  if (!error) return AssertionSuccess();
  if (tdm_error_operation(error) != function) return failed(error, "it names another function");
  if (tdm_error_get_code(error) == TDM_ERROR_INTERNAL) return failed(error, "it says that Tandem is at fault");
  return is_well_worded(error);
}

testing::AssertionResult is_refusal(const tdm_error* error, const std::string& function, const std::string& argument) {
  if (!error) return AssertionFailure() << function << " took it";
  if (const auto clean = is_clean(error, function); !clean) return clean;
  const tdm_error_code code = tdm_error_get_code(error);
  if (code != TDM_ERROR_INVALID_ARGUMENT && code != TDM_ERROR_CLOSED) return failed(error, "its code is another");
  if (std::string(tdm_error_message(error)).find(argument) == std::string::npos) {
    return failed(error, "it does not name " + argument);
  }
  return AssertionSuccess();
}

}  // namespace misuse
