// The samples of one epoch, for orders that are known only as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tandem {

// Keeps the list of the epoch that was asked for last. Thread-safe: who asks for one that is being made waits for it.
class EpochList {
 public:
  using List = std::shared_ptr<const std::vector<std::int64_t>>;

  template <typename Make>
  List get(std::uint64_t seed, std::int64_t epoch, Make&& make) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!list_ || seed_ != seed || epoch_ != epoch) {
      list_ = std::make_shared<const std::vector<std::int64_t>>(make());
      seed_ = seed;
      epoch_ = epoch;
    }
    return list_;
  }

 private:
  mutable std::mutex mutex_;
  mutable List list_;
  mutable std::uint64_t seed_ = 0;
  mutable std::int64_t epoch_ = 0;
};

}  // namespace tandem
