#include "comm/bootstrap/gathered_store.h"

#include <utility>

#include "comm/bootstrap/pack.h"
#include "tandem/error.h"

namespace tandem {
namespace {

[[noreturn]] void unsupported(const char* call) {
  throw Error(ErrorCode::kUnsupported, std::string("a store that only gathers addresses has no ") + call);
}

}  // namespace

void GatheredStore::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  all_gather_ = nullptr;
}

c10::intrusive_ptr<c10d::Store> GatheredStore::clone() {
  return c10::intrusive_ptr<c10d::Store>::reclaim_copy(this);
}

void GatheredStore::set(const std::string& key, const std::vector<std::uint8_t>& value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  set_.push_back(key);
  set_.emplace_back(value.begin(), value.end());
}

const std::string& GatheredStore::find(const std::string& key) {
  if (!values_.contains(key) && all_gather_) exchange();
  const auto found = values_.find(key);
  if (found != values_.end()) return found->second;
  throw Error(ErrorCode::kPeerLost, "no rank has set '" + key + "' while the ranks told each other their addresses; " +
                                        "start the same version on every rank, with as many network interfaces");
}

void GatheredStore::exchange() {
  for (const std::string& of_a_rank : all_gather_(pack(std::exchange(set_, {})))) {
    const std::vector<std::string> entries = unpack(of_a_rank);
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) values_.insert_or_assign(entries[i], entries[i + 1]);
  }
}

std::vector<std::uint8_t> GatheredStore::get(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string& value = find(key);
  return {value.begin(), value.end()};
}

bool GatheredStore::check(const std::vector<std::string>& keys) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& key : keys) {
    if (!values_.contains(key)) return false;
  }
  return true;
}

void GatheredStore::wait(const std::vector<std::string>& keys) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& key : keys) find(key);
}

void GatheredStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) {
  wait(keys);
}

std::int64_t GatheredStore::getNumKeys() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<std::int64_t>(values_.size());
}

bool GatheredStore::deleteKey(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return values_.erase(key) > 0;
}

std::vector<std::uint8_t> GatheredStore::compareSet(const std::string&, const std::vector<std::uint8_t>&,
                                                    const std::vector<std::uint8_t>&) {
  unsupported("compareSet");
}

std::int64_t GatheredStore::add(const std::string&, std::int64_t) {
  unsupported("add");
}

}  // namespace tandem
