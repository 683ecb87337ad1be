// Sets of replicas that no forward and no graph uses.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tandem/data_parallel.h"

namespace tandem::internal {

struct Replicas::Idle {
  // One that was made from a module of these names of tensors, or NULL; others are released.
  std::shared_ptr<ReplicaSet> take(const std::vector<std::string>& names) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (names != names_) sets_.clear();
    if (sets_.empty()) return nullptr;
    auto set = std::move(sets_.back());
    sets_.pop_back();
    return set;
  }

  void give(std::shared_ptr<ReplicaSet> set, const std::vector<std::string>& names) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (names != names_) {
      sets_.clear();
      names_ = names;
    }
    sets_.push_back(std::move(set));
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<ReplicaSet>> sets_;
};

}  // namespace tandem::internal
