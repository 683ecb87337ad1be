// What LibTorch's exceptions say, for people who do not work on LibTorch.
#pragma once

#include <c10/util/Exception.h>

#include <string>

namespace tandem::capi {

// Without the C++ stack, the request to report to LibTorch's authors what may be our caller's mistake, advice for those
// who extend LibTorch, and the list of everything that the dispatcher knows about an operator. With TANDEM_BACKTRACE=1
// in the environment: all of it.
std::string readable(const c10::Error& error);
std::string readable(const std::exception& error);
// For exceptions of the C++ library, whose own words name its parts alone: what it means.
std::string readable(const std::exception& error, const char* meaning);

}  // namespace tandem::capi
