#include "base/lost_pages.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "base/mapped_file.h"
#include "tandem/error.h"

namespace tandem {
namespace {

std::atomic<WatchedMapping*> watched_mappings{nullptr};
thread_local int keeping = 0;
std::mutex watching;  // of changes
WatchedMapping* free_mappings = nullptr;
struct sigaction previous_bus;  // set before the handler is installed, and never again

void lower(std::atomic<std::uint64_t>& readable, std::uint64_t to) {
  std::uint64_t known = readable.load();
  while (known > to && !readable.compare_exchange_weak(known, to)) {
  }
}

// In a signal handler: atomics and system calls only.
bool replace_lost_pages(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (WatchedMapping* one = watched_mappings.load(std::memory_order_acquire); one; one = one->next) {
    const std::uintptr_t end = one->end.load(std::memory_order_acquire), begin = one->begin.load();
    if (address < begin || address >= end || one->end.load() != end) continue;
    const std::uintptr_t first = address / page * page;
    // Before there are zeros: whoever reads them without a fault of its own finds them counted.
    page_changes::begun.fetch_add(1);
    lower(one->readable, first - begin);
    // To the end at once: so few mappings come of it, however many pages are read.
    const int access = one->writable.load() ? PROT_READ | PROT_WRITE : PROT_READ;
    const void* const zeros = ::mmap(reinterpret_cast<void*>(first), (end - first + page - 1) / page * page, access,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    lower(one->readable, first - begin);  // which recover_mapping() may have raised in between
    page_changes::ended.fetch_add(1);
    return zeros != MAP_FAILED;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const bool is_fault = info->si_code > 0;  // rather than sent by somebody
  const bool replaced =
      info->si_code == BUS_ADRERR && replace_lost_pages(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = error;
  if (replaced) return;
  if (previous_bus.sa_flags & SA_SIGINFO) {
    previous_bus.sa_sigaction(signal, info, context);
  } else if (previous_bus.sa_handler == SIG_IGN && !is_fault) {
    return;
  } else if (previous_bus.sa_handler == SIG_IGN || previous_bus.sa_handler == SIG_DFL) {
    // A fault happens again when this returns, and then ends the process, where it was.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGBUS, &standard, nullptr);
    if (!is_fault) ::raise(SIGBUS);
  } else {
    previous_bus.sa_handler(signal);
  }
}

void install_bus_handler() {
  ::sigaction(SIGBUS, nullptr, &previous_bus);
  struct sigaction ours{};
  ours.sa_sigaction = &on_bus_error;
  ours.sa_mask = previous_bus.sa_mask;
  // On the stack that a thread has for signals: Go's threads run on small ones otherwise.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous_bus.sa_flags & (SA_NODEFER | SA_RESTART));
  ::sigaction(SIGBUS, &ours, nullptr);
}

}  // namespace

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

WatchedMapping* watch_mapping(const void* address, std::size_t bytes, bool writable) {
  const std::lock_guard lock(watching);
  static const bool installed = (install_bus_handler(), true);
  static_cast<void>(installed);
  WatchedMapping* free = free_mappings;
  if (free) {
    free_mappings = free->next_free;
  } else {
    free = new WatchedMapping;
    free->next = watched_mappings.load();
    watched_mappings.store(free, std::memory_order_release);
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  free->readable = bytes;
  free->writable = writable;
  free->begin = begin;
  free->end.store(begin + bytes, std::memory_order_release);
  return free;
}

void unwatch_mapping(WatchedMapping* mapping) {
  const std::lock_guard lock(watching);
  mapping->end = 0;
  mapping->next_free = free_mappings;
  free_mappings = mapping;
}

// Faults may come at any moment of it. Whatever a handler lowers after the exchange stays lowered; what it put zeros
// for before that is mapped again below.
bool recover_mapping(WatchedMapping* mapping, int file) {
  const std::uintptr_t begin = mapping->begin.load();
  const std::uint64_t size = mapping->end.load() - begin;
  page_changes::begun.fetch_add(1);
  const std::uint64_t lost = mapping->readable.exchange(size);
  const std::uint64_t from = lost / page_bytes() * page_bytes();
  bool recovered = lost >= size;
  if (!recovered) {
    // Elsewhere at first: a mapping that fails at a fixed place leaves nothing there.
    void* const bytes = ::mmap(nullptr, size - from, PROT_READ, MAP_SHARED, file, static_cast<off_t>(from));
    recovered = bytes != MAP_FAILED && ::mremap(bytes, size - from, size - from, MREMAP_MAYMOVE | MREMAP_FIXED,
                                                reinterpret_cast<void*>(begin + from)) != MAP_FAILED;
    if (!recovered) lower(mapping->readable, lost);
    if (!recovered && bytes != MAP_FAILED) ::munmap(bytes, size - from);
  }
  page_changes::ended.fetch_add(1);
  return recovered;
}

void lose_end(WatchedMapping* mapping, std::uint64_t readable) {
  if (mapping->readable.load() <= readable) return;  // no change: whoever reads would try again for ever
  page_changes::begun.fetch_add(1);
  lower(mapping->readable, readable);
  page_changes::ended.fetch_add(1);
}

KeepLostPages::KeepLostPages() {
  ++keeping;
}

KeepLostPages::~KeepLostPages() {
  --keeping;
}

bool keeps_lost_pages() {
  return keeping > 0;
}

void wait_for_page_changes(int times) {
  constexpr int kAtOnce = 4, kLongest = 20;
  if (times >= kAtOnce) std::this_thread::sleep_for(std::chrono::milliseconds(std::min(times - kAtOnce + 1, kLongest)));
}

void throw_pages_come_and_go() {
  throw Error(
      ErrorCode::kIo,
      "pages of files are lost and come back again and again while they are read; look at the disks, and at the "
      "system's log");
}

LostReads::LostReads() : outer_(innermost_) {
  innermost_ = this;
}

LostReads::~LostReads() {
  innermost_ = outer_;
}

bool LostReads::any() {
  for (const Read& read : reads_) read.file->look_for_end(read.end);
  reads_.clear();
  return begun_page_changes() != before_;
}

void LostReads::note_unmap(const MappedFile& file) {
  for (LostReads* reads = innermost_; reads; reads = reads->outer_) {
    std::erase_if(reads->reads_, [&](const Read& read) {
      if (read.file == &file) file.look_for_end(read.end);
      return read.file == &file;
    });
  }
}

void LostReads::require_none(const char* what) {
  if (!any()) return;
  throw Error(ErrorCode::kDataLoss, std::string(what) +
                                        " is not made: a file was cut off, or its disk failed, while it was read; "
                                        "restore it and begin again");
}

}  // namespace tandem
