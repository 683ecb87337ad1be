#include "comm/notes.h"

#include <thread>

#include "comm/collective.h"
#include "comm/store_limit.h"
#include "tandem/error.h"

namespace tandem {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string Notes::key(std::uint64_t round, const std::string& of) const {
  return std::to_string(round) + "/" + of;
}

std::vector<std::string> Notes::exchange(const std::string& note, milliseconds timeout,
                                         const std::function<void()>& check) {
  const StoreLimit limit(Clock::now() + timeout);
  try {
    // Whoever is in this round has left the last one but one, and nobody reads its notes any more.
    if (round_ >= 2) store_->deleteKey(key(round_ - 2, std::to_string(rank_)));
    store_->set(key(round_, std::to_string(rank_)), note);
    auto notes = read_all(timeout, check);
    ++round_;
    return notes;
  } catch (const Error& error) {
    ++round_;
    if (error.code() == ErrorCode::kAborted) check();  // may know why
    throw;
  } catch (...) {
    ++round_;
    rethrow_store_error("reading what the other ranks say");
  }
}

std::vector<std::string> Notes::read_all(milliseconds timeout, const std::function<void()>& check) {
  const std::string failed = key(round_, "failed");
  const auto start = Clock::now();
  std::vector<std::string> keys;
  for (int rank = 0; rank < size_; ++rank) keys.push_back(key(round_, std::to_string(rank)));
  while (!store_->check(keys)) {
    check();
    const auto now = Clock::now();
    if (now - start >= timeout) {
      std::vector<int> missing;
      for (int rank = 0; rank < size_; ++rank) {
        if (!store_->check({keys[rank]})) missing.push_back(rank);
      }
      if (missing.empty()) break;
      const std::string message = are_missing(missing) + " after " + std::to_string(timeout.count()) +
                                  " ms: dead, stopped, slow, or in another collective";
      store_->set(failed, message);
      throw Error(ErrorCode::kTimeout, message);
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(std::chrono::microseconds(200) + (now - start) / 50,
                                                          milliseconds(10)));
  }
  // Some rank may have given up before the last one came.
  if (store_->check({failed})) throw Error(ErrorCode::kTimeout, store_->get_to_str(failed));
  std::vector<std::string> notes;
  for (const auto& one : keys) notes.push_back(store_->get_to_str(one));
  return notes;
}

}  // namespace tandem
