#include "launch/hub_setup.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/host.h"

namespace tandem::launch {
namespace {

std::optional<std::pair<Descriptor, std::string>> accept_from(int listener) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  Descriptor made(accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!made.valid()) return std::nullopt;
  char numeric[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&peer), size, numeric, sizeof numeric, nullptr, 0, NI_NUMERICHOST);
  return std::pair(std::move(made), std::string(numeric));
}

}  // namespace

std::chrono::milliseconds of_seconds(double seconds) { return std::chrono::milliseconds(std::llround(seconds * 1000)); }

membership::CoordinatorOptions coordinator_options(const LaunchOptions& options) {
  membership::CoordinatorOptions wanted;
  wanted.most = options.nproc_per_node;
  wanted.least = options.min_ranks;
  wanted.silence = of_seconds(options.silence);
  wanted.step = of_seconds(options.step_timeout);
  return wanted;
}

membership::Arrive arrival(const LaunchOptions& options, int free_port) {
  membership::Arrive own;
  own.run = options.run_id;
  own.host = host_name();
  own.address = options.local_addr;
  own.port = free_port;
  own.ranks = options.nproc_per_node;
  own.wanted = options.node_rank;
  return own;
}

membership::HubOptions hub_options(const LaunchOptions& options, int free_port, const std::string& address) {
  membership::HubOptions wanted;
  wanted.coordinator = coordinator_options(options);
  wanted.own = arrival(options, free_port);
  if (wanted.own.address.empty()) wanted.own.address = address;
  wanted.least_nodes = options.least_nodes;
  wanted.is_only_job = options.is_only_job;
  wanted.most_nodes = options.nnodes;
  wanted.last_call = of_seconds(options.last_call);
  wanted.join = of_seconds(options.join_timeout);
  wanted.silence = of_seconds(options.keep_alive);
  return wanted;
}

membership::Hub::Accept accept_at(const net::Listener& listener) {
  const auto socket = std::make_shared<Descriptor>(listener.fd);
  fcntl(listener.fd, F_SETFL, fcntl(listener.fd, F_GETFL) | O_NONBLOCK);
  return [socket] { return accept_from(socket->get()); };
}

}  // namespace tandem::launch
