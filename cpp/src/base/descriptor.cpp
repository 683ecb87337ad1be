#include "base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tandem {
namespace {

// Calls move(done) for what is left, until all is done; `at_end` is errno where it moves nothing.
template <typename Move>
std::size_t move_all(std::size_t size, int at_end, Move&& move) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t moved = move(done);
    if (moved > 0) {
      done += static_cast<std::size_t>(moved);
    } else if (moved == 0) {
      errno = at_end;
      break;
    } else if (errno != EINTR) {
      break;
    }
  }
  return done;
}

}  // namespace

void Descriptor::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Descriptor open_file(const char* path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::open(path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

Descriptor duplicate(int fd) {
  return Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

std::optional<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::size_t read_all(int fd, void* data, std::size_t size) {
  return move_all(size, ENODATA,
                  [&](std::size_t done) { return ::read(fd, static_cast<char*>(data) + done, size - done); });
}

std::size_t write_all(int fd, const void* data, std::size_t size) {
  return move_all(size, EIO,
                  [&](std::size_t done) { return ::write(fd, static_cast<const char*>(data) + done, size - done); });
}

std::size_t read_all_at(int fd, void* data, std::size_t size, off_t at) {
  return move_all(size, ENODATA, [&](std::size_t done) {
    return ::pread(fd, static_cast<char*>(data) + done, size - done, at + static_cast<off_t>(done));
  });
}

std::size_t write_all_at(int fd, const void* data, std::size_t size, off_t at) {
  return move_all(size, EIO, [&](std::size_t done) {
    return ::pwrite(fd, static_cast<const char*>(data) + done, size - done, at + static_cast<off_t>(done));
  });
}

}  // namespace tandem
