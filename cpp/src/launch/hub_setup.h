// What an agent says of itself to others, and keeps their job's membership by.
#pragma once

#include <chrono>
#include <string>

#include "comm/sockets.h"
#include "launch/options.h"
#include "membership/hub.h"

namespace tandem::launch {

std::chrono::milliseconds of_seconds(double seconds);

membership::CoordinatorOptions coordinator_options(const LaunchOptions& options);
// `free_port`: one that is kept free for the store of rank 0.
membership::Arrive arrival(const LaunchOptions& options, int free_port);
// Of an agent that others reach at `address`.
membership::HubOptions hub_options(const LaunchOptions& options, int free_port, const std::string& address);
// Takes the listener: it is closed with the last copy of what is returned.
membership::Hub::Accept accept_at(const net::Listener& listener);

}  // namespace tandem::launch
