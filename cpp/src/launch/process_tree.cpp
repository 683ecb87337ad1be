#include "launch/process_tree.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

namespace tandem::launch {
namespace {

// Field 4 of /proc/PID/stat; the name before it may hold anything, so count from its closing parenthesis.
pid_t parent_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  if (!std::getline(file, line)) return -1;
  const std::size_t name_end = line.rfind(')');
  char state = 0;
  int parent = -1;
  if (name_end == std::string::npos || std::sscanf(line.c_str() + name_end + 1, " %c %d", &state, &parent) != 2) {
    return -1;
  }
  return state == 'Z' || state == 'X' ? -1 : parent;
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0) children.emplace(parent_of(entry->d_name), pid);
  }
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

void signal_descendants(int signal) {
  for (const pid_t pid : descendants(getpid())) kill(pid, signal);
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

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace tandem::launch
