#include "rpc/listen_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

#include <set>

#include "base/invalid.h"
#include "comm/environment_variable.h"

namespace tandem::rpc {
namespace {

// 0.0.0.0, ::, and IPv4's as one of IPv6.
bool is_any(const std::string& text) {
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return v4.s_addr == INADDR_ANY;
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return false;
  if (IN6_IS_ADDR_UNSPECIFIED(&v6)) return true;
  return IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr32[3] == INADDR_ANY;
}

bool is_numeric(const std::string& text) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, text.c_str(), bytes) == 1 || inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

std::string address_of_interface(const std::string& name) {
  std::string first_v4, first_v6;
  std::set<std::string> names;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) throw Error(ErrorCode::kIo, "the system does not list network interfaces");
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    names.insert(one->ifa_name);
    if (name != one->ifa_name || !one->ifa_addr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    char text[NI_MAXHOST] = "";
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (getnameinfo(one->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    std::string& first = family == AF_INET ? first_v4 : first_v6;
    if (first.empty()) first = text;
  }
  freeifaddrs(all);
  if (!first_v4.empty()) return first_v4;
  if (!first_v6.empty()) return first_v6;
  std::string known;
  for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
  throw Error(ErrorCode::kNotFound, "no network interface '" + name + "' with an address to listen on; this machine has " + known);
}

}  // namespace

std::string listen_address(const std::string& given) {
  const std::string wanted = given.empty() ? environment_variable("TP_SOCKET_IFNAME").value_or("") : given;
  if (wanted.empty()) return "127.0.0.1";
  if (is_any(wanted)) {
    invalid("RPC does not listen on all addresses of this machine (" + wanted +
            "), for whoever reaches its port can call everything: name the address, or the network interface, that only "
            "the job's machines reach");
  }
  return is_numeric(wanted) ? wanted : address_of_interface(wanted);
}

}  // namespace tandem::rpc
