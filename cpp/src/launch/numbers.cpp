#include "launch/numbers.h"

#include <cerrno>
#include <cstdlib>

#include "launch/failure.h"

namespace tandem::launch {

int whole_number(const std::string& text, const std::string& flag, int least, int most) {
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || errno != 0 || value < least || value > most) {
    throw Failure(flag + " is " + (text.empty() ? "empty" : text) + ", but has to be a whole number from " +
                  std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<int>(value);
}

}  // namespace tandem::launch
