// Tensors of one thread in memory of another kind, whichever allocators LibTorch is given meanwhile.
#include "memory/routed_allocations.h"

#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tandem/resident.h"

namespace {

constexpr std::size_t kFromBytes = 65536;

class Other final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    ++made;
    void* data = std::malloc(bytes);
    return {data, data, std::free, c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
  int made = 0;
};

void expect_routes() {
  Other other;
  const auto before = c10::GetCPUAllocator()->allocate(kFromBytes);
  EXPECT_EQ(other.made, 0);
  {
    const tandem::RoutedAllocations routed(other, kFromBytes);
    const auto large = c10::GetCPUAllocator()->allocate(kFromBytes);
    EXPECT_EQ(other.made, 1);
    const auto small = c10::GetCPUAllocator()->allocate(kFromBytes - 1);
    EXPECT_EQ(other.made, 1);
    EXPECT_EQ(small.get_deleter(), c10::GetCPUAllocator()->raw_deleter());
  }
  const auto after = c10::GetCPUAllocator()->allocate(kFromBytes);
  EXPECT_EQ(other.made, 1);
}

TEST(RoutedAllocations, GoOnWhenTensorsGetAnAllocatorOfTheirOwn) {
  expect_routes();
  void* older = c10::GetCPUAllocator()->raw_allocate(1000);
  tandem::cache_tensors();
  expect_routes();
  c10::GetCPUAllocator()->raw_deallocate(older);
  expect_routes();
}

}  // namespace
