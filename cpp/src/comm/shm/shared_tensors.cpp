#include "comm/shared_tensors.h"

#include <algorithm>

#include "comm/group_backend.h"
#include "comm/shm/shm_backend.h"

namespace tandem {
namespace {

constexpr std::size_t kFromBytes = std::size_t{64} << 10;

// Keeps the heap for its tensors.
struct Block {
  std::shared_ptr<shm::Heap> heap;
  std::byte* memory;
};

class HeapAllocator final : public c10::Allocator {
 public:
  explicit HeapAllocator(std::shared_ptr<shm::Heap> heap) : heap_(std::move(heap)) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    std::byte* memory = heap_->allocate(bytes);
    if (!memory) return {};
    return {memory, new Block{heap_, memory}, free_block, c10::Device(c10::DeviceType::CPU)};
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  static void free_block(void* context) {
    const std::unique_ptr<Block> block(static_cast<Block*>(context));
    block->heap->free(block->memory);
  }

  const std::shared_ptr<shm::Heap> heap_;
};

}  // namespace

SharedTensors::SharedTensors(const ProcessGroup& group) {
  const auto devices = group.native()->getDeviceTypes();
  if (std::find(devices.begin(), devices.end(), c10::Device(c10::kCPU)) == devices.end()) return;
  const auto backend = group.native()->getBackend(c10::kCPU);
  const auto* front = dynamic_cast<const GroupBackend*>(backend.get());
  const auto* shm = front ? dynamic_cast<const ShmBackend*>(front->inner().get()) : nullptr;
  if (!shm) return;
  allocator_ = std::make_unique<HeapAllocator>(shm->heap());
  routed_.emplace(*allocator_, kFromBytes);
}

SharedTensors::~SharedTensors() = default;

}  // namespace tandem
