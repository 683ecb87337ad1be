#include "data/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "data/file_kind.h"
#include "tandem/error.h"

namespace tandem {
namespace {

// Refuses what a rename would put a file in the place of. What else is wrong with a path is said when it is opened.
void check_replaceable(const std::string& path) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kIo, "cannot create " + path + ": it is " + what);
  };
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    refuse(file_kind(status.st_mode) + std::string(", not a regular file; give the name of a file"));
  }
  // /dev/stdout, where that is a file now.
  std::error_code no_link;
  if (std::filesystem::read_symlink(path, no_link).native().starts_with("/proc/")) {
    refuse("a link to what the process has open; give the name of a file");
  }
}

}  // namespace

AtomicFile::AtomicFile(std::string path, unsigned mode) : path_(std::move(path)) {
  check_replaceable(path_);
  std::random_device random;
  for (int attempt = 0; attempt < 100 && fd_ < 0; ++attempt) {
    temporary_ = path_ + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(random() % 1000000);
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) fail("create");  // its destructor does not run: there is nothing to remove
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::append(const void* data, std::size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(fd_, from, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    from += n;
    size -= static_cast<std::size_t>(n);
  }
}

void AtomicFile::commit_unsynced() {
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0) fail("close");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
  temporary_.clear();
}

void AtomicFile::commit() {
  if (::fsync(fd_) != 0) fail("sync");
  commit_unsynced();
  const auto folder = std::filesystem::path(path_).parent_path();
  const int dir = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {  // some file systems cannot sync a folder; the rename has happened all the same
    ::fsync(dir);
    ::close(dir);
  }
}

void AtomicFile::fail(const std::string& what) {
  throw Error(ErrorCode::kIo, "cannot " + what + " " + path_ + ": " + std::strerror(errno));
}

}  // namespace tandem
