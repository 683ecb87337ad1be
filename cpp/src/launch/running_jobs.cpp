#include "launch/running_jobs.h"

#include <dirent.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include "base/descriptor.h"
#include "base/printable.h"
#include "comm/sockets.h"
#include "launch/failure.h"
#include "metrics/job/page_server.h"
#include "tandem/error.h"

namespace tandem::launch {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kJobPatience{5};
constexpr std::size_t kMostJobBytes = 256 << 20;
constexpr std::size_t kMostJobRanks = 1 << 20;

void visit_folder(const std::string& path, const std::function<void(const std::string&)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") == std::string::npos) visit(name);
  }
}

bool is_own_supervisor(const std::string& process) {
  struct stat about {};
  if (stat(process.c_str(), &about) != 0 || about.st_uid != geteuid()) return false;
  std::ifstream file(process + "/comm");
  std::string name;
  return std::getline(file, name) && name == "tdm-supervisor";
}

// "" where it is gone.
std::string parent_of(const std::string& process) {
  std::ifstream file(process + "/stat");
  std::string line, state, parent;
  if (!std::getline(file, line)) return "";
  std::istringstream(line.substr(line.rfind(')') + 1)) >> state >> parent;
  return parent;
}

int left_ms(SteadyClock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now()).count();
  return static_cast<int>(std::max<decltype(left)>(left, 0));
}

// Whether the socket was ready in time.
bool wait_for(int fd, short events, SteadyClock::time_point until) {
  for (;;) {
    pollfd ready{fd, events, 0};
    const int count = poll(&ready, 1, left_ms(until));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

// Until the other side ends. Nothing where it does not in time.
std::optional<std::string> read_to_end(int fd, SteadyClock::time_point until) {
  std::string all;
  std::string part(metrics::kAnswerBytes, '\0');
  while (all.size() < kMostJobBytes && wait_for(fd, POLLIN, until)) {
    const ssize_t got = recv(fd, part.data(), part.size(), MSG_DONTWAIT);
    if (got == 0) return all;
    if (got > 0) all.append(part, 0, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR && errno != EAGAIN) break;
  }
  return std::nullopt;
}

bool send_text(int fd, const std::string& text, SteadyClock::time_point until) {
  return wait_for(fd, POLLOUT, until) &&
         send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Of this user, or one that may read it anyway.
bool is_own(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

}  // namespace

std::vector<RunningJob> running_jobs() {
  std::vector<RunningJob> jobs;
  visit_folder("/proc", [&jobs](const std::string& pid) {
    const std::string process = "/proc/" + pid;
    // A worker that has yet to become its program is called as its supervisor, and has its descriptors.
    if (!is_own_supervisor(process) || is_own_supervisor("/proc/" + parent_of(process))) return;
    visit_folder(process + "/fd", [&](const std::string& fd) {
      const std::string socket = process + "/fd/" + fd + "/metrics";
      struct stat about {};
      if (stat(socket.c_str(), &about) == 0 && S_ISSOCK(about.st_mode)) jobs.push_back({std::stoi(pid), socket});
    });
  });
  return jobs;
}

std::optional<metrics::Job> ask_job(const RunningJob& job) {
  const auto until = SteadyClock::now() + kJobPatience;
  const Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!socket.valid() || job.socket.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, job.socket.c_str(), job.socket.size() + 1);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || !is_own(socket.get()))
    return std::nullopt;
  if (!send_text(socket.get(), metrics::kAskForJob, until)) return std::nullopt;
  const auto answer = read_to_end(socket.get(), until);
  if (!answer) return std::nullopt;
  try {
    return metrics::decode_job(*answer, kMostJobRanks);
  } catch (const Error&) {  // it has ended meanwhile, or is of another release
    return std::nullopt;
  }
}

metrics::Job ask_job(const std::string& host, int port) {
  const std::string place = net::to_string({host, static_cast<std::uint16_t>(port)});
  const auto until = SteadyClock::now() + kJobPatience;
  std::string why = "no answer came within " + std::to_string(kJobPatience.count()) + " s";
  try {
    for (const std::string& one : net::resolve(host)) {
      int failure = 0;
      const Descriptor socket = net::begin_to_connect({one, static_cast<std::uint16_t>(port)}, &failure);
      if (failure == 0 && !wait_for(socket.get(), POLLOUT, until)) failure = ETIMEDOUT;
      if (failure == 0) failure = net::outcome_of_connecting(socket.get());
      if (failure != 0) {
        why = std::strerror(failure);
        continue;
      }
      if (!send_text(socket.get(), "GET /job HTTP/1.1\r\nHost: " + place + "\r\nConnection: close\r\n\r\n", until))
        continue;
      const auto answer = read_to_end(socket.get(), until);
      if (!answer) continue;
      const std::size_t body = answer->find("\r\n\r\n");
      if (!answer->starts_with("HTTP/1.1 200 ") || body == std::string::npos) {
        throw Failure(place + " is no metrics port of `tandem run`: it answers " +
                      printable(answer->substr(0, answer->find('\r')), 80));
      }
      return metrics::decode_job(std::string_view(*answer).substr(body + 4), kMostJobRanks);
    }
  } catch (const Error& error) {
    throw Failure(place + ": " + printable(error.what(), 500));
  }
  throw Failure("no launcher answers at " + place + ": " + why + "; `tandem run --metrics-port PORT` has one listen");
}

}  // namespace tandem::launch
