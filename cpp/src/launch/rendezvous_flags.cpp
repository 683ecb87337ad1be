#include "launch/rendezvous_flags.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

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

int lease_of(const std::string& text) { return whole_number(text, "--rdzv-conf's lease_ttl", 1, 3600); }

std::string protocol_of(const std::string& text) {
  if (text == "http" || text == "https") return text;
  throw Failure("--rdzv-conf has protocol=" + text + ", but that is http or https");
}

// Of etcd's backend alone, by torchrun's names.
bool take_etcd(const std::string& name, const std::string& value, EtcdOptions& etcd) {
  if (name == "protocol") etcd.protocol = protocol_of(value);
  else if (name == "cacert") etcd.ca_file = value;
  else if (name == "cert") etcd.certificate_file = value;
  else if (name == "key") etcd.key_file = value;
  else if (name == "lease_ttl") etcd.lease = lease_of(value);
  else return false;
  return true;
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
    } else if (launch.elects && take_etcd(name, value, launch.etcd)) {
      continue;
    } else if (name != "read_timeout" && name != "close_timeout" && name != "store_type") {  // of torchrun's store
      throw Failure("--rdzv-conf has '" + setting +
                    "', but may have join_timeout, last_call_timeout, keep_alive_interval, keep_alive_max_attempt and "
                    "is_host" + (launch.elects ? ", protocol, cacert, cert, key and lease_ttl" : "") +
                    ", each with =VALUE and between commas");
    }
  }
  launch.keep_alive = std::min(interval * attempts, 1e7);
  if (launch.keep_alive < 3)
    throw Failure("--rdzv-conf: a node is lost after 3 s of silence at the least: agents speak each second");
}

// HOST, HOST:PORT or [ADDRESS]:PORT. `port`: what it is where it is not given.
std::pair<std::string, int> place_of(const std::string& endpoint, int port) {
  const bool is_bracketed = !endpoint.empty() && endpoint.front() == '[';
  const std::size_t end = is_bracketed ? endpoint.find(']') : endpoint.rfind(':');
  const std::string host = is_bracketed ? endpoint.substr(1, end - 1) : endpoint.substr(0, end);
  const std::string after = end == std::string::npos ? "" : endpoint.substr(is_bracketed ? end + 1 : end);
  const bool is_bare = !is_bracketed && host.find(':') != std::string::npos;
  if (host.empty() || is_bare || (is_bracketed && end == std::string::npos) ||
      (!after.empty() && after.front() != ':')) {
    throw Failure("--rdzv-endpoint has " + endpoint +
                  ", but that has to be HOST or HOST:PORT ([ADDRESS]:PORT for IPv6)");
  }
  return {host, after.empty() ? port : whole_number(after.substr(1), "--rdzv-endpoint's port", 1, 65535)};
}

// As etcdctl has them, so that no command line shows a password.
void take_user(EtcdOptions& etcd) {
  const auto take = [](const char* told, const char* name) -> std::string {
    const char* value = std::getenv(told);
    const std::string taken = value ? value : std::getenv(name) ? std::getenv(name) : "";
    unsetenv(told);  // workers have this process's environment
    return taken;
  };
  const std::string both = take(kEtcdUserVariable, "ETCDCTL_USER");
  const std::string password = take(kEtcdPasswordVariable, "ETCDCTL_PASSWORD");
  if (both.empty()) return;
  const std::size_t colon = both.find(':');
  etcd.user = both.substr(0, colon);
  etcd.password = colon != std::string::npos ? both.substr(colon + 1) : password;
}

// A slash or a blank would name other keys than one thinks.
void check_job(const std::string& name) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  if (name == kNoRunId)
    throw Failure(
        "--rdzv-backend etcd needs --rdzv-id NAME, the same on all nodes and another one than other jobs have");
  if (name.empty() || name.size() > 200 || !std::ranges::all_of(name, is_plain)) {
    throw Failure("--rdzv-id is '" + name +
                  "', but names keys of etcd: it may have letters, digits, '-', '_' and '.', 200 at the most");
  }
}

void take_etcd_place(RunFlags& flags) {
  EtcdOptions& etcd = flags.launch.etcd;
  check_job(flags.launch.run_id);
  if (flags.rdzv_endpoint.empty()) {
    throw Failure(
        "--rdzv-backend etcd needs --rdzv-endpoint HOST[:PORT],…, where etcd's servers take clients (port 2379)");
  }
  std::istringstream rest(flags.rdzv_endpoint);
  for (std::string one; std::getline(rest, one, ',');) {
    const auto [host, port] = place_of(one, 2379);
    etcd.servers.push_back({host, port});
  }
  take_user(etcd);
}

void take_keeper_place(RunFlags& flags) {
  if (flags.rdzv_endpoint.empty()) {
    throw Failure(
        "--rdzv-backend c10d needs --rdzv-endpoint HOST[:PORT], the machine whose agent keeps the membership; start "
        "the same command there and on all others");
  }
  std::tie(flags.launch.keeper_host, flags.launch.keeper_port) =
      place_of(flags.rdzv_endpoint, flags.launch.keeper_port);
}

}  // namespace

bool agents_meet(const RunFlags& flags) {
  const bool is_one = flags.nnodes.empty() || flags.nnodes == "1" || flags.nnodes == "1:1";
  if (flags.rdzv_backend == "c10d") return !flags.standalone && !is_one;
  return !flags.standalone && flags.rdzv_backend == "etcd";
}

void resolve_meeting(RunFlags& flags) {
  LaunchOptions& launch = flags.launch;
  launch.meets = true;
  launch.elects = flags.rdzv_backend != "c10d";
  if (flags.nnodes.empty()) flags.nnodes = "1";
  const std::size_t colon = flags.nnodes.find(':');
  launch.nnodes = whole_number(flags.nnodes.substr(colon == std::string::npos ? 0 : colon + 1), "--nnodes", 1, 65536);
  launch.least_nodes = whole_number(flags.nnodes.substr(0, colon), "--nnodes", 1, launch.nnodes);
  launch.node_rank = flags.node_rank.empty() ? -1 : whole_number(flags.node_rank, "--node-rank", 0, launch.nnodes - 1);
  launch.elects ? take_etcd_place(flags) : take_keeper_place(flags);
  take_configuration(flags.rdzv_conf, launch);
  launch.local_addr = flags.local_addr;
}

}  // namespace tandem::launch
