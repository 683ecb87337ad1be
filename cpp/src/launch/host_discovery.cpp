#include "launch/host_discovery.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "launch/failure.h"

namespace tandem::launch {
namespace {

constexpr std::chrono::seconds kAskEvery{5}, kLongestAnswer{60};
constexpr std::size_t kMostSaid = 1 << 20;

}  // namespace

HostDiscovery::~HostDiscovery() {
  if (pid_ < 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void HostDiscovery::add_polled(std::vector<pollfd>* polled) const {
  if (out_.valid()) polled->push_back({out_.get(), POLLIN, 0});
}

void HostDiscovery::begin(Time now) {
  std::optional<Pipe> pipe = make_pipe();
  const pid_t pid = pipe ? fork() : -1;
  if (pid == 0) {
    setpgid(0, 0);
    dup2(open_file("/dev/null", O_RDONLY).release(), STDIN_FILENO);
    dup2(pipe->write.get(), STDOUT_FILENO);
    signals_.restore();
    execl("/bin/sh", "sh", "-c", command_.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  next_ = now + (pid < 0 ? kAskEvery : kLongestAnswer);
  if (pid < 0) {
    error_ = std::string("cannot start it: ") + std::strerror(errno);
    return;
  }
  setpgid(pid, pid);
  pid_ = pid;
  out_ = std::move(pipe->read);
  fcntl(out_.get(), F_SETFL, O_NONBLOCK);
  said_.clear();
}

void HostDiscovery::read_some() {
  char buffer[4096];
  while (out_.valid()) {
    const ssize_t count = read(out_.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0 || said_.size() > kMostSaid) return out_.reset();
    said_.append(buffer, static_cast<std::size_t>(count));
  }
}

void HostDiscovery::serve(Time now) {
  read_some();
  if (now < next_) return;
  if (pid_ < 0) return begin(now);
  kill(-pid_, SIGKILL);  // its end is noticed like any other
  next_ = now + kAskEvery;
}

bool HostDiscovery::take_end(pid_t pid, int status) {
  if (pid != pid_) return false;
  pid_ = -1;
  next_ = std::chrono::steady_clock::now() + kAskEvery;
  read_some();
  out_.reset();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    error_ = WIFEXITED(status) ? "it exits with code " + std::to_string(WEXITSTATUS(status))
                               : "it does not end, or was killed";
    return true;
  }
  try {
    std::istringstream text(said_);
    hosts_ = parse_host_lines(text, "what it prints");
    last_error_.clear();
  } catch (const Failure& failure) {
    error_ = failure.what();
  }
  return true;
}

std::optional<std::vector<Host>> HostDiscovery::take_hosts() {
  return std::exchange(hosts_, std::nullopt);
}

std::string HostDiscovery::take_error() {
  std::string error = std::exchange(error_, "");
  if (error == last_error_) return "";
  last_error_ = error.empty() ? last_error_ : error;
  return error.empty() ? "" : "--host-discovery-script " + command_ + ": " + error;
}

}  // namespace tandem::launch
