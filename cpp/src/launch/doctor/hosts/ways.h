// Which ways between hosts are open.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor/hosts/comparison.h"

namespace tandem::doctor {

// A connection that one host's agent tries to another's.
struct Way {
  std::size_t from = 0, to = 0;  // places in the list of hosts
  Listening at;
  std::string outcome = "not tried";  // "": it is open
};

// Those that a launch needs: to where the agents meet and the ranks' store is, on the first host, and to where each
// host's ranks listen, both ways between every two. Whether they are open is not known yet.
std::vector<Way> ways_between(const std::vector<HostState>& hosts);
// To the other addresses of hosts whose ranks are not reached, from who does not reach them.
std::vector<Way> other_ways(const std::vector<HostState>& hosts, const std::vector<Way>& tried);

// A finding for each that is closed, by `others` with the interface on which it would be open; one for every two hosts
// between which all are open; where these are many, one for all further ones. `seconds`: how long was tried.
// `port_is_drawn`: the next launch meets at another port.
std::vector<HostFinding> judge(const std::vector<HostState>& hosts, const std::vector<Way>& ways,
                               const std::vector<Way>& others, double seconds, bool port_is_drawn);

}  // namespace tandem::doctor
