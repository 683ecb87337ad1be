#include "launch/doctor/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/host.h"
#include "comm/sockets.h"

namespace tandem::doctor {
namespace {

// Of no machine (RFC 5737): the way there is the way to other networks.
constexpr const char* kElsewhere = "192.0.2.1";

// As ranks do: on each that GLOO_SOCKET_IFNAME names.
GlooPlaces places_of_names(const std::string& names) {
  GlooPlaces places{{}, "GLOO_SOCKET_IFNAME", ""};
  const std::vector<Interface> all = interfaces();
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    if (name.empty()) continue;
    const auto one = std::ranges::find_if(all, [&](const Interface& at) { return at.name == name && at.is_up; });
    if (one != all.end()) {
      places.at.push_back(*one);
      continue;
    }
    const bool exists = if_nametoindex(name.c_str()) != 0;
    places.error = "GLOO_SOCKET_IFNAME is " + names + ", " + (exists ? "and " : "but there is no ") + name +
                   (exists ? " is down or has no address" : "") + "; there are " + to_string(all);
    places.at.clear();
    return places;
  }
  if (places.at.empty())
    places.error = "GLOO_SOCKET_IFNAME is " + names + ", which names no interface; there are " + to_string(all);
  return places;
}

// Of this host's name, by a process of its own: resolvers may take long.
std::string address_of_name(Interruption& interruption) {
  constexpr double kToResolveOwn = 10;  // seconds
  const Outcome outcome =
      run_program({"/proc/self/exe", "doctor", "--resolve=" + host_name()}, kToResolveOwn, interruption);
  for (const nlohmann::json& one : outcome.answers) {
    const auto found = one.value("addresses", std::vector<std::string>());
    if (!found.empty()) return found.front();
  }
  return "";
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

Interface interface_of(const std::string& address) {
  for (const Interface& one : interfaces()) {
    if (one.address == address) return one;
  }
  return {"?", address, true, net::is_loopback(address)};
}

bool is_of_containers(const std::string& name) {
  constexpr const char* kBegins[] = {"docker", "br-",   "veth",    "virbr", "cni",    "podman",
                                     "lxc",    "lxdbr", "vboxnet", "vmnet", "flannel"};
  return std::ranges::any_of(kBegins, [&](const char* begin) { return name.starts_with(begin); });
}

std::string to_string(const std::vector<Interface>& all) {
  std::string text;
  for (const Interface& one : all) text += (text.empty() ? "" : "; ") + one.name + ", " + one.address;
  return text;
}

GlooPlaces gloo_places(const std::string& towards, Interruption& interruption) {
  const char* named = std::getenv("GLOO_SOCKET_IFNAME");
  if (named && *named) return places_of_names(named);
  if (towards.empty()) return {{interface_of("127.0.0.1")}, "all ranks are on this machine", ""};
  const std::string because = "the way to " + towards;
  if (net::is_loopback(towards)) return {{interface_of(towards)}, because, ""};
  const std::string local = net::local_address_towards({towards, 1});
  if (!local.empty() && !net::is_loopback(local)) return {{interface_of(local)}, because, ""};
  // As Gloo itself does: where this host's name points to.
  if (const std::string own = address_of_name(interruption); !own.empty())
    return {{interface_of(own)}, "the address of its name, " + host_name(), ""};
  return {{}, "", "there is no way to " + towards + ", and its own name, " + host_name() + ", does not resolve"};
}

Finding examine_network(Interruption& interruption) {
  const std::string topic = "network";
  const GlooPlaces here = gloo_places("", interruption), others = gloo_places(kElsewhere, interruption);
  if (!here.error.empty()) return problem(topic, here.error, "unset GLOO_SOCKET_IFNAME, or set it to one of these");
  if (here.because == "GLOO_SOCKET_IFNAME") {
    const std::string text = "Gloo listens at " + to_string(here.at) + ", by GLOO_SOCKET_IFNAME";
    if (std::ranges::any_of(here.at, &Interface::is_loopback))
      return warning(topic, text + ": right for one machine, but others do not reach it",
                     "unset it for several machines");
    if (std::ranges::any_of(here.at, &is_of_containers, &Interface::name)) {
      return warning(topic, text + ": an interface of containers, which other machines do not reach",
                     "name another for several machines");
    }
    return ok(topic, text);
  }
  const std::string alone = "Gloo listens at " + to_string(here.at) + " for one machine";
  const bool leads_out = others.error.empty() && !others.at.front().is_loopback;
  if (!leads_out) return ok(topic, alone + "; there is no way to others (GLOO_SOCKET_IFNAME names an interface)");
  if (is_of_containers(others.at.front().name)) {
    return warning(topic,
                   alone + ", and for several at " + to_string(others.at) + ", an interface of containers by its name",
                   "GLOO_SOCKET_IFNAME names another of " + to_string(interfaces()));
  }
  return ok(topic, alone + ", at " + to_string(others.at) +
                       " for several where the default route leads to them (GLOO_SOCKET_IFNAME names another)");
}

}  // namespace tandem::doctor
