// Whether a host's name leads other hosts to it.
#pragma once

#include <string>

namespace tandem {

// For the host that has this name: why other hosts do not reach it where it listens at that name's address; "": they may.
// Debian's installer gives a machine's own name the address 127.0.1.1. A numeric address is what its user means.
std::string why_unreachable(const std::string& host);

}  // namespace tandem
