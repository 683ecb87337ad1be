#include <cstdlib>
#include <cstring>

#include "capi/misuse/function.h"

namespace misuse {
namespace {

// Reads a borrowed text to its end.
void touch(const char* text) {
  if (text && std::strlen(text) > (1 << 30)) std::abort();
}

}  // namespace

#include "functions.inc"

}  // namespace misuse
