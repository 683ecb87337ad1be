#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "memory/fork_locks.h"
#include "memory/tensor_blocks.h"

namespace tandem {
namespace {

constexpr std::size_t kUnit = 64;                   // bytes, and the alignment that LibTorch's kernels expect
constexpr std::size_t kClasses = 16;                // of blocks: one unit to 16
constexpr std::size_t kLargest = kUnit * kClasses;  // that a block serves
constexpr std::size_t kSlab = 64 << 10;             // cut into blocks of one class
constexpr std::size_t kSlabs = 8 << 10;             // 512 MiB of addresses
constexpr std::size_t kThreadKeeps = 512;           // free blocks of a class, before a thread gives half of them back

struct Block {
  Block* next;
};

// A thread's free blocks. Plain data: it is used until the very end of its thread.
struct Cache {
  std::array<Block*, kClasses> free;
  std::array<std::size_t, kClasses> count;
  bool watched;  // its end is
  bool ended;
};

__thread Cache cache __attribute__((tls_model("initial-exec"))) = {};

class SmallBlocks final : public c10::Allocator {
 public:
  // For larger blocks and while LibTorch's profiler counts memory `larger` serves.
  SmallBlocks(LargeTensors& larger, c10::Allocator& before, char* region, std::size_t slabs)
      : larger_(larger), before_(before), region_(region), most_slabs_(slabs) {
    instance = this;
    hold_in_fork(ForkLock::small_tensors, mutex_);
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    const std::size_t number = (bytes - 1) / kUnit;  // huge for none
    if (number >= kClasses || cache.ended || c10::memoryProfilingEnabled()) return allocate_large(bytes);
    Block* block = cache.free[number];
    if (!block) [[unlikely]] {
      block = refill(number);
      if (!block) return allocate_large(bytes);
    }
    cache.free[number] = block->next;
    --cache.count[number];
    return {block, block, free_block, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return free_block; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  void end_thread() {
    cache.ended = true;
    for (std::size_t number = 0; number < kClasses; ++number) give_back(number, 0);
  }

 private:
  [[gnu::noinline]] c10::DataPtr allocate_large(std::size_t bytes) {
    void* data = bytes > 0 ? larger_.take(bytes) : nullptr;
    if (bytes > 0 && !data) {
      c10::profiledCPUMemoryReporter().OutOfMemory(bytes);
      // In LibTorch's words, which programs look for.
      TORCH_CHECK_WITH(OutOfMemoryError, false, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ",
                       bytes, " bytes. Error code 12 (Cannot allocate memory)");
    }
    if (data) c10::profiledCPUMemoryReporter().New(data, bytes);
    return {data, data, free_block, c10::Device(c10::DeviceType::CPU)};
  }

  [[gnu::noinline]] void free_large(void* data) {
    if (!data) return;
    // The raw interface frees what the allocator before made, too: LibTorch's oneDNN kernels look for the allocator
    // when they free, and some of their memory is older. Tensors have the deleter that they were made with.
    if (!larger_.owns(data)) return before_.raw_deallocate(data);
    c10::profiledCPUMemoryReporter().Delete(data);
    larger_.give_back(data);
  }

  static void free_block(void* memory) {
    const auto offset = static_cast<std::size_t>(static_cast<char*>(memory) - instance->region_);
    if (offset >= kSlab * instance->most_slabs_) return instance->free_large(memory);
    if (!cache.watched) [[unlikely]]
      watch_thread();
    const std::size_t number = instance->classes_[offset / kSlab];
    auto* block = static_cast<Block*>(memory);
    block->next = cache.free[number];
    cache.free[number] = block;
    const std::size_t most = cache.ended ? 0 : kThreadKeeps;
    if (++cache.count[number] > most) [[unlikely]]
      instance->give_back(number, most / 2);
  }

  // Blocks for this thread: what others gave back, else a new slab. NULL when there are no more.
  [[gnu::noinline]] Block* refill(std::size_t number) {
    if (!cache.watched) watch_thread();
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_[number] && !cut_slab(number)) return nullptr;
    while (free_[number] && cache.count[number] < kThreadKeeps / 2) {
      Block* block = free_[number];
      free_[number] = block->next;
      block->next = cache.free[number];
      cache.free[number] = block;
      ++cache.count[number];
    }
    return cache.free[number];
  }

  bool cut_slab(std::size_t number) {
    if (slabs_ == most_slabs_) return false;
    classes_[slabs_] = static_cast<std::uint8_t>(number);
    char* slab = region_ + kSlab * slabs_++;
    const std::size_t size = kUnit * (number + 1);
    for (std::size_t end = kSlab / size; end > 0; --end) {
      auto* block = reinterpret_cast<Block*>(slab + (end - 1) * size);
      block->next = free_[number];
      free_[number] = block;
    }
    return true;
  }

  [[gnu::noinline]] void give_back(std::size_t number, std::size_t leave) {
    std::lock_guard<std::mutex> lock(mutex_);
    while (cache.count[number] > leave) {
      Block* block = cache.free[number];
      cache.free[number] = block->next;
      --cache.count[number];
      block->next = free_[number];
      free_[number] = block;
    }
  }

  static void watch_thread() {
    struct Watch {
      ~Watch() { instance->end_thread(); }
    };
    cache.watched = true;
    thread_local Watch watch;
    static_cast<void>(&watch);
  }

  static inline SmallBlocks* instance = nullptr;

  LargeTensors& larger_;
  c10::Allocator& before_;
  char* const region_;
  const std::size_t most_slabs_;
  std::mutex mutex_;  // of what follows; classes_ of a slab is constant once blocks of it are out
  std::array<Block*, kClasses> free_{};
  std::size_t slabs_ = 0;
  std::array<std::uint8_t, kSlabs> classes_{};
};

}  // namespace

c10::Allocator* small_tensors(LargeTensors& larger, c10::Allocator& before) {
  void* region =
      mmap(nullptr, kSlab * kSlabs, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool none = region == MAP_FAILED;  // where addresses are limited
  return new SmallBlocks(larger, before, none ? nullptr : static_cast<char*>(region), none ? 0 : kSlabs);
}

}  // namespace tandem
