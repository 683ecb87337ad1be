#include "comm/store/waitable_store.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <mutex>
#include <vector>

#include "comm/store/deadline_file_store.h"
#include "comm/store/deadline_store.h"
#include "comm/store/interruptible_store.h"
#include "comm/store/store_limit.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

// Of stores whose waits nothing ends (LibTorch's hash store): how long a wait may hold up an abort. Long
// waits are cut into few pieces.
constexpr milliseconds kShortestWait{100};
constexpr milliseconds kLongestWait{1000};

c10d::Store& underlying(const Store& store) {
  c10d::Store* base = store.get();
  for (;;) {
    if (auto* prefix = dynamic_cast<c10d::PrefixStore*>(base)) {
      base = prefix->getUnderlyingStore().get();
    } else if (auto* interruptible = dynamic_cast<InterruptibleStore*>(base)) {
      base = interruptible->underlying().get();
    } else {
      return *base;
    }
  }
}

void throw_if_interrupted(const std::string& key) {
  if (StoreLimit::is_interrupted()) throw Error(ErrorCode::kAborted, "the wait for '" + key + "' was aborted");
}

}  // namespace

struct WaitableStore::Connections {
  explicit Connections(Store store)
      : base(std::move(store)),
        ends_waits(is<DeadlineStore>() || is<DeadlineFileStore>()),
        one_call_at_a_time(is<DeadlineStore>() || is<c10d::TCPStore>()) {}

  template <typename Kind>
  bool is() const {
    return dynamic_cast<Kind*>(&underlying(base)) != nullptr;
  }

  Store take() {
    if (!one_call_at_a_time) return base;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!idle.empty()) {
        Store found = std::move(idle.back());
        idle.pop_back();
        return found;
      }
    }
    return base->clone();
  }

  void give_back(Store store) {
    if (!one_call_at_a_time) return;
    const std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(std::move(store));
  }

  const Store base;
  const bool ends_waits;  // by itself, under a StoreLimit
  const bool one_call_at_a_time;
  std::mutex mutex;
  std::vector<Store> idle;
};

WaitableStore::WaitableStore(Store store)
    : store_(std::move(store)), connections_(std::make_shared<Connections>(store_)) {}

WaitableStore WaitableStore::under(const std::string& prefix) const {
  WaitableStore inner = *this;
  inner.prefix_ = prefix_.empty() ? prefix : prefix_ + "/" + prefix;
  inner.store_ = prefix_store(inner.prefix_, connections_->base);
  return inner;
}

bool WaitableStore::has_lost_server() const {
  auto* of_tcp = dynamic_cast<DeadlineStore*>(&underlying(store_));
  return of_tcp && of_tcp->has_lost_server();
}

void WaitableStore::note_clients() const {
  if (auto* of_tcp = dynamic_cast<DeadlineStore*>(&underlying(store_))) of_tcp->note_clients();
}

WaitableStore::Waiter::Waiter(const WaitableStore& store)
    : from_(store),
      connection_(store.connections_->take()),
      store_(store.prefix_.empty() ? connection_ : prefix_store(store.prefix_, connection_)) {}

WaitableStore::Waiter::~Waiter() {
  if (!is_broken_) from_.connections_->give_back(std::move(connection_));
}

bool WaitableStore::Waiter::wait(const std::string& key, Clock::time_point deadline) {
  const auto begun = Clock::now();
  for (;;) {
    throw_if_interrupted(key);
    const auto now = Clock::now();
    auto left = std::max(std::chrono::ceil<milliseconds>(deadline - now), milliseconds(1));
    const bool is_last = from_.connections_->ends_waits || left <= kShortestWait;
    if (!is_last) {
      left = std::min(left, std::clamp(std::chrono::ceil<milliseconds>(now - begun), kShortestWait, kLongestWait));
    }
    try {
      store_->wait({key}, left);
      return true;
    } catch (const c10::Error& error) {
      is_broken_ = !is_store_timeout(error);
      if (is_broken_) throw;
    } catch (...) {
      is_broken_ = true;
      throw;
    }
    if (is_last || Clock::now() >= deadline) {
      throw_if_interrupted(key);
      return false;
    }
  }
}

std::string WaitableStore::Waiter::get(const std::string& key) {
  try {
    return store_->get_to_str(key);
  } catch (...) {
    is_broken_ = true;
    throw;
  }
}

}  // namespace tandem
