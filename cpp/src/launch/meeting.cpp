#include "launch/meeting.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/host.h"
#include "comm/sockets.h"
#include "launch/failure.h"
#include "launch/process_tree.h"
#include "membership/hub.h"
#include "membership/node.h"
#include "tandem/error.h"

namespace tandem::launch {
namespace {

using Clock = std::chrono::steady_clock;
using membership::Arrive;
using membership::Hub;
using membership::Link;
using membership::Membership;
using membership::Node;
using std::chrono::milliseconds;

constexpr milliseconds kTryAgain{200};

milliseconds of_seconds(double seconds) { return milliseconds(std::llround(seconds * 1000)); }

membership::CoordinatorOptions coordinator_options(const LaunchOptions& options) {
  membership::CoordinatorOptions wanted;
  wanted.most = options.nproc_per_node;
  wanted.least = options.min_ranks;
  wanted.silence = of_seconds(options.silence);
  wanted.step = of_seconds(options.step_timeout);
  return wanted;
}

Arrive arrival(const LaunchOptions& options, int free_port) {
  Arrive own;
  own.run = options.run_id;
  own.host = host_name();
  own.address = options.local_addr;
  own.port = free_port;
  own.ranks = options.nproc_per_node;
  own.wanted = options.node_rank;
  return own;
}

// What may come while this agent waits for others.
class Interruptions {
 public:
  Interruptions(const LaunchOptions& options, const Signals& signals, const Descriptor& lifeline)
      : options_(options), signal_fd_(signals.open()), lifeline_(lifeline) {}

  // Until something is to be read or written there, or until `until`.
  void wait(std::vector<pollfd> polled, Clock::time_point until) {
    polled.push_back({signal_fd_.get(), POLLIN, 0});
    polled.push_back({lifeline_.get(), POLLIN, 0});
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    poll(polled.data(), polled.size(), static_cast<int>(std::clamp<milliseconds::rep>(left.count(), 0, 60000)));
    if (polled.back().revents) throw Failure("the launcher's front process is gone", 128 + SIGKILL);
    for (const int signal : Signals::read(signal_fd_.get())) {
      if (std::ranges::find(options_.ending_signals, signal) == options_.ending_signals.end()) continue;
      throw Failure("ended by " + signal_name(signal) + " while it waited for other nodes", 128 + signal);
    }
  }

 private:
  const LaunchOptions& options_;
  Descriptor signal_fd_;
  const Descriptor& lifeline_;
};

std::optional<std::pair<Descriptor, std::string>> accept_from(int listener) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  Descriptor made(accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!made.valid()) return std::nullopt;
  char numeric[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&peer), size, numeric, sizeof numeric, nullptr, 0, NI_NUMERICHOST);
  return std::pair(std::move(made), std::string(numeric));
}

std::unique_ptr<Membership> keep(const LaunchOptions& options, int free_port, net::Listener listener) {
  membership::HubOptions wanted;
  wanted.coordinator = coordinator_options(options);
  wanted.own = arrival(options, free_port);
  if (wanted.own.address.empty()) wanted.own.address = listener.endpoint.address;
  wanted.least_nodes = options.least_nodes;
  wanted.most_nodes = options.nnodes;
  wanted.last_call = of_seconds(options.last_call);
  wanted.join = of_seconds(options.join_timeout);
  wanted.silence = of_seconds(options.keep_alive);
  const auto socket = std::make_shared<Descriptor>(listener.fd);
  fcntl(listener.fd, F_SETFL, fcntl(listener.fd, F_GETFL) | O_NONBLOCK);
  return std::make_unique<Hub>(wanted, Clock::now(), [socket] { return accept_from(socket->get()); }, listener.fd);
}

// The listener at the endpoint, where that is this machine's and free.
std::optional<net::Listener> listen_there(const LaunchOptions& options) {
  if (options.keeps && !*options.keeps) return std::nullopt;
  std::string why;
  for (const std::string& address : net::resolve(options.keeper_host)) {
    try {
      return net::listen_on(address, static_cast<std::uint16_t>(options.keeper_port));
    } catch (const Error& error) {  // it is another machine's, or an agent of this one listens there
      why = error.what();
    }
  }
  if (options.keeps) throw Failure("this agent is to keep the membership (is_host), but: " + why + "; choose another place by --rdzv-endpoint HOST:PORT");
  return std::nullopt;
}

std::unique_ptr<Membership> connect_there(const LaunchOptions& options, int free_port, Interruptions& interruptions) {
  const auto until = Clock::now() + of_seconds(options.join_timeout);
  const std::string place = options.keeper_host + ":" + std::to_string(options.keeper_port);
  std::string why = "its name is not known";
  for (;;) {
    std::vector<std::string> addresses;
    try {
      addresses = net::resolve(options.keeper_host);
    } catch (const Error& error) {
      why = error.what();
    }
    for (const std::string& address : addresses) {
      int failure = 0;
      Descriptor socket = net::begin_to_connect({address, static_cast<std::uint16_t>(options.keeper_port)}, &failure);
      if (failure == 0) {
        const auto try_until = std::min(until, Clock::now() + std::chrono::seconds(5));
        pollfd ready{socket.get(), POLLOUT, 0};
        while (poll(&ready, 1, 0) == 0 && Clock::now() < try_until) interruptions.wait({ready}, try_until);
        failure = ready.revents ? net::outcome_of_connecting(socket.get()) : ETIMEDOUT;
      }
      if (failure == 0) {
        return std::make_unique<Node>(Link(std::move(socket)), arrival(options, free_port), place,
                                      of_seconds(options.keep_alive), Clock::now());
      }
      why = std::strerror(failure);
    }
    if (Clock::now() >= until) {
      throw Failure("no agent answered at " + place + " for " + std::to_string(std::llround(options.join_timeout)) + " s (" +
                    why + "); start the same command on the machine that has this address, or give another --rdzv-endpoint");
    }
    interruptions.wait({}, std::min(until, Clock::now() + kTryAgain));
  }
}

}  // namespace

std::unique_ptr<Membership> membership_alone(const LaunchOptions& options) {
  membership::HubOptions wanted;
  wanted.coordinator = coordinator_options(options);
  wanted.own.ranks = options.nproc_per_node;
  return std::make_unique<Hub>(wanted, Clock::now());
}

std::unique_ptr<Membership> meet_nodes(LaunchOptions& options, int free_port, const Signals& signals,
                                       const Descriptor& lifeline) {
  Interruptions interruptions(options, signals, lifeline);
  std::unique_ptr<Membership> made;
  try {
    std::optional<net::Listener> listener = listen_there(options);
    made = listener ? keep(options, free_port, *listener) : connect_there(options, free_port, interruptions);
  } catch (const Error& error) {
    throw Failure(error.what());
  }
  while (!made->begun() && made->refusal().empty()) {
    std::vector<pollfd> polled;
    made->add_polled(&polled);
    interruptions.wait(std::move(polled), made->deadline().value_or(Clock::time_point::max()));
    made->serve(Clock::now(), /*suspended=*/false);
  }
  if (!made->begun()) throw Failure("the job did not begin: " + made->refusal());
  const membership::Begin& begin = *made->begun();
  options.node_rank = begin.node;
  options.nnodes = begin.nodes;
  options.first_rank = begin.first_rank;
  options.all_ranks = begin.world_size;
  options.master_addr = begin.master_address;
  options.master_port = begin.master_port;
  return made;
}

}  // namespace tandem::launch
