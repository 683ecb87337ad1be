#include "launch/slurm_launch.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "launch/agent_control.h"
#include "launch/child_process.h"
#include "launch/ending_signals.h"
#include "launch/failure.h"
#include "launch/process_tree.h"
#include "launch/program.h"
#include "launch/signals.h"

namespace tandem::launch {
namespace {

using Ticks = std::chrono::steady_clock;

// For srun to notice that its tasks have ended, or to be told that it need not wait for nodes any more.
constexpr std::chrono::seconds kForSrun{10};

// What a job says of its ranks: an agent is one task that starts those of a node, with all that the node has.
constexpr const char* kOfRanks[] = {"SLURM_CPUS_PER_TASK",   "SRUN_CPUS_PER_TASK",     "SLURM_GPUS_PER_TASK",
                                    "SLURM_TRES_PER_TASK",   "SLURM_NTASKS_PER_CORE",  "SLURM_NTASKS_PER_SOCKET",
                                    "SLURM_NTASKS_PER_GPU",  "SLURM_NTASKS_PER_TRES",  "SLURM_EXACT",
                                    "SLURM_EXCLUSIVE",       "SLURM_CPU_BIND",         "SLURM_GPU_BIND"};

std::string find_srun(const AllocationPlan& plan) {
  try {
    return find_program({"srun"}, ProgramKind::kExecutable, "").executable;
  } catch (const Failure& failure) {
    throw Failure(std::string(failure.what()) + "; it starts the ranks on the nodes of Slurm's job " +
                      std::to_string(plan.job) + ", and --standalone has them all on this machine",
                  failure.exit_code());
  }
}

std::vector<std::string> srun_command(const AllocationPlan& plan, const std::vector<std::string>& arguments) {
  const std::string nodes = std::to_string(plan.nodes);
  std::vector<std::string> command = {"srun",
                                      "--nodes=" + nodes,
                                      "--ntasks=" + nodes,
                                      "--ntasks-per-node=1",
                                      "--cpu-bind=none",
                                      "--mpi=none",
                                      "--export=ALL",
                                      "--input=all",
                                      "--wait=0",
                                      "--kill-on-bad-exit=1",
                                      std::filesystem::read_symlink("/proc/self/exe").string(),
                                      "run",
                                      "--agent=" + plan.ranks};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// It outlives this process: the end of its stdin ends the agents, and these end it.
[[noreturn]] void become_srun(const std::string& path, const std::vector<std::string>& command, const Signals& signals,
                              int control) {
  setpgid(0, 0);  // the terminal's Ctrl-C goes through the agents
  dup2(control, STDIN_FILENO);
  for (const char* name : kOfRanks) unsetenv(name);
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  signals.restore();
  execv(path.c_str(), argv.data());
  std::fprintf(stderr, "tandem: cannot run %s: %s\n", path.c_str(), std::strerror(errno));
  _exit(126);
}

// Passes signals on until srun ends.
class AllocationLaunch {
 public:
  AllocationLaunch(pid_t srun, Descriptor control, const std::vector<int>& ending, double grace)
      : srun_(srun), control_(std::move(control)), signals_(ending), grace_(grace) {}

  int wait(const Signals& signals) {
    const Descriptor signal_fd = signals.open();
    for (;;) {
      int status = 0;
      if (waitpid(srun_, &status, WNOHANG) == srun_) return exit_code(status);
      pollfd ready{signal_fd.get(), POLLIN, 0};
      poll(&ready, 1, timeout());
      for (const int signal : Signals::read(signal_fd.get())) on_signal(signal);
      if (Ticks::now() >= patience_) end_srun();
    }
  }

 private:
  int exit_code(int status) const {
    // Agents that were told of a signal end well.
    if (signals_.first() != 0) return 128 + signals_.first();
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  int timeout() const {
    if (patience_ == Ticks::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience_ - Ticks::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
  }

  void on_signal(int signal) {
    const auto now = Ticks::now();
    const EndingSignals::Meaning meaning = signals_.on(signal, now);
    if (meaning == EndingSignals::Meaning::kNone) return;
    send_to_agents(control_.get(), signal);
    if (signal == SIGTSTP) kill(getpid(), SIGSTOP);
    if (meaning == EndingSignals::Meaning::kEnds) {
      patience_ = now + kForSrun + std::chrono::duration_cast<Ticks::duration>(std::chrono::duration<double>(grace_));
    } else if (meaning == EndingSignals::Meaning::kEndsNow) {
      end_srun();
    }
  }

  // It then kills what it has started.
  void end_srun() {
    kill(srun_, SIGTERM);
    patience_ = Ticks::now() + kForSrun;
  }

  const pid_t srun_;
  const Descriptor control_;
  EndingSignals signals_;
  const double grace_;
  Ticks::time_point patience_ = Ticks::time_point::max();
};

}  // namespace

int launch_in_allocation(const AllocationPlan& plan, const std::vector<std::string>& arguments,
                         const std::vector<int>& ending, double grace) {
  const std::string path = find_srun(plan);
  const std::vector<std::string> command = srun_command(plan, arguments);
  const Signals signals;
  Pipe control = new_pipe();
  const pid_t srun = fork();
  if (srun < 0) throw Failure(std::string("cannot fork: ") + std::strerror(errno));
  if (srun == 0) {
    control.write.reset();
    become_srun(path, command, signals, control.read.get());
  }
  setpgid(srun, srun);
  control.read.reset();
  return AllocationLaunch(srun, std::move(control.write), ending, grace).wait(signals);
}

}  // namespace tandem::launch
