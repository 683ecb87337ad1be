#include "data/lru_cache.h"

namespace tandem {

std::shared_ptr<const void> LruCache::find(const void* owner, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find({owner, number});
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->content;
}

void LruCache::put(const void* owner, std::uint64_t number, std::shared_ptr<const void> content,
                       std::uint64_t bytes) {
  std::list<Entry> dropped;  // freed without the lock
  const std::lock_guard lock(mutex_);
  const Key key{owner, number};
  if (by_key_.contains(key)) return;
  entries_.push_front({key, std::move(content), bytes});
  by_key_[key] = entries_.begin();
  for (bytes_ += bytes; bytes_ > limit_ && entries_.size() > 1;) {
    const auto last = std::prev(entries_.end());
    bytes_ -= last->bytes;
    by_key_.erase(last->key);
    dropped.splice(dropped.end(), entries_, last);
  }
}

void LruCache::drop(const void* owner, std::uint64_t number) {
  std::list<Entry> dropped;
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find({owner, number});
  if (found == by_key_.end()) return;
  bytes_ -= found->second->bytes;
  dropped.splice(dropped.end(), entries_, found->second);
  by_key_.erase(found);
}

void LruCache::drop_all_of(const void* owner) {
  const std::lock_guard lock(mutex_);
  const auto begin = by_key_.lower_bound({owner, 0});
  auto end = begin;
  for (; end != by_key_.end() && end->first.first == owner; ++end) {
    bytes_ -= end->second->bytes;
    entries_.erase(end->second);
  }
  by_key_.erase(begin, end);
}

}  // namespace tandem
