// Mapped files that are cut off, or whose disk fails, while they are read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem {

// A mapping whose pages may be lost. Never freed: a signal handler looks at all of them.
struct WatchedMapping {
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::atomic<std::uint64_t> readable{0};  // bytes from its beginning that are not known to be lost
  WatchedMapping* next = nullptr;
};

// Reading a page that the file has no more raises SIGBUS, which ends the process. Of a watched mapping the page, and
// all behind it, become zeros instead and are counted as lost, so that whoever reads goes on and finds out afterwards.
// The first call installs a handler of SIGBUS; faults anywhere else go to the one that was there before.
WatchedMapping* watch_mapping(const void* address, std::size_t bytes);
// Before it is unmapped.
void unwatch_mapping(WatchedMapping* mapping);

// How often pages were lost, of any mapping of this process.
std::uint64_t lost_page_count();

// Whether pages were lost, of any mapping, since this was made: then what was read meanwhile may be zeros in their
// place, and asking for it again (DataFile::check()) tells.
class LostReads {
 public:
  bool any() const { return lost_page_count() != before_; }
  // Throws Error(kDataLoss) where any were, for `what`, which is to be made of what was read.
  void require_none(const char* what) const;

 private:
  const std::uint64_t before_ = lost_page_count();
};

}  // namespace tandem
