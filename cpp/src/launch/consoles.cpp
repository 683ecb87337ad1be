#include "launch/consoles.h"

#include <poll.h>
#include <sys/stat.h>

#include <chrono>
#include <sstream>

namespace tandem::launch {
namespace {

constexpr int kLauncherStream = -2;

bool same_file(int a, int b) {
  struct stat x {
  }, y{};
  return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

}  // namespace

Consoles::Consoles() : one(same_file(STDOUT_FILENO, STDERR_FILENO)) {}

void Consoles::say(const std::string& message) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) err().line(kLauncherStream, "tandem: ", line);
}

void Consoles::flush() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (Console* console : {&out, &own_err}) {
    while (console->pending() > 0 && !console->broken() && std::chrono::steady_clock::now() < end) {
      pollfd ready{console->fd(), POLLOUT, 0};
      poll(&ready, 1, 100);
      console->write_some();
    }
  }
}

}  // namespace tandem::launch
