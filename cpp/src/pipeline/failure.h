// What a stage or a layer failed of, as ranks tell it each other.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>

#include "tandem/error.h"

namespace tandem {

// LibTorch's message without its stack.
inline std::string plain(const std::exception& failure) {
  const auto* of_libtorch = dynamic_cast<const c10::Error*>(&failure);
  return of_libtorch ? of_libtorch->what_without_backtrace() : failure.what();
}

// `otherwise`: of what is neither ours nor LibTorch's.
inline ErrorCode code_of(const std::exception& failure, ErrorCode otherwise = ErrorCode::kCallback) {
  if (const auto* ours = dynamic_cast<const Error*>(&failure)) return ours->code();
  if (dynamic_cast<const c10::OutOfMemoryError*>(&failure) || dynamic_cast<const std::bad_alloc*>(&failure)) {
    return ErrorCode::kOutOfMemory;
  }
  return dynamic_cast<const c10::Error*>(&failure) ? ErrorCode::kInvalidArgument : otherwise;
}

}  // namespace tandem
