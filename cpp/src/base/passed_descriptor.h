// Descriptors that a process gives to another one, over a local socket.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "base/descriptor.h"

namespace tandem {

// Sends `size` bytes, at least one, and the descriptor with them, which stays this process's as well. False where not
// all of it could be sent: errno says why. `flags` beside MSG_NOSIGNAL.
bool send_descriptor(int socket, const void* data, std::size_t size, int descriptor, int flags = 0);
// What recvmsg() gives, and the first descriptor that came with it; not valid where none did. More of them are closed.
ssize_t receive_descriptor(int socket, void* data, std::size_t size, Descriptor* descriptor, int flags = 0);

}  // namespace tandem
