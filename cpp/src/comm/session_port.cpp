#include "comm/session_port.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "tandem/error.h"

namespace tandem {
namespace {

[[noreturn]] void cannot(const std::string& what) {
  throw Error(ErrorCode::kIo, "rank 0 cannot " + what + ": " + std::strerror(errno) +
                                  "; set MASTER_ADDR and MASTER_PORT to have the ranks meet elsewhere");
}

std::string session_file(const std::string& folder, const std::string& job) {
  std::string name = job.substr(0, 200);
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  std::replace_if(name.begin(), name.end(), [&](unsigned char c) { return !is_plain(c); }, '_');
  return folder + "/tandem-" + name + ".port";
}

struct TakenPort {
  std::uint16_t port = 0;
  Descriptor socket;  // bound, and not listening
  Descriptor file;    // locked: says that this process lives
};

Descriptor bound_socket(std::uint16_t* port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!socket.valid() || setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    cannot("have a free port");
  }
  *port = ntohs(address.sin_port);
  return socket;
}

// Under its name only when it is whole and locked.
Descriptor left_file(const std::string& path, std::uint16_t port) {
  const std::string temporary = path + "." + std::to_string(getpid());
  unlink(temporary.c_str());
  Descriptor file = open_file(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  const std::string text = std::to_string(port) + "\n";
  if (!file.valid() || flock(file.get(), LOCK_EX | LOCK_NB) != 0 ||
      write_all(file.get(), text.data(), text.size()) != text.size() ||
      std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int failure = errno;
    unlink(temporary.c_str());
    errno = failure;
    cannot("leave its port in " + path);
  }
  return file;
}

// The port in a file that its writer, which lives, holds locked; 0: none. One that nobody holds was left by another
// program of the same job.
std::uint16_t read_left_file(const std::string& path) {
  const Descriptor file = open_file(path.c_str(), O_RDONLY | O_NOFOLLOW);
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0 || status.st_uid != geteuid()) return 0;
  if (flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return 0;
  char text[8];
  const std::size_t size = read_all(file.get(), text, sizeof text);
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(text, text + size, port);
  return failure == std::errc() && end < text + size && *end == '\n' ? port : 0;
}

}  // namespace

bool is_private_folder(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::uint16_t take_session_port(const std::string& folder, const std::string& job) {
  static std::mutex mutex;
  static auto* taken = new std::map<std::string, TakenPort>;  // until the process ends
  const std::string path = folder.empty() ? "" : session_file(folder, job);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = taken->find(path);
  if (found != taken->end()) return found->second.port;
  TakenPort made;
  made.socket = bound_socket(&made.port);
  if (!path.empty()) made.file = left_file(path, made.port);
  return taken->emplace(path, std::move(made)).first->second.port;
}

std::uint16_t await_session_port(const std::string& folder, const std::string& job,
                                 std::chrono::steady_clock::time_point deadline, const std::function<void()>& check) {
  using Clock = std::chrono::steady_clock;
  const std::string path = session_file(folder, job);
  const auto start = Clock::now();
  for (;;) {
    if (const std::uint16_t port = read_left_file(path)) return port;
    check();
    const auto now = Clock::now();
    if (now >= deadline) {
      const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - start).count();
      throw Error(ErrorCode::kTimeout, "rank 0 is missing: after " + std::to_string(waited) +
                                           " ms it has left no port in " + path + "; is it running, and does it make a group?");
    }
    const auto pause =
        now - start < std::chrono::seconds(5) ? std::chrono::milliseconds(3) : std::chrono::milliseconds(50);
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, deadline - now));
  }
}

}  // namespace tandem
