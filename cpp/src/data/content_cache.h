// What was made of parts of files, a bounded amount of it.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace tandem {

// Contents by who made them and a number. Those that were not used for longest go first; whoever holds one keeps it.
// Thread-safe.
class ContentCache {
 public:
  explicit ContentCache(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

  // NULL where it is not there.
  std::shared_ptr<const void> find(const void* maker, std::uint64_t number);
  // Drops others for it. The newest stays even where it alone is larger than the limit.
  void put(const void* maker, std::uint64_t number, std::shared_ptr<const void> content, std::uint64_t bytes);
  void drop(const void* maker, std::uint64_t number);
  void drop_all_of(const void* maker);

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
