// Which machine this is.
#pragma once

#include <string>

namespace tandem {

// As the system has it; "localhost" where it has none.
std::string host_name();
// Of the kernel since it was started: another one on each machine and after each start. "" where it is not told.
std::string boot_id();
// Names this machine, or container with a network of its own: processes with the same identity share a loopback.
std::string host_identity();

}  // namespace tandem
