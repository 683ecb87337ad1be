#include "comm/schedulers/reachable.h"

#include <algorithm>
#include <vector>

#include "comm/sockets.h"
#include "tandem/error.h"

namespace tandem {

std::string why_unreachable(const std::string& host) {
  std::vector<std::string> addresses;
  try {
    addresses = net::resolve(host);
  } catch (const Error&) {
    return "";  // whoever listens there says so
  }
  const bool is_numeric = std::ranges::find(addresses, host) != addresses.end();
  if (addresses.empty() || is_numeric || !std::ranges::all_of(addresses, net::is_loopback)) return "";
  return host + " is " + addresses.front() +
         " on that host itself (/etc/hosts), where processes of other hosts do not reach it";
}

}  // namespace tandem
