// Connecting to a request server.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "comm/guarded_listener.h"

namespace tandem::requests {

// A connection that the server has welcomed, and that does not block. Nothing where the machine says that the server is
// gone: nobody listens there, or somebody else. `server`: for errors, "rank 0, which keeps the queue". Errors: kTimeout
// where there is no answer by the deadline; kPeerLost where the machine cannot be reached, or connections are closed up
// to the deadline; kIo when this process can make no socket.
std::optional<Descriptor> connect_to_server(const net::GuardedAddress& address, const std::string& server,
                                            std::chrono::steady_clock::time_point deadline);

// Sends one request, without waiting for a welcome: a server that stands still reads it once it goes on. Whether it was
// answered by the deadline; false also where the server is gone. Errors: kIo.
bool tell_server(const net::GuardedAddress& address, std::string_view request,
                 std::chrono::steady_clock::time_point deadline);

}  // namespace tandem::requests
