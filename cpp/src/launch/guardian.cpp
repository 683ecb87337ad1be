#include "launch/guardian.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "launch/agent_control.h"
#include "launch/child_process.h"
#include "launch/failure.h"
#include "launch/port.h"
#include "launch/process_tree.h"
#include "launch/relay.h"
#include "launch/signals.h"
#include "launch/supervisor.h"

namespace fs = std::filesystem;

namespace tandem::launch {
namespace {

void print_error(const std::string& message) {
  std::fprintf(stderr, "tandem: %s\n", message.c_str());
}

// Holds error files, and logs when asked for: <log_dir>/<run_id>_XXXXXX/attempt_N/<local_rank>/, as torchrun has it.
class RunFolder {
 public:
  explicit RunFolder(const LaunchOptions& options) : keep_(options.keeps_logs()) {
    const char* temporary = std::getenv("TMPDIR");
    const fs::path parent = !options.log_dir.empty() ? options.log_dir : temporary && *temporary ? temporary : "/tmp";
    std::error_code error;
    if (keep_) fs::create_directories(parent, error);
    std::string pattern = parent / ((keep_ ? options.run_id : "tandem") + "_XXXXXX");
    if (error || !mkdtemp(pattern.data())) {
      throw Failure("cannot make a folder in " + parent.string() + ": " +
                    (error ? error.message() : std::strerror(errno)) +
                    (keep_ ? "; choose another with --log-dir" : "; point TMPDIR to a folder that can be written"));
    }
    path_ = pattern;
    if (keep_ && options.log_dir.empty())
      print_error("logs are kept in " + path_ + "; --log-dir chooses another folder");
  }

  const std::string& path() const { return path_; }

  void remove_temporary() const {
    std::error_code ignored;
    if (!keep_) fs::remove_all(path_, ignored);
  }

 private:
  bool keep_;
  std::string path_;
};

[[noreturn]] void be_supervisor(const LaunchOptions& options, const Signals& signals, const PortReservation* port,
                                const RunFolder& folder, Descriptor lifeline) {
  setpgid(0, 0);  // the terminal's Ctrl-C comes once, through the front process
  prctl(PR_SET_NAME, "tdm-supervisor");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int code = 1;
  try {
    code = supervise(options, signals, port, folder.path(), std::move(lifeline));
  } catch (const Failure& failure) {
    print_error(failure.what());
    code = failure.exit_code();
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  kill_descendants(std::chrono::seconds(10));
  folder.remove_temporary();
  _exit(code);
}

int exit_code_of(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  print_error("the supervisor was killed by " + signal_name(WTERMSIG(status)) + "; its workers end with it");
  return 128 + WTERMSIG(status);
}

}  // namespace

int launch(const LaunchOptions& options) {
  const Signals signals;
  if (has_children()) {
    if (const std::optional<int> code = leave_children_behind(signals)) return *code;
  }
  if (!has_pidfds()) {
    print_error(
        "this system has no pidfds (Linux has them since 5.3, unless a sandbox forbids them): signals go to process "
        "numbers, which may be given to other processes meanwhile");
  }
  std::optional<PortReservation> port;
  // Rank 0 of the first node listens; other nodes only connect. Which that is agents that meet know later.
  if (options.meets || options.node_rank == 0) port.emplace(options.meets ? 0 : options.master_port);
  const RunFolder folder(options);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Descriptor signal_fd = signals.open();
  Pipe lifeline = new_pipe();

  const pid_t supervisor = fork();
  if (supervisor < 0) throw Failure(std::string("cannot fork: ") + std::strerror(errno));
  if (supervisor == 0) {
    lifeline.write.reset();
    be_supervisor(options, signals, port ? &*port : nullptr, folder, std::move(lifeline.read));
  }
  setpgid(supervisor, supervisor);

  AgentControl control(options.is_agent ? STDIN_FILENO : -1);
  bool ended_by_step = false, ended_by_launch = false, is_signalled = false;
  for (;;) {
    pollfd ready[] = {{signal_fd.get(), POLLIN, 0}, {control.fd(), POLLIN, 0}};
    poll(ready, 2, -1);
    for (const int signal : Signals::read(signal_fd.get())) {
      ended_by_step |= options.is_agent && signal == SIGTERM;
      is_signalled |= std::ranges::find(options.ending_signals, signal) != options.ending_signals.end();
      pass_on(signal, supervisor);
    }
    if (ready[1].revents) {
      for (const int signal : control.read()) {
        ended_by_launch |= std::ranges::find(options.ending_signals, signal) != options.ending_signals.end();
        kill(supervisor, signal);
      }
      // Who gave the command is gone, and SIGTERM is no signal that ends this launch (--signals-to-handle).
      const bool ends_by_signal = std::ranges::find(options.ending_signals, SIGTERM) != options.ending_signals.end();
      if (control.fd() < 0 && !ends_by_signal) lifeline.write.reset();
    }
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != supervisor) continue;
      const int code = exit_code_of(status);
      kill_descendants(std::chrono::seconds(10));
      folder.remove_temporary();
      if (options.tells_end && WIFEXITED(status) && !is_signalled) std::fprintf(stderr, "%s\n", kEndOfAgent);
      // srun ends the other agents when one fails, and gives the highest code. So one that the launch ended does not
      // fail, for others may have ranks that still end; and one that is ended has a lower code than one that failed.
      if (ended_by_launch) return 0;
      return ended_by_step && code == 128 + SIGTERM ? 1 : code;
    }
  }
}

}  // namespace tandem::launch
