// Text of somebody else's, as it may be shown on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

// UTF-8 of at most `most` bytes. A "?" stands for what is none, for control characters (those of a terminal, U+0080 to U+009F
// among them) and for marks that change the direction in which text is read.
std::string printable(std::string_view text, std::size_t most = 255);

}  // namespace tandem
