#include "summary/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/crc32c.h"
#include "base/packed.h"
#include "tandem/error.h"

namespace tandem {

EventFile::EventFile(std::string path) : path_(std::move(path)) {
  file_ = open_file(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
  if (!file_.valid()) fail("create");
}

void EventFile::append(std::string_view record) {
  Packer framed;
  framed << std::uint64_t{record.size()};
  framed << masked_crc32c(framed.bytes());
  framed.raw(record) << masked_crc32c(record);
  const std::string& bytes = framed.bytes();
  const std::size_t written = write_all(file_.get(), bytes.data(), bytes.size());
  if (written < bytes.size()) {
    const int error = errno;
    // A reader would stop at half a record, and miss those after it.
    const bool is_cut = written == 0 || ::ftruncate(file_.get(), size_) == 0;
    errno = error;
    fail(is_cut ? "write" : "write (and its end is now half a record)");
  }
  size_ += static_cast<std::int64_t>(bytes.size());
}

void EventFile::sync() {
  if (::fsync(file_.get()) != 0) fail("sync");
}

void EventFile::fail(const char* what) const {
  throw Error(ErrorCode::kIo, std::string("cannot ") + what + " " + path_ + ": " + std::strerror(errno));
}

}  // namespace tandem
