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
constexpr milliseconds kFarewell{2000};
constexpr milliseconds kLook{10};

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

// One try after the other, until one works or the time is over.
class Search {
 public:
  Search(const LaunchOptions& options, int free_port, Interruptions& interruptions)
      : options_(options),
        free_port_(free_port),
        interruptions_(interruptions),
        place_(options.keeper_host + ":" + std::to_string(options.keeper_port)),
        until_(Clock::now() + of_seconds(options.join_timeout)) {}

  std::unique_ptr<Membership> find() {
    for (;;) {
      std::vector<std::string> addresses;
      try {
        addresses = net::resolve(options_.keeper_host);  // names may come later
      } catch (const Error& error) {
        why_ = error.what();
      }
      if (!options_.keeps || *options_.keeps) {
        for (const std::string& address : addresses) {
          if (auto made = listen_at(address)) return made;
        }
        if (options_.keeps && !addresses.empty()) {
          throw Failure("this agent is to keep the membership (is_host), but: " + why_ +
                        "; choose another place by --rdzv-endpoint HOST:PORT");
        }
      }
      if (!options_.keeps || !*options_.keeps) {
        for (const std::string& address : addresses) {
          if (auto made = connect_to(address)) return made;
        }
      }
      pause();
    }
  }

  // Throws where the time is over.
  void pause() {
    if (Clock::now() >= until_) {
      throw Failure("no agent answered at " + place_ + " for " + std::to_string(std::llround(options_.join_timeout)) + " s (" + why_ +
                    "); start the same command on the machine that has this address, or give another --rdzv-endpoint");
    }
    interruptions_.wait({}, std::min(until_, Clock::now() + kTryAgain));
  }
  void refused(const std::string& why) { why_ = why; }

 private:
  net::Endpoint endpoint(const std::string& address) const {
    return {address, static_cast<std::uint16_t>(options_.keeper_port)};
  }

  // Where the address is this machine's and the port free. Else it is another one's, or an agent of this one listens there.
  std::unique_ptr<Membership> listen_at(const std::string& address) {
    try {
      return keep(options_, free_port_, net::listen_on(address, endpoint(address).port));
    } catch (const Error& error) {
      why_ = error.what();
      return nullptr;
    }
  }

  std::unique_ptr<Membership> connect_to(const std::string& address) {
    int failure = 0;
    Descriptor socket = net::begin_to_connect(endpoint(address), &failure);
    if (failure == 0) {
      const auto try_until = std::min(until_, Clock::now() + std::chrono::seconds(5));
      pollfd ready{socket.get(), POLLOUT, 0};
      while (poll(&ready, 1, 0) == 0 && Clock::now() < try_until) interruptions_.wait({ready}, try_until);
      failure = ready.revents ? net::outcome_of_connecting(socket.get()) : ETIMEDOUT;
    }
    if (failure == 0 && is_to_itself(socket.get())) failure = ECONNREFUSED;
    if (failure != 0) {
      why_ = net::to_string(endpoint(address)) + ": " + std::strerror(failure);
      return nullptr;
    }
    return std::make_unique<Node>(Link(std::move(socket)), arrival(options_, free_port_), place_,
                                  of_seconds(options_.keep_alive), Clock::now());
  }

  // A port of this machine's that nobody listens at can be the connection's own.
  static bool is_to_itself(int socket) {
    sockaddr_storage local{}, remote{};
    socklen_t local_size = sizeof local, remote_size = sizeof remote;
    return getsockname(socket, reinterpret_cast<sockaddr*>(&local), &local_size) == 0 &&
           getpeername(socket, reinterpret_cast<sockaddr*>(&remote), &remote_size) == 0 && local_size == remote_size &&
           std::memcmp(&local, &remote, local_size) == 0;
  }

  const LaunchOptions& options_;
  const int free_port_;
  Interruptions& interruptions_;
  const std::string place_;
  const Clock::time_point until_;
  std::string why_;
};

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
  Search search(options, free_port, interruptions);
  std::unique_ptr<Membership> made;
  for (;;) {
    made = search.find();
    while (!made->begun() && made->refusal().empty()) {
      std::vector<pollfd> polled;
      made->add_polled(&polled);
      interruptions.wait(std::move(polled), made->deadline().value_or(Clock::time_point::max()));
      made->serve(Clock::now(), /*suspended=*/false);
    }
    if (made->begun()) break;
    const auto* node = dynamic_cast<const Node*>(made.get());
    if (!node || !node->may_try_again()) throw Failure("the job did not begin: " + made->refusal());
    search.refused(made->refusal());
    made.reset();
    search.pause();
  }
  const membership::Begin& begin = *made->begun();
  options.node_rank = begin.node;
  options.nnodes = begin.nodes;
  options.first_rank = begin.first_rank;
  options.all_ranks = begin.world_size;
  options.master_addr = begin.master_address;
  options.master_port = begin.master_port;
  return made;
}

void say_farewell(membership::Membership& membership, const Failure& failure) {
  const auto until = Clock::now() + kFarewell;
  membership.fail(std::string(failure.what()) + " on " + host_name(), failure.exit_code(), Clock::now());
  while (!membership.may_end(Clock::now()) && Clock::now() < until) {
    std::vector<pollfd> polled;
    membership.add_polled(&polled);
    poll(polled.data(), polled.size(), static_cast<int>(kLook.count()));
    membership.serve(Clock::now(), /*suspended=*/false);
  }
}

}  // namespace tandem::launch
