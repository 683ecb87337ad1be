#include "metrics/page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bit>
#include <utility>

namespace tandem::metrics {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kMagic = 0x324d544d44540a1aull;  // and the release of what follows
constexpr int kReadTries = 100;
enum Word {
  kStep, kEpoch, kSamples, kHas, kLoss, kWait, kReportedAt, kCalls, kFailedCalls, kSentBytes, kReceivedBytes, kCallSeconds, kWords
};
constexpr std::uint64_t kHasLoss = 1, kHasWait = 2, kHasCalls = 4;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

}  // namespace

// `turn` is odd while the words are being written.
struct Page::Content {
  std::atomic<std::uint64_t> magic, turn, words[kWords];
};

std::int64_t monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

std::optional<Page> Page::make() {
  static_assert(sizeof(Content) <= kPageBytes && std::atomic<std::uint64_t>::is_always_lock_free);
  Descriptor memory(memfd_create("tandem-metrics", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid() || ftruncate(memory.get(), kPageBytes) != 0) return std::nullopt;
  if (fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return std::nullopt;
  void* mapped = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  auto* content = static_cast<Content*>(mapped);
  content->magic.store(kMagic, std::memory_order_release);
  return Page(std::move(memory), content);
}

std::optional<Page> Page::open(Descriptor memory) {
  struct stat about {};
  if (fstat(memory.get(), &about) != 0 || about.st_size < static_cast<off_t>(kPageBytes)) return std::nullopt;
  const int seals = fcntl(memory.get(), F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK)) return std::nullopt;
  void* mapped = mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  Page page(Descriptor(), static_cast<Content*>(mapped));
  if (page.content_->magic.load(std::memory_order_acquire) != kMagic) return std::nullopt;
  return page;
}

Page::~Page() {
  if (content_) munmap(content_, kPageBytes);
}

Page::Page(Page&& other) noexcept
    : memory_(std::move(other.memory_)), content_(std::exchange(other.content_, nullptr)) {}

Page& Page::operator=(Page&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(content_, other.content_);
  return *this;
}

// A word that is stored with release order shows whoever loads it that `turn` was odd before.
void Page::write(const Measured& measured) {
  const std::uint64_t turn = content_->turn.load(std::memory_order_relaxed);
  content_->turn.store(turn | 1, std::memory_order_relaxed);
  const std::uint64_t has = (measured.loss ? kHasLoss : 0) | (measured.wait_seconds ? kHasWait : 0) |
                            (measured.calls ? kHasCalls : 0);
  const CallTotals calls = measured.calls.value_or(CallTotals());
  const std::uint64_t words[kWords] = {static_cast<std::uint64_t>(measured.step),
                                       static_cast<std::uint64_t>(measured.epoch),
                                       static_cast<std::uint64_t>(measured.samples),
                                       has,
                                       bits(measured.loss.value_or(0)),
                                       bits(measured.wait_seconds.value_or(0)),
                                       static_cast<std::uint64_t>(measured.reported_at),
                                       static_cast<std::uint64_t>(calls.calls),
                                       static_cast<std::uint64_t>(calls.failed),
                                       static_cast<std::uint64_t>(calls.bytes_sent),
                                       static_cast<std::uint64_t>(calls.bytes_received),
                                       bits(calls.seconds)};
  for (int i = 0; i < kWords; ++i) content_->words[i].store(words[i], std::memory_order_release);
  content_->turn.store((turn | 1) + 1, std::memory_order_release);
}

std::optional<Measured> Page::read() const {
  for (int tried = 0; tried < kReadTries; ++tried) {
    const std::uint64_t turn = content_->turn.load(std::memory_order_acquire);
    std::uint64_t words[kWords];
    for (int i = 0; i < kWords; ++i) words[i] = content_->words[i].load(std::memory_order_acquire);
    if (turn % 2 != 0 || content_->turn.load(std::memory_order_acquire) != turn) continue;
    if (turn == 0) return std::nullopt;
    Measured read;
    read.step = static_cast<std::int64_t>(words[kStep]);
    read.epoch = static_cast<std::int64_t>(words[kEpoch]);
    read.samples = static_cast<std::int64_t>(words[kSamples]);
    if (words[kHas] & kHasLoss) read.loss = std::bit_cast<double>(words[kLoss]);
    if (words[kHas] & kHasWait) read.wait_seconds = std::bit_cast<double>(words[kWait]);
    read.reported_at = static_cast<std::int64_t>(words[kReportedAt]);
    if (words[kHas] & kHasCalls) {
      read.calls = CallTotals{static_cast<std::int64_t>(words[kCalls]), static_cast<std::int64_t>(words[kFailedCalls]),
                              static_cast<std::int64_t>(words[kSentBytes]), static_cast<std::int64_t>(words[kReceivedBytes]),
                              std::bit_cast<double>(words[kCallSeconds])};
    }
    return read;
  }
  return std::nullopt;
}

}  // namespace tandem::metrics
