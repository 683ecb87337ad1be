// Where a worker listens.
#pragma once

#include <string>

namespace tandem::rpc {

// The numeric address that `given` means: itself, or the first of the network interface of that name, IPv4 before IPv6;
// "": of the one that the environment's TP_SOCKET_IFNAME names, else loopback's. Errors: kInvalidArgument for all
// addresses at once (0.0.0.0, ::), kNotFound, naming the interfaces that there are.
std::string listen_address(const std::string& given);

}  // namespace tandem::rpc
