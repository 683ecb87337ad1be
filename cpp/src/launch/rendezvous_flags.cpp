#include "launch/rendezvous_flags.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

#include "launch/failure.h"
#include "launch/numbers.h"

namespace tandem::launch {
namespace {

double seconds_of(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= 0 && value <= 1e7)) {
    throw Failure("--rdzv-conf has " + name + "=" + text + ", but that is a number of seconds from 0 to 10000000");
  }
  return value;
}

bool truth_of(const std::string& text) {
  if (text == "1" || text == "true" || text == "True") return true;
  if (text == "0" || text == "false" || text == "False") return false;
  throw Failure("--rdzv-conf has is_host=" + text + ", but that is true or false");
}

// NAME=VALUE, between commas: torchrun's names.
void take_configuration(const std::string& text, LaunchOptions& launch) {
  double interval = 5;
  double attempts = 3;
  std::istringstream rest(text);
  for (std::string setting; std::getline(rest, setting, ',');) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    if (name == "join_timeout" || name == "timeout") {
      launch.join_timeout = seconds_of(name, value);
    } else if (name == "last_call_timeout") {
      launch.last_call = seconds_of(name, value);
    } else if (name == "is_host") {
      launch.keeps = truth_of(value);
    } else if (name == "keep_alive_interval") {
      interval = seconds_of(name, value);
    } else if (name == "keep_alive_max_attempt") {
      attempts = seconds_of(name, value);
    } else if (name != "read_timeout" && name != "close_timeout" && name != "store_type") {  // of torchrun's store
      throw Failure("--rdzv-conf has '" + setting +
                    "', but may have join_timeout, last_call_timeout, keep_alive_interval, keep_alive_max_attempt and "
                    "is_host, each with =VALUE and between commas");
    }
  }
  launch.keep_alive = std::min(interval * attempts, 1e7);
  if (launch.keep_alive < 3) throw Failure("--rdzv-conf: a node is lost after 3 s of silence at the least: agents speak each second");
}

}  // namespace

bool agents_meet(const RunFlags& flags) {
  if (flags.rdzv_backend == "c10d") return !flags.standalone && !flags.nnodes.empty() && flags.nnodes != "1" && flags.nnodes != "1:1";
  return false;
}

void resolve_meeting(RunFlags& flags) {
  LaunchOptions& launch = flags.launch;
  launch.meets = true;
  const std::size_t colon = flags.nnodes.find(':');
  launch.nnodes = whole_number(flags.nnodes.substr(colon == std::string::npos ? 0 : colon + 1), "--nnodes", 1, 65536);
  launch.least_nodes = whole_number(flags.nnodes.substr(0, colon), "--nnodes", 1, launch.nnodes);
  launch.node_rank = flags.node_rank.empty() ? -1 : whole_number(flags.node_rank, "--node-rank", 0, launch.nnodes - 1);
  if (flags.rdzv_endpoint.empty()) {
    throw Failure("--rdzv-backend c10d needs --rdzv-endpoint HOST[:PORT], the machine whose agent keeps the membership; start the "
                  "same command there and on all others");
  }
  const std::string& endpoint = flags.rdzv_endpoint;
  const bool is_bracketed = endpoint.front() == '[';
  const std::size_t end = is_bracketed ? endpoint.find(']') : endpoint.rfind(':');
  launch.keeper_host = is_bracketed ? endpoint.substr(1, end - 1) : endpoint.substr(0, end);
  const std::string after = end == std::string::npos ? "" : endpoint.substr(is_bracketed ? end + 1 : end);
  const bool is_bare = !is_bracketed && launch.keeper_host.find(':') != std::string::npos;
  if (launch.keeper_host.empty() || is_bare || (is_bracketed && end == std::string::npos) || (!after.empty() && after.front() != ':')) {
    throw Failure("--rdzv-endpoint is " + endpoint + ", but has to be HOST or HOST:PORT ([ADDRESS]:PORT for IPv6)");
  }
  if (!after.empty()) launch.keeper_port = whole_number(after.substr(1), "--rdzv-endpoint's port", 1, 65535);
  take_configuration(flags.rdzv_conf, launch);
  launch.local_addr = flags.local_addr;
}

}  // namespace tandem::launch
