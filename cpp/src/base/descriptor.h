// File descriptors with an owner, and calls on them that no signal cuts short.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace tandem {

// Closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_;
};

// Not inherited by programs that are started. Not valid where it cannot be opened: errno says why.
Descriptor open_file(const char* path, int flags, mode_t mode = 0);
// Likewise: the same socket or file, whatever other threads do with the number.
Descriptor duplicate(int fd);

struct Pipe {
  Descriptor read, write;
};
// Nothing where it cannot be made: errno says why.
std::optional<Pipe> make_pipe();

// How many bytes were read, or written; fewer than asked for: errno says why, ENODATA at the end of what is read. For
// descriptors that block. The last two begin at a file's byte `at`.
std::size_t read_all(int fd, void* data, std::size_t size);
std::size_t write_all(int fd, const void* data, std::size_t size);
std::size_t read_all_at(int fd, void* data, std::size_t size, off_t at);
std::size_t write_all_at(int fd, const void* data, std::size_t size, off_t at);

}  // namespace tandem
