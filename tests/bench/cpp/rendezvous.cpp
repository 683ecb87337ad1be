// Agents that meet by a real etcd, as many as are wanted, in this process: each elects, connects and is told its place as
// the one of a machine is.
//
//   BENCH_OUT=FOLDER bench-rendezvous AGENTS HOST:PORT JOB
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "comm/sockets.h"
#include "etcd/election.h"
#include "launch/hub_setup.h"
#include "membership/succession.h"

namespace {

using Clock = std::chrono::steady_clock;
using tandem::membership::Succession;

constexpr std::chrono::seconds kPatience{120};

std::unique_ptr<Succession> agent(const tandem::launch::LaunchOptions& options, const std::string& etcd) {
  const tandem::net::Listener listener = tandem::net::listen_on("127.0.0.1", 0);
  tandem::etcd::ClientOptions client;
  client.servers = {"http://" + etcd};
  tandem::etcd::ElectionOptions election;
  election.job = options.run_id;
  election.address = "127.0.0.1";
  election.port = listener.endpoint.port;
  const auto connect = [](const std::string& to, int port, int* failure) {
    return tandem::net::begin_to_connect({to, static_cast<std::uint16_t>(port)}, failure);
  };
  return std::make_unique<Succession>(tandem::launch::hub_options(options, 1, "127.0.0.1"),
                                      std::make_unique<tandem::etcd::Election>(election, std::move(client)), connect,
                                      tandem::launch::accept_at(listener), listener.fd, Clock::now());
}

}  // namespace

int main(int argc, char** argv) {
  const char* folder = std::getenv("BENCH_OUT");
  if (argc != 4 || !folder) {
    std::cerr << "usage: BENCH_OUT=FOLDER bench-rendezvous AGENTS HOST:PORT JOB\n";
    return 1;
  }
  const int count = std::atoi(argv[1]);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  tandem::launch::LaunchOptions options;
  options.run_id = argv[3];
  options.nnodes = options.least_nodes = count;
  const auto begun = Clock::now();
  std::vector<std::unique_ptr<Succession>> agents;
  for (int i = 0; i < count; ++i) agents.push_back(agent(options, argv[2]));
  std::vector<pollfd> polled;
  for (int left = count; left > 0;) {
    polled.clear();
    auto next = Clock::now() + std::chrono::seconds(1);
    for (const auto& each : agents) {
      if (each->begun()) continue;
      each->add_polled(&polled);
      next = std::min(next, each->deadline().value_or(next));
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(wait, 0)));
    left = 0;
    for (const auto& each : agents) {
      each->serve(Clock::now(), false);
      if (!each->refusal().empty()) {
        std::cerr << each->refusal() << "\n";
        return 1;
      }
      left += !each->begun();
    }
    if (Clock::now() - begun > kPatience) {
      std::cerr << left << " agents have no place after " << kPatience.count() << " s\n";
      return 1;
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  std::vector<bool> taken(static_cast<std::size_t>(count));
  for (const auto& each : agents) {
    if (taken.at(static_cast<std::size_t>(each->begun()->node))) return 1;
    taken[static_cast<std::size_t>(each->begun()->node)] = true;
  }
  std::ofstream(std::string(folder) + "/rank-0.json") << "{\"seconds\": " << seconds << "}\n";
  return 0;
}
