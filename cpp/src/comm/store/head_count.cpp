#include "comm/store/head_count.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "comm/store/store_limit.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{1};
constexpr milliseconds kLastPause{20};

}  // namespace

void HeadCount::come(const WaitableStore& store, int expected) const {
  if (store.store()->add(name_, 1) == expected) store.store()->set(all_, "");
}

bool HeadCount::await_all(const WaitableStore& store, WaitableStore::Clock::time_point deadline) const {
  for (milliseconds pause = kFirstPause; !store.store()->check({all_}); pause = std::min(2 * pause, kLastPause)) {
    if (StoreLimit::is_interrupted()) throw Error(ErrorCode::kAborted, "the wait for '" + all_ + "' was aborted");
    if (WaitableStore::Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

void HeadCount::forget(const WaitableStore& store) const {
  for (const std::string& key : {name_, all_}) store.store()->deleteKey(key);
}

}  // namespace tandem
