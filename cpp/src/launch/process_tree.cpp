#include "launch/process_tree.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "base/descriptor.h"

namespace tandem::launch {
namespace {

Descriptor open_pidfd(pid_t pid) {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool same(const Process& a, const Process& b) {
  return a.pid == b.pid && a.started == b.started;
}

}  // namespace

std::optional<Process> read_process(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');  // an end of the process meanwhile is no exception, as it is for an iterator
  // The name may hold anything, newlines and parentheses too: fields are counted from the last parenthesis.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  char state = 0;
  long threads = 0;
  Process found;
  found.pid = pid;
  // Fields 3 (state), 4 (parent), 20 (threads) and 22 (start), see proc_pid_stat(5).
  if (std::sscanf(text.c_str() + name_end + 1,
                  " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s %" SCNu64, &state,
                  &found.parent, &threads, &found.started) != 4) {
    return std::nullopt;
  }
  // An ended main thread counts as one until the process is reaped.
  if (state == 'X' || (state == 'Z' && threads <= 1)) return std::nullopt;
  return found;
}

std::vector<Process> descendants(pid_t root) {
  std::multimap<pid_t, Process> children;
  std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const pid_t pid = std::atoi(entry->d_name);
    if (const auto process = pid > 0 ? read_process(pid) : std::nullopt) children.emplace(process->parent, *process);
  }
  std::vector<Process> found;
  const auto add_children = [&](pid_t parent) {
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  };
  add_children(root);
  for (std::size_t i = 0; i < found.size(); ++i) add_children(found[i].pid);
  return found;
}

bool has_pidfds() {
  return open_pidfd(getpid()).valid();
}

bool send_signal(const Process& process, int signal) {
  const Descriptor fd = open_pidfd(process.pid);
  if (!fd.valid() && errno == ESRCH) return false;
  // From here on the descriptor stands for one process. If that is a later one, or if the number was given away while
  // this looked, the start is another.
  const auto now = read_process(process.pid);
  if (!now || !same(*now, process)) return false;
  // No descriptor: there are no pidfds, or this process has no descriptors left.
  if (!fd.valid()) return kill(process.pid, signal) == 0;
  return syscall(SYS_pidfd_send_signal, fd.get(), signal, nullptr, 0) == 0;
}

void signal_descendants(int signal, const std::function<bool(const Process&)>& skip) {
  const pid_t self = getpid();
  std::map<pid_t, Process> below;
  for (const Process& process : descendants(self)) {
    // What /proc listed is no one moment's state: a number that was a descendant's may since have been given to a
    // stranger, whose children are not meant. A descendant stays one until it ends, as orphans come to this process.
    const auto now = read_process(process.pid);
    if (!now || !same(*now, process)) continue;
    if (now->parent != self) {
      const auto listed = below.find(now->parent);
      const auto parent = listed == below.end() ? std::nullopt : read_process(now->parent);
      if (!parent || !same(*parent, listed->second)) continue;
    }
    below.emplace(process.pid, process);
    if (!skip || !skip(process)) send_signal(process, signal);
  }
}

bool kill_descendants(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    signal_descendants(SIGKILL);
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0 && errno == ECHILD) return true;
    if (std::chrono::steady_clock::now() > deadline) return false;
    poll(nullptr, 0, 2);
  }
}

bool has_children() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace tandem::launch
