// What the allocator of tensors keeps for steps to come, and what it gives back. In a process of its own, where nothing
// else decides what was needed at most.
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "tandem/resident.h"

namespace steady_steps_test {
namespace {

constexpr std::size_t kMiB = 1 << 20;

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

struct Memory {
  std::size_t mapped = 0;
  std::size_t resident = 0;
};

Memory memory() {
  std::ifstream status("/proc/self/statm");
  Memory pages;
  status >> pages.mapped >> pages.resident;
  return {pages.mapped * 4096, pages.resident * 4096};
}

class SteadySteps : public testing::Test {
 protected:
  SteadySteps() { tandem::cache_tensors(); }

  static c10::DataPtr allocate(std::size_t bytes) { return c10::GetCPUAllocator()->allocate(bytes); }

  static c10::DataPtr fill(std::size_t bytes) {
    c10::DataPtr block = allocate(bytes);
    std::memset(block.get(), 1, bytes);
    return block;
  }

  // So many allocations that what a program needed before them does not count any more.
  static void let_time_pass() {
    for (int i = 0; i < 140000; ++i) allocate(100000);
  }

  // 55 MB in 17 sizes, of which few are needed at once.
  static void step() {
    c10::DataPtr before;
    for (std::size_t bytes = 80000; bytes < 16 * kMiB; bytes += bytes * 2 / 5) before = fill(bytes);
  }
};

// The first test of the file, for the others leave free blocks.
TEST_F(SteadySteps, KeepTheirMemoryAfterManySmallTensors) {
  {
    std::vector<c10::DataPtr> small;
    for (std::size_t i = 0; i < 60000; ++i) small.push_back(fill(2000 + i % 8 * 500));
  }
  const std::size_t with_small = memory().resident;
  const c10::DataPtr parameters = fill(30 * kMiB);
  let_time_pass();
  for (int i = 0; i < 3; ++i) step();
  fill(40 * kMiB);  // memory of a new size, for which others' is given back
  for (int i = 0; i < 5; ++i) step();
  const long before = page_faults();
  for (int i = 0; i < 20; ++i) step();
  // In huge pages one step's memory is about 30.
  EXPECT_LT(page_faults() - before, 100);
  // What the small tensors had is what was given back.
  EXPECT_LT(memory().resident, with_small);
}

// Sizes of which each is needed at another time of the step come to more than the step's peak.
TEST_F(SteadySteps, KeepWhatTheyUseInTurns) {
  const auto constant = allocate(300 * kMiB);
  const auto turns = [] {
    for (const std::size_t bytes : {100 * kMiB, 76 * kMiB, 60 * kMiB}) fill(bytes);
  };
  for (int i = 0; i < 10; ++i) turns();
  const long before = page_faults();
  for (int i = 0; i < 20; ++i) turns();
  EXPECT_LT(page_faults() - before, 100);
}

// Pages that are only taken from a mapping of huge pages come back when the kernel (khugepaged) puts one together from
// what is left around them. Nothing is left of what is unmapped.
TEST_F(SteadySteps, WhatIsGivenBackIsNotMapped) {
  std::vector<c10::DataPtr> blocks;
  for (const std::size_t bytes : {5000ul, 50000ul, 500000ul, 3 * kMiB}) {
    for (std::size_t all = 0; all < 70 * kMiB; all += bytes) blocks.push_back(fill(bytes));
  }
  blocks.clear();
  const Memory before = memory();
  let_time_pass();
  for (std::size_t bytes = 40 * kMiB; bytes < 60 * kMiB; bytes += 5 * kMiB) fill(bytes);
  const Memory after = memory();
  EXPECT_LT(after.resident + 150 * kMiB, before.resident);
  EXPECT_LT(after.mapped + 150 * kMiB, before.mapped);
}

// Not that of whole huge pages for each, nor for others of its size that nobody asked for.
TEST_F(SteadySteps, HaveTheMemoryOfTheirTensors) {
  tandem::empty_tensor_cache();
  const std::size_t before = memory().resident;
  std::vector<c10::DataPtr> blocks;
  std::size_t all = 0;
  for (const std::size_t kib : {9216, 5632, 4608, 3328, 2304, 1408, 1152, 832, 640, 576, 208}) {
    blocks.push_back(fill(kib << 10));
    all += kib << 10;
  }
  EXPECT_LT(memory().resident - before, all + all / 8);
}

TEST_F(SteadySteps, AnEmptiedCacheKeepsWhatIsInUseAlone) {
  const c10::DataPtr large = fill(7 * kMiB), small = fill(300000);
  for (const std::size_t bytes : {200000ul, 3 * kMiB, 20 * kMiB, 33 * kMiB}) fill(bytes);
  const std::size_t before = memory().resident;
  tandem::empty_tensor_cache();
  EXPECT_LT(memory().resident + 56 * kMiB, before);
  EXPECT_EQ(static_cast<const char*>(large.get())[7 * kMiB - 1], 1);
  EXPECT_EQ(static_cast<const char*>(small.get())[299999], 1);
  EXPECT_NE(allocate(20 * kMiB).get(), nullptr);
}

TEST_F(SteadySteps, SmallTensorsGiveTheirMemoryBack) {
  {
    std::vector<c10::DataPtr> small;
    for (std::size_t i = 0; i < 60000; ++i) small.push_back(fill(6000));
  }
  const std::size_t with_small = memory().resident;
  let_time_pass();
  for (int i = 0; i < 4; ++i) fill((41 + 5 * static_cast<std::size_t>(i)) * kMiB);
  EXPECT_LT(memory().resident + 150 * kMiB, with_small);
}

}  // namespace
}  // namespace steady_steps_test
