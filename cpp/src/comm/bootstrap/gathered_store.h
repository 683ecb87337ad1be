// The store through which a library exchanges addresses, with few calls on the store behind it.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tandem {

// For who sets some keys on every rank and then gets those of all: Gloo gets the addresses of each rank one by one, n *
// n gets in a group of n. Here the first get of a key that is not there exchanges all that ranks have set since the
// last exchange, and later ones are answered from that. So all ranks must set and get alike. Thread-safe.
class GatheredStore final : public c10d::Store {
 public:
  // Gives every rank the bytes of all.
  using AllGather = std::function<std::vector<std::string>(const std::string& bytes)>;

  explicit GatheredStore(AllGather all_gather) : all_gather_(std::move(all_gather)) {}

  // No more exchanges: keys that are not there yet are an error.
  void close();

  using c10d::Store::compareSet;
  using c10d::Store::set;

  c10::intrusive_ptr<c10d::Store> clone() override;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::uint8_t> get(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  std::int64_t getNumKeys() override;
  bool deleteKey(const std::string& key) override;
  // Errors: kUnsupported.
  std::vector<std::uint8_t> compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                       const std::vector<std::uint8_t>& desired) override;
  std::int64_t add(const std::string& key, std::int64_t value) override;

 private:
  const std::string& find(const std::string& key);
  void exchange();

  std::mutex mutex_;
  AllGather all_gather_;
  std::vector<std::string> set_;  // keys and values, since the last exchange
  std::map<std::string, std::string> values_;
};

}  // namespace tandem
