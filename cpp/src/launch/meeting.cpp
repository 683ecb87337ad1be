#include "launch/meeting.h"

#include <poll.h>
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
#include "launch/elected.h"
#include "launch/failure.h"
#include "launch/hub_setup.h"
#include "launch/interruptions.h"
#include "membership/hub.h"
#include "membership/node.h"
#include "tandem/error.h"

namespace tandem::launch {
namespace {

using Clock = std::chrono::steady_clock;
using membership::Hub;
using membership::Link;
using membership::Membership;
using membership::Node;
using std::chrono::milliseconds;

constexpr milliseconds kTryAgain{200};
constexpr milliseconds kFarewell{2000};
constexpr milliseconds kLook{10};

std::unique_ptr<Membership> keep(const LaunchOptions& options, int free_port, const net::Listener& listener) {
  return std::make_unique<Hub>(hub_options(options, free_port, listener.endpoint.address), Clock::now(),
                               accept_at(listener), listener.fd);
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
      throw Failure("no agent answered at " + place_ + " for " + std::to_string(std::llround(options_.join_timeout)) +
                    " s (" + why_ +
                    "); start the same command on the machine that has this address, or give another --rdzv-endpoint");
    }
    interruptions_.wait({}, std::min(until_, Clock::now() + kTryAgain));
  }
  void refused(const std::string& why) { why_ = why; }

 private:
  net::Endpoint endpoint(const std::string& address) const {
    return {address, static_cast<std::uint16_t>(options_.keeper_port)};
  }

  // Where the address is this machine's and the port free. Else it is another one's, or an agent of this one listens
  // there.
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

// For what it has to say yet, as that it keeps the membership no longer.
void end_membership(Membership& membership) {
  const auto until = Clock::now() + kFarewell;
  while (!membership.may_end(Clock::now()) && Clock::now() < until) {
    std::vector<pollfd> polled;
    membership.add_polled(&polled);
    poll(polled.data(), polled.size(), static_cast<int>(kLook.count()));
    membership.serve(Clock::now(), /*suspended=*/false);
  }
}

void say_what_is_waited_for(Membership& membership) {
  for (const membership::Event& event : membership.take_events()) {
    if (event.kind == membership::Event::Kind::kSaid) std::fprintf(stderr, "tandem: %s\n", event.text.c_str());
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
  std::optional<Search> search;
  if (!options.elects) search.emplace(options, free_port, interruptions);
  std::unique_ptr<Membership> made;
  for (;;) {
    made = search ? search->find() : elected_membership(options, free_port, interruptions);
    while (!made->begun() && made->refusal().empty()) {
      std::vector<pollfd> polled;
      made->add_polled(&polled);
      interruptions.wait(std::move(polled), made->deadline().value_or(Clock::time_point::max()));
      made->serve(Clock::now(), /*suspended=*/false);
      if (!search && !made->begun()) say_what_is_waited_for(*made);
    }
    if (made->begun()) break;
    if (options.is_only_job && made->came_too_late()) {
      end_membership(*made);
      throw Failure("the job has come to its end without this node", 0);
    }
    const auto* node = dynamic_cast<const Node*>(made.get());
    if (!search || !node || !node->may_try_again()) {
      end_membership(*made);
      throw Failure("the job did not begin: " + made->refusal());
    }
    search->refused(made->refusal());
    made.reset();
    search->pause();
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

void say_farewell(membership::Membership& membership, const std::exception& error) {
  const auto* failure = dynamic_cast<const Failure*>(&error);
  membership.fail(std::string(error.what()) + " on " + host_name(), failure ? failure->exit_code() : 1, Clock::now());
  end_membership(membership);
}

}  // namespace tandem::launch
