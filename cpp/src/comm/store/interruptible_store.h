// A store whose calls end with the group that they are made for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/store/store_limit.h"
#include "tandem/store.h"

namespace tandem {

// Forwards to another store, under a StoreInterrupt, also what LibTorch calls on threads of its own.
class InterruptibleStore final : public c10d::Store {
 public:
  InterruptibleStore(tandem::Store store, std::shared_ptr<StoreInterrupt> interrupt)
      : store_(std::move(store)), interrupt_(std::move(interrupt)) {}

  const tandem::Store& underlying() const { return store_; }

  using c10d::Store::compareSet;
  using c10d::Store::set;

  c10::intrusive_ptr<c10d::Store> clone() override;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::uint8_t> compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                       const std::vector<std::uint8_t>& desired) override;
  std::vector<std::uint8_t> get(const std::string& key) override;
  std::int64_t add(const std::string& key, std::int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  std::int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  const std::chrono::milliseconds& getTimeout() const noexcept override;
  void setTimeout(const std::chrono::milliseconds& timeout) override;
  void append(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::vector<std::uint8_t>> multiGet(const std::vector<std::string>& keys) override;
  void multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<std::uint8_t>>& values) override;
  bool hasExtendedApi() const override;
  void queuePush(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::uint8_t> queuePop(const std::string& key, bool block) override;
  std::int64_t queueLen(const std::string& key) override;
  std::vector<std::string> listKeys() override;

 private:
  const tandem::Store store_;
  const std::shared_ptr<StoreInterrupt> interrupt_;
};

}  // namespace tandem
