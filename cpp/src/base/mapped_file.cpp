#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/file_kind.h"
#include "base/shown_path.h"
#include "tandem/error.h"

namespace tandem {
namespace {

std::int64_t modified_ns(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

MappedFile::MappedFile(const std::string& path, Access access) : path_(path), access_(access) {
  const auto fail = [&] {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    throw Error(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
                "cannot read " + shown_path(path) + ": " + std::strerror(errno));
  };
  struct stat status;
  if (stat(path.c_str(), &status) != 0) fail();
  // No outage, which loaders would wait out: it will be no file later, either.
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorCode::kInvalidArgument, "cannot read " + shown_path(path) + ": it is a folder; name a file in it");
  }
  // Its size of 0 is not that of what it gives, and opening it may wait for another program.
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kInvalidArgument,
                "cannot read " + shown_path(path) + ": it is " + file_kind(status.st_mode) +
                    ", not a regular file; copy what it gives to a file first, or pipe lines to `tandem record write` "
                    "without a file");
  }
  Descriptor file = open_file(path.c_str(), O_RDONLY);
  if (!file.valid()) fail();
  void* address = nullptr;
  if (fstat(file.get(), &status) != 0) {
    address = MAP_FAILED;
  } else if (status.st_size > 0) {  // an empty range cannot be mapped
    const bool writable = access == Access::kCopyOnWrite;
    address = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | (writable ? PROT_WRITE : 0),
                   writable ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED, file.get(), 0);
  }
  const int error = errno;
  file.reset();
  errno = error;
  if (address == MAP_FAILED) fail();
  modified_ = modified_ns(status);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (address) {
    bytes_ = {static_cast<const std::uint8_t*>(address), static_cast<std::size_t>(status.st_size)};
    watched_ = watch_mapping(address, bytes_.size(), access == Access::kCopyOnWrite);
    last_page_ = (bytes_.size() - 1) / page_bytes() * page_bytes();
  }
}

MappedFile::~MappedFile() {
  if (!watched_) return;
  LostReads::note_unmap(*this);
  unwatch_mapping(watched_);
  munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

bool MappedFile::look_at_size() const {
  struct stat now;
  if (stat(path_.c_str(), &now) != 0 || now.st_dev != device_ || now.st_ino != inode_) return false;
  if (const auto size = static_cast<std::uint64_t>(now.st_size); size < bytes_.size()) lose_end(watched_, size);
  return true;
}

// A file that was written meanwhile may have other bytes.
bool MappedFile::is_as_it_was(const struct stat& now) const {
  return now.st_dev == device_ && now.st_ino == inode_ && modified_ns(now) == modified_ &&
         static_cast<std::uint64_t>(now.st_size) == bytes_.size();
}

void MappedFile::recover(std::uint64_t offset, std::uint64_t length) const {
  struct stat now;
  if (access_ == Access::kCopyOnWrite) return;
  if (keeps_lost_pages() || stat(path_.c_str(), &now) != 0 || !is_as_it_was(now)) return;
  const std::lock_guard lock(recovering_);
  if (offset + length <= watched_->readable.load()) return;
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0 && fstat(fd, &now) == 0 && is_as_it_was(now)) recover_mapping(watched_, fd);
  if (fd >= 0) close(fd);
}

void MappedFile::check_lost(std::uint64_t offset, std::uint64_t length) const {
  struct stat now;
  const bool there = stat(path_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
  const std::uint64_t end = offset + length, readable = watched_->readable.load(std::memory_order_relaxed);
  if (end <= readable && !(there && static_cast<std::uint64_t>(now.st_size) < end)) return;
  const std::string where = path_ + ": bytes " + std::to_string(offset) + " to " + std::to_string(end - 1);
  if (there && is_as_it_was(now)) {
    throw Error(ErrorCode::kIo, where + " cannot be read now: the disk failed at byte " + std::to_string(readable) +
                                    ", or they were gone for a while; look at the disk and the system's log if this "
                                    "goes on");
  }
  if (there && static_cast<std::uint64_t>(now.st_size) >= end) {
    throw Error(ErrorCode::kDataLoss, where + " were gone for a while, and the file was written since; open it again");
  }
  std::string sizes;
  if (there) sizes = ", from " + std::to_string(bytes_.size()) + " bytes to " + std::to_string(now.st_size);
  throw Error(ErrorCode::kDataLoss, where + " are gone: the file was cut off while it was read" + sizes +
                                        "; restore it and open it again, and replace files that are in use by renaming "
                                        "others to their names");
}

}  // namespace tandem
