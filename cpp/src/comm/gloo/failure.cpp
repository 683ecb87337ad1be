#include "comm/gloo/failure.h"

#include <c10/util/Exception.h>
#include <gloo/common/error.h>
#include <gloo/common/logging.h>

namespace tandem {

bool is_of_gloo(const std::exception& failure) {
  return dynamic_cast<const ::gloo::Exception*>(&failure) != nullptr ||
         dynamic_cast<const ::gloo::EnforceNotMet*>(&failure) != nullptr;
}

std::string plain_text(const std::exception& failure) {
  const auto* of_libtorch = dynamic_cast<const c10::Error*>(&failure);
  std::string text = of_libtorch ? of_libtorch->what_without_backtrace() : failure.what();
  // Gloo's text begins with "[/source/file.cc:line] ".
  const auto begin = text.rfind("[/", 0) == 0 ? text.find("] ") : std::string::npos;
  return begin == std::string::npos ? text : text.substr(begin + 2);
}

}  // namespace tandem
