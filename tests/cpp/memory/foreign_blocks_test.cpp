// LibTorch computed before it was given the allocator of tensors: memory that another made stays the other's.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "tandem/resident.h"

namespace foreign_blocks_test {
namespace {

constexpr std::size_t kSizes[] = {8, 64, 1000, 1025, 5000, 100000, 3000000, 40000000};

// The program's, which LibTorch uses until then.
class HostAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::Device(c10::DeviceType::CPU)};
    void* data = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    ++made;
    return {data, data, free_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  static inline std::atomic<int> made{0}, freed{0};

 private:
  static void free_block(void* data) {
    if (!data) return;
    ++freed;
    std::free(data);
  }
};

class ForeignBlocks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    at::set_num_threads(1);  // ThreadSanitizer does not see how OpenMP's wait for each other
    c10::SetCPUAllocator(new HostAllocator, 1);
    for (const std::size_t bytes : kSizes) {
      raw_.push_back(c10::GetCPUAllocator()->raw_allocate(bytes));
      std::memset(raw_.back(), 1, bytes);
      blocks_.push_back(c10::GetCPUAllocator()->allocate(bytes));
    }
    dense_ = at::arange(100000, at::kFloat).reshape({1000, 100});
    if (at::hasMKLDNN()) one_dnn_ = dense_.to_mkldnn();
    tandem::cache_tensors();
    ASSERT_GT(HostAllocator::made, 0);
  }
  static c10::Allocator& ours() { return *c10::GetCPUAllocator(); }

  static inline std::vector<void*> raw_;
  static inline std::vector<c10::DataPtr> blocks_;
  static inline at::Tensor dense_, one_dnn_;
};

TEST_F(ForeignBlocks, RawMemoryGoesBackToTheAllocatorThatMadeIt) {
  for (void* memory : raw_) {
    const int before = HostAllocator::freed;
    ours().raw_deallocate(memory);
    EXPECT_EQ(HostAllocator::freed, before + 1);
  }
  // And is not among what is handed out.
  const std::set<void*> theirs(raw_.begin(), raw_.end());
  for (int i = 0; i < 3; ++i) {
    for (const std::size_t bytes : kSizes) EXPECT_EQ(theirs.count(ours().allocate(bytes).get()), 0u) << bytes;
  }
}

TEST_F(ForeignBlocks, OlderBlocksAreFreedByTheirDeleter) {
  const int before = HostAllocator::freed;
  blocks_.clear();
  EXPECT_EQ(HostAllocator::freed, before + static_cast<int>(std::size(kSizes)));
}

// LibTorch's oneDNN tensors look for the allocator anew when they free.
TEST_F(ForeignBlocks, OlderTensorsOfOneDnnAreFreedWhereTheyWereMade) {
  if (!one_dnn_.defined()) GTEST_SKIP() << "this LibTorch has no oneDNN";
  EXPECT_TRUE(at::equal(one_dnn_.to_dense(), dense_));
  const int before = HostAllocator::freed;
  one_dnn_.reset();
  EXPECT_EQ(HostAllocator::freed, before + 1);
  // One that is made now is ours.
  const int made = HostAllocator::made;
  one_dnn_ = dense_.to_mkldnn();
  EXPECT_TRUE(at::equal(one_dnn_.to_dense(), dense_));
  one_dnn_.reset();
  EXPECT_EQ(HostAllocator::made, made);
}

// A storage keeps its allocator.
TEST_F(ForeignBlocks, OlderTensorsAreResizedByTheAllocatorThatMadeThem) {
  const at::Tensor copy = dense_.clone();
  const int made = HostAllocator::made, freed = HostAllocator::freed;
  dense_.resize_({2000, 1000});
  EXPECT_TRUE(at::equal(dense_.flatten().narrow(0, 0, 100000), copy.flatten()));
  EXPECT_EQ(HostAllocator::made, made + 1);
  EXPECT_EQ(HostAllocator::freed, freed + 1);
  dense_ = copy;
  EXPECT_EQ(HostAllocator::freed, freed + 2);
}

TEST_F(ForeignBlocks, OurMemoryNeverGoesToTheOlderAllocator) {
  const int before = HostAllocator::freed;
  for (const std::size_t bytes : kSizes) {
    ours().raw_deallocate(ours().raw_allocate(bytes));
    ours().allocate(bytes);
  }
  EXPECT_EQ(HostAllocator::freed, before);
}

TEST_F(ForeignBlocks, ACloneOfOlderMemoryIsOurs) {
  const std::vector<char> data(5000, 7);
  const int made = HostAllocator::made;
  const c10::DataPtr clone = ours().clone(data.data(), data.size());
  EXPECT_EQ(std::memcmp(clone.get(), data.data(), data.size()), 0);
  EXPECT_EQ(HostAllocator::made, made);
}

// As c10::Allocator::raw_deleter() promises.
TEST_F(ForeignBlocks, EveryBlockHasTheDeleterOfTheRawInterface) {
  for (const std::size_t bytes : kSizes) {
    const c10::DataPtr block = ours().allocate(bytes);
    EXPECT_EQ(block.get_deleter(), ours().raw_deleter()) << bytes;
    EXPECT_TRUE(ours().is_simple_data_ptr(block)) << bytes;
  }
}

}  // namespace
}  // namespace foreign_blocks_test
