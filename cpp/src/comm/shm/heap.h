// Memory for tensors that all ranks of a host reach.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "comm/shm/segment.h"

namespace tandem::shm {

// The last part of a rank's segment, given out in blocks. Thread-safe.
class Heap {
 public:
  explicit Heap(std::shared_ptr<Segment> segment, std::size_t begin);

  // NULL when it is full.
  std::byte* allocate(std::size_t bytes);
  // Gives the pages back to the system.
  void free(std::byte* block);

  // How far into the segment `data` lies; 0 when not all of it lies in this heap.
  std::size_t place_of(const std::byte* data, std::size_t bytes) const;

 private:
  const std::shared_ptr<Segment> segment_;
  const std::size_t begin_;
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_;  // sizes by place; no two are neighbours
  std::map<std::size_t, std::size_t> used_;
};

}  // namespace tandem::shm
