#include "summary/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "crc32c.h"
#include "tandem/error.h"

namespace tandem {
namespace {

static_assert(std::endian::native == std::endian::little, "lengths and checksums are written as they lie in memory");

std::uint32_t checksum(std::string_view bytes) {
  return masked_crc32c({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

template <typename T>
std::string_view bytes_of(const T& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

}  // namespace

EventFile::EventFile(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("create");
}

EventFile::~EventFile() {
  ::close(fd_);
}

void EventFile::append(std::string_view record) {
  const std::uint64_t length = record.size();
  std::string framed;
  framed.reserve(record.size() + 16);
  framed += bytes_of(length);
  framed += bytes_of(checksum(bytes_of(length)));
  framed += record;
  framed += bytes_of(checksum(record));
  for (std::size_t done = 0; done < framed.size();) {
    const ssize_t n = ::write(fd_, framed.data() + done, framed.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      // A reader would stop at half a record, and miss those after it.
      if (done > 0 && ::ftruncate(fd_, size_) != 0) {
        errno = error;
        fail("write (and its end is now half a record)");
      }
      errno = error;
      fail("write");
    }
    done += static_cast<std::size_t>(n);
  }
  size_ += static_cast<std::int64_t>(framed.size());
}

void EventFile::sync() {
  if (::fsync(fd_) != 0) fail("sync");
}

void EventFile::fail(const char* what) const {
  throw Error(ErrorCode::kIo, std::string("cannot ") + what + " " + path_ + ": " + std::strerror(errno));
}

}  // namespace tandem
