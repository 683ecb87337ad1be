// The allocator of tensors: blocks of their own, aligned, reused whichever thread frees them.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tandem/resident.h"

namespace tensor_cache_test {
namespace {

c10::Allocator& allocator() {
  tandem::cache_tensors();
  return *c10::GetCPUAllocator();
}

TEST(TensorCache, BlocksOfAllSizesAreAlignedAndApart) {
  std::vector<c10::DataPtr> blocks;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t bytes = 1; bytes < 1500; bytes += 7) {
      blocks.push_back(allocator().allocate(bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().get()) % 64, 0u) << bytes;
      std::memset(blocks.back().get(), static_cast<int>(blocks.size() % 251), bytes);
    }
  }
  std::size_t i = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t bytes = 1; bytes < 1500; bytes += 7, ++i) {
      const auto* data = static_cast<const unsigned char*>(blocks[i].get());
      EXPECT_EQ(std::set<unsigned char>(data, data + bytes),
                std::set<unsigned char>{static_cast<unsigned char>((i + 1) % 251)})
          << bytes;
    }
  }
}

TEST(TensorCache, NothingIsAllocatedForNothing) {
  EXPECT_EQ(allocator().allocate(0).get(), nullptr);
}

// As LibTorch's oneDNN kernels allocate.
TEST(TensorCache, TheRawInterfaceFreesSmallAndLargeBlocks) {
  for (const std::size_t bytes : {1u, 64u, 1024u, 1025u, 100000u, 40000000u}) {
    void* memory = allocator().raw_allocate(bytes);
    std::memset(memory, 1, bytes);
    allocator().raw_deallocate(memory);
  }
}

TEST(TensorCache, AFreedBlockIsTheNextOfItsSize) {
  void* first = allocator().allocate(100).get();
  EXPECT_EQ(allocator().allocate(128).get(), first);
  EXPECT_NE(allocator().allocate(129).get(), first);
}

TEST(TensorCache, BlocksThatOtherThreadsFreeAreUsedAgain) {
  std::set<void*> seen;
  for (int round = 0; round < 50; ++round) {
    std::vector<c10::DataPtr> blocks;
    for (int i = 0; i < 2000; ++i) {
      blocks.push_back(allocator().allocate(200));
      seen.insert(blocks.back().get());
    }
    std::thread([&] { blocks.clear(); }).join();
  }
  // One round's, and what a thread keeps or takes ahead.
  EXPECT_LT(seen.size(), 5000u);
}

std::size_t resident_bytes() {
  std::ifstream status("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  status >> total >> resident;
  return resident * 4096;
}

TEST(TensorCache, LargeBlocksAreAlignedAndApart) {
  std::vector<c10::DataPtr> blocks;
  std::map<const char*, std::size_t> sizes;
  for (std::size_t bytes = 1025; bytes < (64u << 20); bytes += bytes / 5) {
    blocks.push_back(allocator().allocate(bytes));
    auto* data = static_cast<char*>(blocks.back().get());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0u) << bytes;
    std::memset(data, 1, bytes);
    sizes[data] = bytes;
  }
  for (auto block = sizes.begin(); std::next(block) != sizes.end(); ++block) {
    EXPECT_LE(block->first + block->second, std::next(block)->first);
  }
}

TEST(TensorCache, AFreedLargeBlockIsTheNextOfItsSize) {
  for (const std::size_t bytes : {100000u, 5000000u, 49000000u}) {
    void* first = allocator().allocate(bytes).get();
    EXPECT_EQ(allocator().allocate(bytes + bytes / 100).get(), first) << bytes;
    EXPECT_NE(allocator().allocate(bytes + bytes / 4).get(), first) << bytes;
  }
}

// What grows malloc's heap: between tensors that each step frees lies something that stays.
TEST(TensorCache, StepsGetTheSameBlocksWhateverElseIsAllocated) {
  std::set<void*> seen;
  std::vector<std::vector<char>> kept;
  for (int step = 0; step < 200; ++step) {
    std::vector<c10::DataPtr> blocks;
    for (int i = 0; i < 4; ++i) {
      blocks.push_back(allocator().allocate(1 << 20));
      seen.insert(blocks.back().get());
      kept.emplace_back(2000);
    }
  }
  EXPECT_EQ(seen.size(), 4u);
}

