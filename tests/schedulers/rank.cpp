// What the tests of schedulers start: a rank that says where the environment puts it, and what the ranks add up to.
//
//   scheduler-rank sum              meets the others, sums their numbers, says so
//   scheduler-rank fail RANK CODE   one rank ends with that code while the others wait for it; code 0: by SIGSEGV
//   scheduler-rank wait             says "ready" and ends well some time after it gets SIGTERM
#include <signal.h>
#include <tandem/launch_place.h>
#include <tandem/process_group.h>
#include <torch/torch.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace {

std::string said_place() {
  const tandem::LaunchPlace place = tandem::launch_place();
  return "rank " + std::to_string(place.rank) + " of " + std::to_string(place.world_size) + " local " +
         std::to_string(place.local_rank) + " of " + std::to_string(place.local_world_size) + " node " +
         std::to_string(place.node_rank) + " by " + place.launcher;
}

// One line in one call: the ranks' lines stay whole wherever they end up.
void say(std::string line) {
  line += "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) std::abort();
}

int sum() {
  tandem::ProcessGroupOptions options;
  options.timeout = std::chrono::seconds(60);
  const auto group = tandem::ProcessGroup::create(options);
  options.name = "second";  // meets at the same place
  const auto second = tandem::ProcessGroup::create(options);
  double total = 0;
  for (const auto& one : {group, second}) {
    at::Tensor number = torch::full({1}, one->rank() + 1.0);
    one->all_reduce(number);
    total += number.item<double>();
  }
  group->barrier();
  say(said_place() + " sum " + std::to_string(static_cast<int>(total)));
  return 0;
}

int fail(int rank, int code) {
  tandem::ProcessGroupOptions options;
  options.timeout = std::chrono::seconds(60);
  const auto group = tandem::ProcessGroup::create(options);
  group->barrier();
  if (group->rank() == rank) {
    if (code == 0) raise(SIGSEGV);
    std::_Exit(code);
  }
  for (;;) pause();  // a lost peer would be an error of its own
}

int wait_for_sigterm() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const tandem::LaunchPlace place = tandem::launch_place();
  say("ready " + std::to_string(place.rank));
  int got = 0;
  sigwait(&signals, &got);
  usleep(static_cast<useconds_t>(place.rank) * 300000);  // the last ones end when others have ended
  say("ended well " + std::to_string(place.rank));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  try {
    if (role == "sum") return sum();
    if (role == "fail" && argc == 4) return fail(std::atoi(argv[2]), std::atoi(argv[3]));
    if (role == "wait") return wait_for_sigterm();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scheduler-rank: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: scheduler-rank sum | fail RANK CODE | wait\n");
  return 2;
}
