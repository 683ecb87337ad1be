#pragma once

#include <string>

#include "tandem/error.h"

namespace tandem {

[[noreturn]] inline void invalid(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

}  // namespace tandem