TEST(TensorCache, SizesThatAreNotAskedForAnyMoreGiveTheirMemoryBack) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer's own memory hides how much stays resident";
#endif
  const std::size_t before = resident_bytes();
  std::size_t all = 0;
  for (const std::size_t first : {1u << 20, 20u << 20}) {  // cut from larger pieces, and of their own
    for (int i = 0; i < 24; ++i) {
      const std::size_t bytes = first + static_cast<std::size_t>(i) * (first / 7);
      const std::size_t count = (40u << 20) / bytes + 1;
      std::vector<c10::DataPtr> blocks;
      for (std::size_t k = 0; k < count; ++k) {
        blocks.push_back(allocator().allocate(bytes));
        std::memset(blocks.back().get(), 1, bytes);
      }
      all += count * bytes;
    }
  }
  EXPECT_GT(all, std::size_t{2} << 30);
  EXPECT_LT(resident_bytes(), before + (std::size_t{400} << 20));
}

TEST(TensorCache, WhatTheSystemDoesNotHaveIsAnErrorThatNamesTheBytes) {
  for (const std::size_t bytes : {std::size_t{1} << 47, std::size_t{1} << 62, ~std::size_t{0}}) {
    try {
      allocator().allocate(bytes);
      ADD_FAILURE() << bytes;
    } catch (const c10::OutOfMemoryError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("can't allocate memory"), std::string::npos) << message;
      EXPECT_NE(message.find(std::to_string(bytes)), std::string::npos) << message;
    }
  }
  EXPECT_NE(allocator().allocate(1 << 20).get(), nullptr);
}

// Without a word it would be handed out twice.
TEST(TensorCache, FreeingABlockTwiceEndsTheProcess) {
  for (const std::size_t bytes : {5000u, 50000000u}) {
    const auto free_twice = [&] {
      void* memory = allocator().raw_allocate(bytes);
      allocator().raw_deallocate(memory);
      allocator().raw_deallocate(memory);
    };
    EXPECT_DEATH(free_twice(), "was freed twice");
    const auto free_inside = [&] {
      allocator().raw_deallocate(static_cast<char*>(allocator().raw_allocate(bytes)) + 64);
    };
    EXPECT_DEATH(free_inside(), "not the beginning of a block");
  }
}

void limit_addresses(std::size_t more) {
  std::ifstream status("/proc/self/statm");
  std::size_t pages = 0;
  status >> pages;
  const rlimit limit{pages * 4096 + more, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

// Ends the process: with 0 if a block can be had where there are hardly more addresses than it has bytes.
[[noreturn]] void allocate_with_few_addresses() {
  limit_addresses(0);
  try {
    allocator().allocate(1u << 30);
    _exit(1);
  } catch (const c10::Error&) {  // all that was kept was given back for it
  }
  limit_addresses(6u << 20);
  try {
    allocator().allocate(3333333);
  } catch (const c10::Error&) {
    _exit(2);
  }
  _exit(0);
}

TEST(TensorCache, TakesLittleWhereThereIsLittle) {
  EXPECT_EXIT(allocate_with_few_addresses(), testing::ExitedWithCode(0), "");
}

struct Reports : c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device) override { sum += bytes; }
  bool memoryProfilingEnabled() const override { return true; }
  std::int64_t sum = 0;
};

TEST(TensorCache, AProfilerIsToldWhatIsAllocatedAndFreed) {
  const auto reports = std::make_shared<Reports>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, reports);
  {
    const auto small = allocator().allocate(100), large = allocator().allocate(1 << 20);
    EXPECT_EQ(reports->sum, (1 << 20) + 100);
  }
  EXPECT_EQ(reports->sum, 0);
}

}  // namespace
}  // namespace tensor_cache_test
