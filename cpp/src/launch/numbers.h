// Numbers in flags.
#pragma once

#include <string>

namespace tandem::launch {

// Throws Failure, which names the flag, for what is no whole number from `least` to `most`.
int whole_number(const std::string& text, const std::string& flag, int least, int most);

}  // namespace tandem::launch
