// A store for threads of one process that counts what is called on it.
#pragma once

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <atomic>
#include <string>
#include <vector>

namespace tandem::testing {

class CountingStore final : public c10d::HashStore {
 public:
  using c10d::Store::compareSet;
  using c10d::Store::set;
  using Bytes = std::vector<std::uint8_t>;

  // Without waits that ended before their key was there.
  int calls() const { return calls_; }
  int checks() const { return checks_; }
  int vain_waits() const { return vain_waits_; }

  void set(const std::string& key, const Bytes& value) override {
    ++calls_;
    HashStore::set(key, value);
  }
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) override {
    ++calls_;
    return HashStore::compareSet(key, expected, desired);
  }
  Bytes get(const std::string& key) override {
    ++calls_;
    return HashStore::get(key);
  }
  std::int64_t add(const std::string& key, std::int64_t value) override {
    ++calls_;
    return HashStore::add(key, value);
  }
  bool deleteKey(const std::string& key) override {
    ++calls_;
    return HashStore::deleteKey(key);
  }
  bool check(const std::vector<std::string>& keys) override {
    ++calls_;
    ++checks_;
    return HashStore::check(keys);
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
    try {
      HashStore::wait(keys, timeout);
      ++calls_;
    } catch (...) {
      ++vain_waits_;
      throw;
    }
  }
  std::vector<Bytes> multiGet(const std::vector<std::string>& keys) override {
    ++calls_;
    return HashStore::multiGet(keys);
  }
  void multiSet(const std::vector<std::string>& keys, const std::vector<Bytes>& values) override {
    ++calls_;
    HashStore::multiSet(keys, values);
  }
  void append(const std::string& key, const Bytes& value) override {
    ++calls_;
    HashStore::append(key, value);
  }

 private:
  std::atomic<int> calls_{0}, checks_{0}, vain_waits_{0};
};

}  // namespace tandem::testing
