// The allocator of small tensors: blocks of their own, aligned, reused whichever thread frees them.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "tandem/resident.h"

namespace {

c10::Allocator& allocator() {
  tandem::cache_small_tensors();
  return *c10::GetCPUAllocator();
}

TEST(SmallTensors, BlocksOfAllSizesAreAlignedAndApart) {
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

TEST(SmallTensors, NothingIsAllocatedForNothing) {
  EXPECT_EQ(allocator().allocate(0).get(), nullptr);
}

// As LibTorch's oneDNN kernels allocate.
TEST(SmallTensors, TheRawInterfaceFreesSmallAndLargeBlocks) {
  for (const std::size_t bytes : {1u, 64u, 1024u, 1025u, 100000u}) {
    void* memory = allocator().raw_allocate(bytes);
    std::memset(memory, 1, bytes);
    allocator().raw_deallocate(memory);
  }
}

TEST(SmallTensors, AFreedBlockIsTheNextOfItsSize) {
  void* first = allocator().allocate(100).get();
  EXPECT_EQ(allocator().allocate(128).get(), first);
  EXPECT_NE(allocator().allocate(129).get(), first);
}

TEST(SmallTensors, BlocksThatOtherThreadsFreeAreUsedAgain) {
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

}  // namespace
