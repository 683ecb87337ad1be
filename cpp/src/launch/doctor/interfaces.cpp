#include "launch/doctor/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/host.h"
#include "comm/sockets.h"
#include "tandem/error.h"

namespace tandem::doctor {
namespace {

// Of no machine (RFC 5737): the way there is the way to other networks.
constexpr const char* kElsewhere = "192.0.2.1";

std::string named_by_variable() {
  const char* value = std::getenv("GLOO_SOCKET_IFNAME");
  const std::string names = value ? value : "";
  return names.substr(0, names.find(','));
}

Interface interface_of(const std::string& address) {
  for (const Interface& one : interfaces()) {
    if (one.address == address) return one;
  }
  return {"?", address, true, net::is_loopback(address)};
}

std::string all_names() {
  std::string names;
  for (const Interface& one : interfaces()) names += (names.empty() ? "" : "; ") + to_string(one);
  return names;
}

}  // namespace

std::vector<Interface> interfaces() {
  std::vector<Interface> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr))
      continue;
    char text[NI_MAXHOST] = "";
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (getnameinfo(one->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    found.push_back({one->ifa_name, text, (one->ifa_flags & IFF_UP) != 0, (one->ifa_flags & IFF_LOOPBACK) != 0});
  }
  freeifaddrs(all);
  return found;
}

bool is_of_containers(const std::string& name) {
  constexpr const char* kBegins[] = {"docker", "br-",   "veth",    "virbr", "cni",    "podman",
                                     "lxc",    "lxdbr", "vboxnet", "vmnet", "flannel"};
  return std::ranges::any_of(kBegins, [&](const char* begin) { return name.starts_with(begin); });
}

std::string to_string(const Interface& one) {
  return one.name + ", " + one.address;
}

GlooAddress gloo_address(const std::string& towards) {
  const std::string named = named_by_variable();
  if (!named.empty()) {
    const std::string because = "GLOO_SOCKET_IFNAME";
    for (const Interface& one : interfaces()) {
      if (one.name == named && one.is_up) return {one, because, ""};
    }
    const bool exists = if_nametoindex(named.c_str()) != 0;
    return {{},
            because,
            "GLOO_SOCKET_IFNAME is " + named + ", " +
                (exists ? "an interface that is down or has no address" : "but there is no such interface") +
                "; there are " + all_names()};
  }
  if (towards.empty()) return {interface_of("127.0.0.1"), "all ranks are on this machine", ""};
  const std::string local = net::local_address_towards({towards, 1});
  if (!local.empty() && !net::is_loopback(local)) return {interface_of(local), "the way to " + towards, ""};
  // As Gloo itself does: where this host's name points to.
  try {
    const std::vector<std::string> own = net::resolve(host_name());
    if (!own.empty()) return {interface_of(own.front()), "the address of its name, " + host_name(), ""};
  } catch (const Error&) {
  }
  return {{}, "", "there is no way to " + towards + ", and its own name, " + host_name() + ", does not resolve"};
}

Finding examine_network() {
  const std::string topic = "network";
  const GlooAddress here = gloo_address(""), others = gloo_address(kElsewhere);
  if (!here.error.empty()) return problem(topic, here.error, "unset GLOO_SOCKET_IFNAME, or set it to one of these");
  if (here.because == "GLOO_SOCKET_IFNAME") {
    const std::string text = "Gloo listens at " + to_string(here.at) + ", by GLOO_SOCKET_IFNAME";
    if (here.at.is_loopback)
      return warning(topic, text + ": right for one machine, but others do not reach it",
                     "unset it for several machines");
    if (is_of_containers(here.at.name)) {
      return warning(topic, text + ": an interface of containers, which other machines do not reach",
                     "name another for several machines");
    }
    return ok(topic, text);
  }
  const std::string alone = "Gloo listens at " + to_string(here.at) + " for one machine";
  const bool leads_out = others.error.empty() && !others.at.is_loopback;
  if (!leads_out) return ok(topic, alone + "; there is no way to others (GLOO_SOCKET_IFNAME names an interface)");
  if (is_of_containers(others.at.name)) {
    return warning(topic,
                   alone + ", and for several at " + to_string(others.at) + ", an interface of containers by its name",
                   "GLOO_SOCKET_IFNAME names another of " + all_names());
  }
  return ok(topic, alone + ", at " + to_string(others.at) +
                       " for several where the default route leads to them (GLOO_SOCKET_IFNAME names another)");
}

}  // namespace tandem::doctor
