// Which chunk has a record.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace tandem::recordio {

// Remembers the chunk whose first record was asked for last: who reads in order searches once a chunk. Thread-safe.
class ChunkFinder {
 public:
  // Of `chunks`, which have `first_record` and `records` and lie in that order, the one that has record `index`.
  template <typename Chunk>
  std::size_t find(const std::vector<Chunk>& chunks, std::int64_t index) const {
    const std::size_t last = last_.load(std::memory_order_relaxed);
    const Chunk& chunk = chunks[last];
    if (static_cast<std::uint64_t>(index - chunk.first_record) < static_cast<std::uint64_t>(chunk.records)) return last;
    return search(chunks, index);
  }

 private:
  template <typename Chunk>
  std::size_t search(const std::vector<Chunk>& chunks, std::int64_t index) const {
    const auto next = std::ranges::upper_bound(chunks, index, {}, &Chunk::first_record);
    const auto number = static_cast<std::size_t>(next - chunks.begin()) - 1;
    if (chunks[number].first_record == index) last_.store(number, std::memory_order_relaxed);
    return number;
  }

  mutable std::atomic<std::size_t> last_{0};
};

}  // namespace tandem::recordio
