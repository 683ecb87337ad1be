// What is made of chunks at their first use, once, whoever asks first.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "data/lru_cache.h"
#include "data/interruption.h"

namespace tandem::recordio {

// `Content` has `std::uint64_t cached_bytes() const`: memory that is worth giving back, 0 where keeping it costs
// little.
template <typename Content>
class ChunkContents {
 public:
  struct Held {
    const Content* content;
    std::shared_ptr<const void> owner;  // empty: it lives as long as this
  };

  // Without a cache everything is kept.
  ChunkContents(std::uint64_t chunks, std::shared_ptr<LruCache> cache)
      : kept_(std::make_unique<std::atomic<const Content*>[]>(chunks)), chunks_(chunks), cache_(std::move(cache)) {}
  ~ChunkContents() {
    for (std::uint64_t i = 0; i < chunks_; ++i) delete kept_[i].load(std::memory_order_relaxed);
    if (cache_) cache_->drop_all_of(this);
  }
  ChunkContents(const ChunkContents&) = delete;
  ChunkContents& operator=(const ChunkContents&) = delete;

  // `load` makes the content; where it throws, the next one who asks tries again. Throws Error(kAborted) where this
  // thread is interrupted while another one loads.
  template <typename Load>
  Held get(std::uint64_t chunk, const Load& load) {
    if (const Content* content = kept_[chunk].load(std::memory_order_acquire)) return {content, nullptr};
    if (Held held = find_cached(chunk); held.content) return held;
    const std::lock_guard lock(loading_[chunk % loading_.size()]);
    if (const Content* content = kept_[chunk].load(std::memory_order_relaxed)) return {content, nullptr};
    if (Held held = find_cached(chunk); held.content) return held;
    auto loaded = std::make_unique<const Content>(load());
    if (!cache_ || loaded->cached_bytes() == 0) {
      const Content* content = loaded.release();
      kept_[chunk].store(content, std::memory_order_release);
      return {content, nullptr};
    }
    std::shared_ptr<const Content> shared = std::move(loaded);
    cache_->put(this, chunk, shared, shared->cached_bytes());
    return {shared.get(), shared};
  }

 private:
  Held find_cached(std::uint64_t chunk) {
    std::shared_ptr<const void> found = cache_ ? cache_->find(this, chunk) : nullptr;
    return {static_cast<const Content*>(found.get()), std::move(found)};
  }

  std::unique_ptr<std::atomic<const Content*>[]> kept_;
  const std::uint64_t chunks_;
  const std::shared_ptr<LruCache> cache_;
  std::array<InterruptibleMutex, 16> loading_;  // a chunk's is that of its number
};

}  // namespace tandem::recordio
