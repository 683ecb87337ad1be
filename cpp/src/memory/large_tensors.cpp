// Blocks of some hundred sizes, each reused for its size alone, so that steps that free and allocate the same tensors
// always get the same memory. A heap that also holds small objects, as malloc's, leaves a hole too small for the next
// step's tensor wherever one of them outlives the step, and grows: 300 steps of an MLP took it from 150 to 860 MB.
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <utility>

#include "memory/tensor_blocks.h"

namespace tandem {
namespace {

constexpr std::size_t kAlignment = 64;           // that LibTorch's kernels expect
constexpr std::size_t kSmallest = 1024;          // bytes of the first size
constexpr std::size_t kSteps = 8;                // sizes from one power of two to the next
constexpr std::size_t kSizes = 40 * kSteps + 1;  // up to 2^50
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = 2 << 20;
constexpr std::size_t kArena = 64 << 20;     // cut into blocks …
constexpr std::size_t kAlone = 16 << 20;     // … that are smaller than this; others are mappings of their own
constexpr std::size_t kReleased = 64 << 10;  // the smallest whose pages are worth giving back
constexpr std::size_t kSpare = 64 << 20;     // kept free beside what programs need
constexpr std::uint64_t kRecent = 1 << 16;   // allocations in which the most that a program needed is looked for

// Before each block, whose bytes follow it.
struct alignas(kAlignment) Header {
  Header* next;  // free one of the size
  std::uint32_t number;
  bool released;  // has no pages now
};

std::size_t size_number(std::size_t bytes) {
  if (bytes <= kSmallest) return 0;
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t base = std::size_t{1} << power;
  return (power - static_cast<std::size_t>(std::countr_zero(kSmallest))) * kSteps +
         (bytes - 1 - base) / (base / kSteps) + 1;
}

std::size_t size_of(std::size_t number) {
  if (number == 0) return kSmallest;
  const std::size_t base = kSmallest << (number - 1) / kSteps;
  return base + ((number - 1) % kSteps + 1) * (base / kSteps);
}

std::size_t mapped_size(std::size_t bytes) {
  return (bytes + sizeof(Header) + kHugePage - 1) / kHugePage * kHugePage;
}

// Of whole huge pages; NULL when there are none.
char* map(std::size_t bytes) {
  void* mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* from = static_cast<char*>(mapped);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(from) % kHugePage) % kHugePage;
  if (before > 0) munmap(from, before);
  munmap(from + before + bytes, kHugePage - before);
  madvise(from + before, bytes, MADV_HUGEPAGE);  // where the system has none it says so, and small ones do
  return from + before;
}

class LargeBlocks final : public c10::Allocator {
 public:
  LargeBlocks() { instance = this; }

  c10::DataPtr allocate(std::size_t bytes) override {
    void* data = bytes > 0 ? take(bytes) : nullptr;
    if (data) c10::profiledCPUMemoryReporter().New(data, bytes);
    return {data, data, free_block, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return free_block; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  struct Size {
    Header* free = nullptr;
    std::uint64_t used = 0;  // when a block was last asked for
  };

  static void free_block(void* data) {
    if (!data) return;
    c10::profiledCPUMemoryReporter().Delete(data);
    instance->give_back(static_cast<Header*>(data) - 1);
  }

  void* take(std::size_t bytes) {
    const std::size_t number = bytes < std::size_t{1} << 50 ? size_number(bytes) : kSizes;
    const std::lock_guard<std::mutex> lock(mutex_);
    Header* block = number < kSizes ? take_block(number) : nullptr;
    // In LibTorch's words, which programs look for.
    TORCH_CHECK(block, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
                " bytes. Error code 12 (Cannot allocate memory)");
    return block + 1;
  }

  Header* take_block(std::size_t number) {
    Size& size = sizes_[number];
    const std::size_t bytes = size_of(number);
    size.used = ++clock_;
    Header* block = size.free;
    if (block && !block->released) {
      size.free = block->next;
      kept_ -= bytes;
    } else {
      release(std::max(most(), used_ + bytes) + kSpare);
      if (block) {
        size.free = block->next;
        block->released = false;
      } else {
        block = make(number, bytes);
        if (!block) return nullptr;
      }
    }
    used_ += bytes;
    if (clock_ % kRecent == 0) most_before_ = std::exchange(most_, 0);
    most_ = std::max(most_, used_);
    return block;
  }

  void give_back(Header* block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Size& size = sizes_[block->number];
    block->next = size.free;
    size.free = block;
    used_ -= size_of(block->number);
    kept_ += size_of(block->number);
  }

  // Bytes in use at once, lately.
  std::size_t most() const { return std::max(most_, most_before_); }

  Header* make(std::size_t number, std::size_t bytes) {
    char* place = nullptr;
    if (bytes >= kAlone) {
      place = map(mapped_size(bytes));
      if (!place) {
        release(0);
        place = map(mapped_size(bytes));
      }
    } else {
      if (static_cast<std::size_t>(arena_end_ - arena_) < bytes + sizeof(Header)) {
        std::size_t size = kArena;
        char* arena = map(size);
        if (!arena) {  // where addresses are limited, only as much as is needed
          release(0);
          size = mapped_size(bytes);
          arena = map(size);
        }
        if (!arena) return nullptr;
        arena_ = arena;
        arena_end_ = arena + size;
      }
      place = std::exchange(arena_, arena_ + bytes + sizeof(Header));
    }
    return place ? new (place) Header{nullptr, static_cast<std::uint32_t>(number), false} : nullptr;
  }

  // Gives pages of free blocks back until no more than `limit` bytes are in use or kept: first of the sizes that were
  // not asked for the longest.
  void release(std::size_t limit) {
    if (used_ + kept_ <= limit) return;
    std::array<std::size_t, kSizes> order;
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return sizes_[a].used < sizes_[b].used; });
    for (const std::size_t number : order) {
      if (size_of(number) < kReleased) continue;
      release_size(number, limit);
      if (used_ + kept_ <= limit) return;
    }
  }

  void release_size(std::size_t number, std::size_t limit) {
    const std::size_t bytes = size_of(number);
    // Those with pages come before those without.
    while (sizes_[number].free && !sizes_[number].free->released && used_ + kept_ > limit) {
      if (bytes >= kAlone) {
        Header* block = std::exchange(sizes_[number].free, sizes_[number].free->next);
        munmap(block, mapped_size(bytes));
        kept_ -= bytes;
        continue;
      }
      for (Header* block = sizes_[number].free; block && !block->released; block = block->next) {
        release_pages(reinterpret_cast<char*>(block + 1), bytes);
        block->released = true;
        kept_ -= bytes;
      }
    }
  }

  static void release_pages(char* data, std::size_t bytes) {
    const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(data) % kPage) % kPage;
    madvise(data + before, (bytes - before) / kPage * kPage, MADV_DONTNEED);
  }

  static inline LargeBlocks* instance = nullptr;

  std::mutex mutex_;  // of all that follows
  std::array<Size, kSizes> sizes_{};
  std::uint64_t clock_ = 0;      // allocations
  std::size_t used_ = 0;         // bytes of blocks that are out
  std::size_t kept_ = 0;         // bytes of free blocks that have pages
  std::size_t most_ = 0;         // of used_, since the clock's last round
  std::size_t most_before_ = 0;  // in the round before
  char* arena_ = nullptr;        // what is not cut yet
  char* arena_end_ = nullptr;
};

}  // namespace

c10::Allocator* large_tensors() {
  return new LargeBlocks;
}

}  // namespace tandem
