// Hosts for tests, on one machine: network namespaces that a bridge joins, as containers have them. A test's program
// calls Network::enter() first thing, its ranks Network::join().
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cpp/comm/job.h"

namespace tandem::testing {

class Network {
 public:
  // Goes onto the host that the environment names, if it does. Before there are threads.
  static void join() {
    const char* host = std::getenv("TEST_HOST");
    if (!host) return;
    const int fd = open(host, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) std::abort();
    close(fd);
  }

  // Goes into a network of its own, where it may make others. Before there are threads.
  static void enter() {
    const auto user = std::to_string(getuid()), group = std::to_string(getgid());
    if (unshare(geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) != 0) {
      why_not() = std::string("unshare: ") + std::strerror(errno);
      return;
    }
    if (geteuid() != 0) {
      std::ofstream("/proc/self/setgroups") << "deny";
      std::ofstream("/proc/self/uid_map") << "0 " + user + " 1";
      std::ofstream("/proc/self/gid_map") << "0 " + group + " 1";
    }
    if (!run("ip link set lo up && ip link add br0 type bridge && ip link set br0 up")) {
      why_not() = "ip (iproute2) makes no bridge here";
    }
  }

  // Why hosts cannot be made on this machine; empty: they can.
  static std::string& why_not() {
    static std::string reason;
    return reason;
  }

  // In a process started by Network: a host without ranks.
  static int be_host() {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || unshare(CLONE_NEWNET) != 0) return 1;
    say("host");
    pause();
    return 0;
  }

  explicit Network(int hosts) {
    for (int host = 0; host < hosts; ++host) {
      keepers_.push_back(std::make_unique<Child>(std::vector<std::string>{"--role", "host"}, Environment()));
      EXPECT_EQ(keepers_.back()->line(), "host");
      const std::string pid = std::to_string(keepers_.back()->pid());
      const std::string cable = "h" + pid, inside = "nsenter -t " + pid + " -n ip ";
      EXPECT_TRUE(run("ip link add " + cable + " type veth peer name eth0 netns " + pid + " && ip link set " + cable +
                      " master br0 up && " + inside + "addr add " + address(host) + "/24 dev eth0 && " + inside +
                      "link set eth0 up && " + inside + "link set lo up"));
    }
  }

  static std::string address(int host) { return "10.77.0." + std::to_string(host + 1); }
  // For a rank there.
  Environment on(int host) const {
    return {{"TEST_HOST", "/proc/" + std::to_string(keepers_[host]->pid()) + "/ns/net"}};
  }

 private:
  static bool run(const std::string& command) { return std::system((command + " 2>&1").c_str()) == 0; }

  std::vector<std::unique_ptr<Child>> keepers_;
};

// "0011": a host for each rank.
inline std::vector<int> hosts_of(const std::string& layout) {
  std::vector<int> hosts;
  for (const char host : layout) hosts.push_back(host - '0');
  return hosts;
}

// Ranks on hosts as a layout says; `role` is what each does.
class HostRanks {
 public:
  HostRanks(const std::string& layout, std::vector<std::string> role, Environment environment = Environment())
      : hosts_(hosts_of(layout)), network_(*std::max_element(hosts_.begin(), hosts_.end()) + 1) {
    environment.insert({{"MASTER_ADDR", Network::address(hosts_.front())}, {"TEST_LAYOUT", layout}});
    const Job job(environment);
    role.insert(role.begin(), "--role");
    for (int rank = 0; rank < size(); ++rank) {
      ranks_.push_back(job.start(role, rank, size(), network_.on(hosts_[rank])));
    }
  }

  int size() const { return static_cast<int>(hosts_.size()); }
  Child& operator[](int rank) { return *ranks_[rank]; }

  // That each rank says so, and ends well.
  void expect_all(const std::string& line) {
    for (int rank = 0; rank < size(); ++rank) EXPECT_EQ(ranks_[rank]->line(std::chrono::seconds(120)), line) << rank;
    for (int rank = 0; rank < size(); ++rank) EXPECT_EQ(ranks_[rank]->wait(), 0) << rank;
  }

 private:
  const std::vector<int> hosts_;
  const Network network_;
  std::vector<std::unique_ptr<Child>> ranks_;
};

}  // namespace tandem::testing
