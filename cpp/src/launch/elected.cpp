#include "launch/elected.h"

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "comm/sockets.h"
#include "etcd/election.h"
#include "launch/hub_setup.h"
#include "membership/succession.h"
#include "tandem/error.h"

namespace tandem::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kNextLook{200};

// This machine's address where others reach it: as --local-addr says, else that of its connections to etcd.
std::string own_address(const LaunchOptions& options, std::string* why) {
  try {
    if (!options.local_addr.empty()) return net::resolve(options.local_addr).front();
  } catch (const Error& error) {
    *why = error.what();
    return "";
  }
  for (const EtcdServer& server : options.etcd.servers) {
    try {
      for (const std::string& address : net::resolve(server.host)) {
        const std::string own = net::local_address_towards({address, static_cast<std::uint16_t>(server.port)});
        // Where etcd's name leads to this machine itself the others would be told their own loopback address.
        const bool is_said = server.host == "localhost" || server.host == address;
        if (!own.empty() && (is_said || !net::is_loopback(own))) return own;
        *why = own.empty() ? "there is no way from here to " + address
                           : server.host + " is " + address + " here, where other machines do not reach this one";
      }
    } catch (const Error& error) {
      *why = error.what();
    }
  }
  return "";
}

}  // namespace

std::unique_ptr<membership::Membership> elected_membership(const LaunchOptions& options, int free_port,
                                                           Interruptions& interruptions) {
  const auto until = Clock::now() + of_seconds(options.join_timeout);
  std::string why;
  std::string address;
  while ((address = own_address(options, &why)).empty()) {  // names may come later
    if (Clock::now() >= until) {
      throw Failure("this node has no address for the others: " + why +
                    "; name etcd's servers by addresses that all nodes reach, or give this node's by --local-addr");
    }
    interruptions.wait({}, std::min(until, Clock::now() + kNextLook));
  }
  try {
    const net::Listener listener = net::listen_on(address, 0);
    etcd::ClientOptions client;
    for (const EtcdServer& server : options.etcd.servers) {
      const bool is_v6 = server.host.find(':') != std::string::npos;
      client.servers.push_back(options.etcd.protocol + "://" + (is_v6 ? "[" + server.host + "]" : server.host) + ":" +
                               std::to_string(server.port));
    }
    client.user = options.etcd.user;
    client.password = options.etcd.password;
    client.ca_file = options.etcd.ca_file;
    client.certificate_file = options.etcd.certificate_file;
    client.key_file = options.etcd.key_file;
    etcd::ElectionOptions election;
    election.job = options.run_id;
    election.address = address;
    election.port = listener.endpoint.port;
    election.stands = options.keeps.value_or(true);
    election.lease = std::chrono::seconds(options.etcd.lease);
    const auto connect = [](const std::string& to, int port, int* failure) {
      try {
        return net::begin_to_connect({to, static_cast<std::uint16_t>(port)}, failure);
      } catch (const Error&) {
        *failure = EMFILE;
        return Descriptor();
      }
    };
    return std::make_unique<membership::Succession>(hub_options(options, free_port, address),
                                                    std::make_unique<etcd::Election>(election, std::move(client)),
                                                    connect, accept_at(listener), listener.fd, Clock::now());
  } catch (const Error& error) {
    throw Failure(error.what());
  }
}

}  // namespace tandem::launch
