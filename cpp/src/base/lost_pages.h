// Mapped files that are cut off, or whose disk fails, while they are read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

namespace tandem {

class MappedFile;

// A mapping whose pages may be lost. Never freed: a signal handler looks at all of them.
struct WatchedMapping {
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::atomic<std::uint64_t> readable{0};  // bytes from its beginning that are not known to be lost
  std::atomic<bool> writable{false};       // so that what takes their place is, too
  WatchedMapping* next = nullptr;
  WatchedMapping* next_free = nullptr;  // of those that watch nothing
};

// Reading a page that the file has no more raises SIGBUS, which ends the process. Of a watched mapping the page, and
// all behind it, become zeros instead and are counted as lost, so that whoever reads goes on and finds out afterwards.
// The first call installs a handler of SIGBUS; faults anywhere else go to the one that was there before.
// `writable`: of a private mapping that is written to.
WatchedMapping* watch_mapping(const void* address, std::size_t bytes, bool writable = false);
// Before it is unmapped.
void unwatch_mapping(WatchedMapping* mapping);

// Puts the file's bytes, which are as they were, in the place of zeros: all of the mapping from its first lost page on
// is mapped again from `file`, an open descriptor. Whether that could be done. One call at a time for a mapping; others
// may read it meanwhile, and LostReads tells them. Of mappings that are not writable.
bool recover_mapping(WatchedMapping* mapping, int file);

std::uint64_t page_bytes();

// Counts the bytes from `readable` on as lost, which a file that was cut off in its last page gives as zeros without a
// fault.
void lose_end(WatchedMapping* mapping, std::uint64_t readable);

namespace page_changes {
inline std::atomic<std::uint64_t> begun{0}, ended{0};
}
// How often a change of lost pages, of any mapping of this process, had begun, and had ended.
inline std::uint64_t begun_page_changes() {
  return page_changes::begun.load();
}
inline std::uint64_t ended_page_changes() {
  return page_changes::ended.load();
}

// Whether pages were lost or came back, of any mapping, since this was made: then what was read meanwhile may be zeros
// in their place. Of the files that this thread read meanwhile (MappedFile::require) it also finds the bytes between a
// new end and the end of its page, which become zeros without a fault. Made and asked in one thread, in a scope.
class LostReads {
 public:
  LostReads();
  ~LostReads();
  LostReads(const LostReads&) = delete;
  LostReads& operator=(const LostReads&) = delete;

  bool any();
  // Throws Error(kDataLoss) where any were, for `what`, which is to be made of what was read.
  void require_none(const char* what);

  // For MappedFile: this thread reads bytes up to `end` of it. Whether anybody asks afterwards.
  static bool note_read(const MappedFile& file, std::uint64_t end) {
    if (innermost_) innermost_->add({&file, end});
    return innermost_ != nullptr;
  }
  // For MappedFile: it is about to be unmapped.
  static void note_unmap(const MappedFile& file);

 private:
  struct Read {
    const MappedFile* file;
    std::uint64_t end;
  };
  void add(Read read) {
    if (reads_.empty() || reads_.back().file != read.file) {
      reads_.push_back(read);
    } else if (reads_.back().end < read.end) {
      reads_.back().end = read.end;
    }
  }

  inline static thread_local LostReads* innermost_ = nullptr;
  LostReads* const outer_;
  const std::uint64_t before_ = ended_page_changes();
  std::vector<Read> reads_;
};

// While it lives, this thread leaves lost pages lost: what it reads of them is an error.
class KeepLostPages {
 public:
  KeepLostPages();
  ~KeepLostPages();
  KeepLostPages(const KeepLostPages&) = delete;
  KeepLostPages& operator=(const KeepLostPages&) = delete;
};
bool keeps_lost_pages();

// Throws Error(kIo).
[[noreturn]] void throw_pages_come_and_go();
// Before another attempt at it: the first are made at once, later ones leave time to whoever is changing pages. A
// thread that does not run in the middle of that has all others read in vain.
void wait_for_page_changes(int times);

// What `read()` gives, or throws, where no page was lost meanwhile. What it read otherwise may be zeros, so it reads
// again: then DataFile::read() says what is lost. The first time lost pages are looked for again, so a disk's passing
// error is over with it.
template <typename Read>
auto without_lost_pages(Read&& read) {
  constexpr int kMostTimes = 100;  // in some two seconds; another file's pages count as well
  for (int times = 0; times < kMostTimes; ++times) {
    wait_for_page_changes(times);
    const std::unique_ptr<const KeepLostPages> keep(times > 0 ? new KeepLostPages : nullptr);
    LostReads lost;
    try {
      auto result = read();
      if (!lost.any()) return result;
    } catch (const std::exception&) {
      if (!lost.any()) throw;
    }
  }
  throw_pages_come_and_go();
}

}  // namespace tandem
