// The store that LibTorch's agent gets.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <set>
#include <string>
#include <vector>

#include "comm/bootstrap/gathered_store.h"

namespace tandem::rpc {

// Names and addresses come from all-gathers, as Gloo's do. What the agent would settle with the others through counters
// (that all have the same kind of group; that no call is under way at the end) is answered at once: the session settles
// it beforehand, with timeouts and names of who is missing, and in keys that do not depend on how often a process did so.
class AgentStore final : public c10d::Store {
 public:
  AgentStore(GatheredStore::AllGather all_gather, int world_size);

  // No more exchanges.
  void close() { gathered_->close(); }

  using c10d::Store::compareSet;
  using c10d::Store::set;

  c10::intrusive_ptr<c10d::Store> clone() override;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override { gathered_->set(key, value); }
  std::vector<std::uint8_t> get(const std::string& key) override;
  bool check(const std::vector<std::string>&) override { return true; }
  void wait(const std::vector<std::string>&) override {}
  void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) override {}
  std::int64_t getNumKeys() override { return 0; }
  bool deleteKey(const std::string&) override { return false; }
  std::vector<std::uint8_t> compareSet(const std::string&, const std::vector<std::uint8_t>&,
                                       const std::vector<std::uint8_t>& desired) override {
    return desired;
  }
  // As if this worker were the last one that adds.
  std::int64_t add(const std::string& key, std::int64_t value) override;

 private:
  const c10::intrusive_ptr<GatheredStore> gathered_;
  const int world_size_;
  std::mutex mutex_;
  std::set<std::string> counters_;
};

}  // namespace tandem::rpc
