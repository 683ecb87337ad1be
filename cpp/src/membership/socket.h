// Whole messages between processes of one machine.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace tandem::membership {

// A socket in the file system, of messages that are received as they were sent (SOCK_SEQPACKET). `path` may be longer
// than a socket's address. Throws Error(kIo).
Descriptor listen_at(const std::string& path);
Descriptor connect_to(const std::string& path);
// Not blocking. Nothing: none waits, or it is not of this user, which is refused.
std::optional<Descriptor> accept_own(const Descriptor& listener);

enum class Received { kMessage, kNothing, kEnd };
// Into `message`, without blocking. kEnd also for a message that is too long, and for a connection that was reset.
Received receive(const Descriptor& socket, std::string* message);

enum class Sent { kAll, kFull, kEnd };
// Without blocking, and without SIGPIPE.
Sent send(const Descriptor& socket, std::string_view message);

}  // namespace tandem::membership
