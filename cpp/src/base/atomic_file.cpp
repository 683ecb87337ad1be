#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/file_kind.h"
#include "base/shown_path.h"
#include "tandem/error.h"

namespace tandem {
namespace {

constexpr std::size_t kStart = std::size_t{16} << 20;  // bytes that are worth telling the disk to begin

// Refuses what a rename would put a file in the place of. What else is wrong with a path is said when it is opened.
void check_replaceable(const std::string& path) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kIo, "cannot create " + shown_path(path) + ": it is " + what);
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
  for (int attempt = 0; attempt < 100 && !file_.valid(); ++attempt) {
    temporary_ = path_ + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(random() % 1000000);
    file_ = open_file(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!file_.valid() && errno != EEXIST) break;
  }
  // The destructor does not run: there is nothing to remove.
  if (!file_.valid() && (errno == ENOENT || errno == ENOTDIR)) {
    throw Error(ErrorCode::kNotFound,
                "cannot create " + shown_path(path_) + ": " + std::strerror(errno) + "; is its folder there?");
  }
  if (!file_.valid()) fail("create");
  struct stat old {};
  if (::stat(path_.c_str(), &old) == 0) ::fchmod(file_.get(), old.st_mode & mode);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::append(const void* data, std::size_t size) {
  if (write_all(file_.get(), data, size) < size) fail("write");
  appended_ += size;
  if (appended_ - started_ < kStart) return;
  // Else the disk would idle until commit() waits for all of it. Where it cannot begin now, that writes it as before.
  ::sync_file_range(file_.get(), static_cast<off64_t>(started_), static_cast<off64_t>(appended_ - started_),
                    SYNC_FILE_RANGE_WRITE);
  started_ = appended_;
}

void AtomicFile::reopen() {
  file_ = open_file(temporary_.c_str(), O_WRONLY);
  struct stat status {};
  if (!file_.valid() || ::fstat(file_.get(), &status) != 0) fail("write");
  if (status.st_size == 0) {
    errno = ENODATA;
    fail("write");
  }
}

void AtomicFile::commit_unsynced() {
  if (::close(file_.release()) != 0) fail("close");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
  temporary_.clear();
}

void AtomicFile::commit() {
  if (::fsync(file_.get()) != 0) fail("sync");
  commit_unsynced();
  const auto folder = std::filesystem::path(path_).parent_path();
  const Descriptor opened = open_file(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
  // Some file systems cannot sync a folder; the rename has happened all the same.
  if (opened.valid()) ::fsync(opened.get());
}

void AtomicFile::fail(const std::string& what) {
  throw Error(ErrorCode::kIo, "cannot " + what + " " + shown_path(path_) + ": " + std::strerror(errno));
}

std::optional<std::string_view> target_of_temporary(std::string_view name) {
  const auto at = name.rfind(".tmp");
  if (at == std::string_view::npos) return {};
  const std::string_view numbers = name.substr(at + 4);
  const auto dash = numbers.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (dash == std::string_view::npos || !is_number(numbers.substr(0, dash)) || !is_number(numbers.substr(dash + 1))) {
    return {};
  }
  return name.substr(0, at);
}

}  // namespace tandem
