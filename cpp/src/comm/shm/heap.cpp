#include "comm/shm/heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "comm/shm/layout.h"

namespace tandem::shm {
namespace {

constexpr std::size_t kUnit = kHugePage;

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

// Has huge pages made of what fills them at least by half. Where the kernel cannot, the pages stay small.
void use_huge_pages(std::byte* block, std::size_t bytes) {
  const std::size_t whole = (bytes + kHugePage / 2) / kHugePage * kHugePage;
  if (whole == 0 || madvise(block, whole, MADV_POPULATE_WRITE) != 0) return;
  madvise(block, whole, MADV_COLLAPSE);
}

}  // namespace

Heap::Heap(std::shared_ptr<Segment> segment, std::size_t begin) : segment_(std::move(segment)), begin_(begin) {
  free_.emplace(begin, segment_->bytes() - begin);
}

std::byte* Heap::allocate(std::size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (bytes == 0 || bytes > segment_->bytes()) return nullptr;
  const std::size_t size = (bytes + kUnit - 1) / kUnit * kUnit;
  const auto fits = std::find_if(free_.begin(), free_.end(), [&](const auto& block) { return block.second >= size; });
  if (fits == free_.end()) return nullptr;
  const auto [place, room] = *fits;
  free_.erase(fits);
  if (room > size) free_.emplace(place + size, room - size);
  used_.emplace(place, size);
  use_huge_pages(segment_->data() + place, bytes);
  return segment_->data() + place;
}

void Heap::free(std::byte* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto used = used_.find(static_cast<std::size_t>(block - segment_->data()));
  if (used == used_.end()) return;
  const auto [place, size] = *used;
  used_.erase(used);
  madvise(block, size, MADV_REMOVE);
  auto here = free_.emplace(place, size).first;
  if (const auto next = std::next(here); next != free_.end() && place + size == next->first) {
    here->second += next->second;
    free_.erase(next);
  }
  if (here == free_.begin()) return;
  if (const auto before = std::prev(here); before->first + before->second == place) {
    before->second += here->second;
    free_.erase(here);
  }
}

std::size_t Heap::place_of(const std::byte* data, std::size_t bytes) const {
  if (data < segment_->data() + begin_ || data >= segment_->data() + segment_->bytes()) return 0;
  const auto place = static_cast<std::size_t>(data - segment_->data());
  return bytes <= segment_->bytes() - place ? place : 0;
}

}  // namespace tandem::shm
