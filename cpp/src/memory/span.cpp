#include "memory/span.h"

#include <sys/mman.h>

#include <array>
#include <atomic>

namespace tandem {
namespace {

// Two levels, for addresses of 48 bits. The system gives those above only to programs that ask for them.
constexpr std::size_t kUnits = 1 << 16;  // of a leaf: 4 GiB
constexpr std::size_t kLeaves = 1 << 16;

struct Leaf {
  std::array<std::atomic<Span*>, kUnits> spans;
};

constinit std::array<std::atomic<Leaf*>, kLeaves> leaves{};

std::size_t unit_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) / kSpanUnit;
}

void write(const Span& span, Span* value) {
  const std::size_t first = unit_of(span.begin);
  for (std::size_t unit = first; unit < first + span.bytes / kSpanUnit; ++unit) {
    leaves[unit / kUnits].load(std::memory_order_relaxed)->spans[unit % kUnits].store(value, std::memory_order_release);
  }
}

}  // namespace

Span* span_of(const void* address) {
  const std::size_t unit = unit_of(address);
  if (unit >= kUnits * kLeaves) return nullptr;
  const Leaf* leaf = leaves[unit / kUnits].load(std::memory_order_acquire);
  return leaf ? leaf->spans[unit % kUnits].load(std::memory_order_acquire) : nullptr;
}

bool enter_span(Span& span) {
  const std::size_t first = unit_of(span.begin), last = unit_of(span.begin + span.bytes - 1);
  if (last >= kUnits * kLeaves) return false;
  for (std::size_t i = first / kUnits; i <= last / kUnits; ++i) {
    if (leaves[i].load(std::memory_order_relaxed)) continue;
    // Zeroes, which are null pointers; the system gives pages to what is written alone.
    void* leaf =
        mmap(nullptr, sizeof(Leaf), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (leaf == MAP_FAILED) return false;
    leaves[i].store(static_cast<Leaf*>(leaf), std::memory_order_release);
  }
  write(span, &span);
  return true;
}

void leave_span(const Span& span) {
  write(span, nullptr);
}

}  // namespace tandem
