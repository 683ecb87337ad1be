// A file mapped into memory.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "base/lost_pages.h"

namespace tandem {

// Throws Error(kNotFound) or Error(kIo) naming the file, kInvalidArgument for folders, pipes and devices. Thread-safe
// after construction. Bytes that the file loses while it is mapped read as zeros, see lost_pages.h.
class MappedFile {
 public:
  enum class Access {
    kRead,
    kCopyOnWrite,  // writable() may be written to, which changes no file; what is lost of it is not looked for again
  };

  explicit MappedFile(const std::string& path, Access access = Access::kRead);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::uint8_t> bytes() const { return bytes_; }
  // Of kCopyOnWrite, else null.
  std::uint8_t* writable() const {
    return access_ == Access::kCopyOnWrite ? const_cast<std::uint8_t*>(bytes_.data()) : nullptr;
  }
  // Before reading these bytes: where some are known to be lost, but the file is as it was, they are looked for again,
  // unless this thread has KeepLostPages. Otherwise throws as check() does.
  void require(std::uint64_t offset, std::uint64_t length) const {
    if (!watched_) return;
    if (!LostReads::note_read(*this, offset + length)) look_for_end(offset + length);
    if (!has_lost()) return;
    recover(offset, length);
    check(offset, length);
  }
  // Throws Error(kDataLoss) or Error(kIo) where it is known that the file has lost some of these bytes: after reading
  // them, where LostReads says that there is something to look for.
  void check(std::uint64_t offset, std::uint64_t length) const {
    if (has_lost()) check_lost(offset, length);
  }
  // Around reading bytes up to `end`: where the file ends before them now, they are counted as lost. Where it ends in
  // an earlier page its last byte faults: that costs a load. Its size tells of an end in the page that was its last
  // before, which costs a system call, but few reads reach that page. The first few looks, such as of who only opens
  // the file, are at its size, too, for the load maps a dozen pages.
  void look_for_end(std::uint64_t end) const {
    if (!watched_) return;
    const int looks = looks_.load(std::memory_order_relaxed);
    if (looks < kLooksAtSize) {
      looks_.store(looks + 1, std::memory_order_relaxed);
      if (look_at_size()) return;
    }
    static_cast<void>(*static_cast<const volatile std::uint8_t*>(&bytes_.back()));
    if (end > last_page_) look_at_size();
  }
  // When the file was written last, in nanoseconds since 1970.
  std::int64_t modified() const { return modified_; }

 private:
  bool has_lost() const { return watched_ && watched_->readable.load(std::memory_order_relaxed) < bytes_.size(); }
  // False: the path is another file's now, or nobody's.
  bool look_at_size() const;
  bool is_as_it_was(const struct stat& now) const;
  void recover(std::uint64_t offset, std::uint64_t length) const;
  // Of a file that has lost pages.
  void check_lost(std::uint64_t offset, std::uint64_t length) const;

  const std::string path_;
  const Access access_;
  std::span<const std::uint8_t> bytes_;
  WatchedMapping* watched_ = nullptr;  // of what is not empty
  std::uint64_t last_page_ = 0;        // where it begins
  std::int64_t modified_ = 0;
  std::uint64_t device_ = 0, inode_ = 0;
  static constexpr int kLooksAtSize = 8;
  mutable std::atomic<int> looks_{0};  // up to that, and some of several threads may go uncounted
  mutable std::mutex recovering_;
};

}  // namespace tandem
