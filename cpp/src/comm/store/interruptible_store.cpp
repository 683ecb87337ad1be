#include "comm/store/interruptible_store.h"

namespace tandem {

c10::intrusive_ptr<c10d::Store> InterruptibleStore::clone() {
  const StoreLimit limit(interrupt_);
  return c10::make_intrusive<InterruptibleStore>(store_->clone(), interrupt_);
}

void InterruptibleStore::set(const std::string& key, const std::vector<std::uint8_t>& value) {
  const StoreLimit limit(interrupt_);
  store_->set(key, value);
}

std::vector<std::uint8_t> InterruptibleStore::compareSet(const std::string& key,
                                                         const std::vector<std::uint8_t>& expected,
                                                         const std::vector<std::uint8_t>& desired) {
  const StoreLimit limit(interrupt_);
  return store_->compareSet(key, expected, desired);
}

std::vector<std::uint8_t> InterruptibleStore::get(const std::string& key) {
  const StoreLimit limit(interrupt_);
  return store_->get(key);
}

std::int64_t InterruptibleStore::add(const std::string& key, std::int64_t value) {
  const StoreLimit limit(interrupt_);
  return store_->add(key, value);
}

bool InterruptibleStore::deleteKey(const std::string& key) {
  const StoreLimit limit(interrupt_);
  return store_->deleteKey(key);
}

bool InterruptibleStore::check(const std::vector<std::string>& keys) {
  const StoreLimit limit(interrupt_);
  return store_->check(keys);
}

std::int64_t InterruptibleStore::getNumKeys() {
  const StoreLimit limit(interrupt_);
  return store_->getNumKeys();
}

void InterruptibleStore::wait(const std::vector<std::string>& keys) {
  const StoreLimit limit(interrupt_);
  store_->wait(keys);
}

void InterruptibleStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  const StoreLimit limit(interrupt_);
  store_->wait(keys, timeout);
}

const std::chrono::milliseconds& InterruptibleStore::getTimeout() const noexcept {
  return store_->getTimeout();
}

void InterruptibleStore::setTimeout(const std::chrono::milliseconds& timeout) {
  store_->setTimeout(timeout);
}

void InterruptibleStore::append(const std::string& key, const std::vector<std::uint8_t>& value) {
  const StoreLimit limit(interrupt_);
  store_->append(key, value);
}

std::vector<std::vector<std::uint8_t>> InterruptibleStore::multiGet(const std::vector<std::string>& keys) {
  const StoreLimit limit(interrupt_);
  return store_->multiGet(keys);
}

void InterruptibleStore::multiSet(const std::vector<std::string>& keys,
                                  const std::vector<std::vector<std::uint8_t>>& values) {
  const StoreLimit limit(interrupt_);
  store_->multiSet(keys, values);
}

bool InterruptibleStore::hasExtendedApi() const {
  return store_->hasExtendedApi();
}

void InterruptibleStore::queuePush(const std::string& key, const std::vector<std::uint8_t>& value) {
  const StoreLimit limit(interrupt_);
  store_->queuePush(key, value);
}

std::vector<std::uint8_t> InterruptibleStore::queuePop(const std::string& key, bool block) {
  const StoreLimit limit(interrupt_);
  return store_->queuePop(key, block);
}

std::int64_t InterruptibleStore::queueLen(const std::string& key) {
  const StoreLimit limit(interrupt_);
  return store_->queueLen(key);
}

std::vector<std::string> InterruptibleStore::listKeys() {
  const StoreLimit limit(interrupt_);
  return store_->listKeys();
}

}  // namespace tandem
