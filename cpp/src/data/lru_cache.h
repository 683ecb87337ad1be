// A cache of decoded chunks and blocks of files, bounded in bytes.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace tandem {

// By owner and number; the least recently used go first. Whoever holds a content keeps it alive. Thread-safe.
class LruCache {
 public:
  explicit LruCache(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

  // NULL where it is not there.
  std::shared_ptr<const void> find(const void* owner, std::uint64_t number);
  // Drops others for it. The newest stays even where it alone is larger than the limit.
  void put(const void* owner, std::uint64_t number, std::shared_ptr<const void> content, std::uint64_t bytes);
  void drop(const void* owner, std::uint64_t number);
  void drop_all_of(const void* owner);

 private:
  using Key = std::pair<const void*, std::uint64_t>;
  struct Entry {
    Key key;
    std::shared_ptr<const void> content;
    std::uint64_t bytes;
  };

  const std::uint64_t limit_;
  std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::list<Entry> entries_;  // the last used comes first
  std::map<Key, std::list<Entry>::iterator> by_key_;
};

}  // namespace tandem
