#include "comm/bootstrap/bootstrap.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "comm/bootstrap/pack.h"
#include "comm/collective.h"
#include "comm/store/store_limit.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

// By how much others wait longer than rank 0, whose account of who is missing then reaches all.
constexpr milliseconds kUntilTold{300};
// For the rank that names who is missing, and for the others to learn it.
constexpr milliseconds kUntilNamed{2000};

constexpr const char* kDone = "done";

std::string failure_message(const Error& error, int readers) {
  return pack({"failed", std::to_string(static_cast<int>(error.code())), error.what(), std::to_string(readers)});
}

}  // namespace

// The keys of one all_gather(), and what happens there:
//   RANK      what that rank gives, or its refusal
//   claimed   counts those who would answer; the first one does
//   answer    what all gave, or why there is no more to come
//   read      counts those who learned of a failure; the last one of those that came sets
//   all_read  for which a rank 0 that serves the store waits
class Bootstrap::Round {
 public:
  using Clock = Bootstrap::Clock;

  Round(const Bootstrap& bootstrap, std::uint64_t number)
      : of_(bootstrap), store_(bootstrap.store_.store()), prefix_(std::to_string(number) + "/") {}

  std::vector<std::string> run(const std::string& bytes, const Call& call) {
    store_->set(key(of_.rank_), pack({"gives", bytes}));
    return of_.rank_ == 0 ? lead(bytes, call) : follow(call);
  }

  // Whoever is first answers for all. False: somebody was.
  bool answer(const std::string& message) {
    if (store_->add(key("claimed"), 1) != 1) return false;
    store_->set(key("answer"), message);
    return true;
  }

  void refuse(const Error& reason) {
    const std::string message = failure_message(reason, 0);
    store_->set(key(of_.rank_), message);
    answer(message);
    // Rank 0 may wait for one that is not there yet. That one sets its own key, and reads the answer.
    for (int rank = 1; rank < of_.size_; ++rank) {
      if (!store_->check({key(rank)})) store_->set(key(rank), message);
    }
  }

  std::optional<std::vector<std::string>> answer_if_any() {
    if (!store_->check({key("answer")})) return std::nullopt;
    std::vector<std::string> parts = unpack(store_->get_to_str(key("answer")));
    if (parts.empty() || parts[0] != "gathered") return std::nullopt;
    parts.erase(parts.begin());
    return parts;
  }

  std::vector<int> not_come(int first) {
    std::vector<int> missing;
    for (int rank = first; rank < of_.size_; ++rank) {
      if (!store_->check({key(rank)})) missing.push_back(rank);
    }
    return missing;
  }

  void delete_own() { store_->deleteKey(key(of_.rank_)); }
  void delete_answer() {
    for (const char* name : {"answer", "claimed"}) store_->deleteKey(key(name));
  }
  // After a failure rank 0 may still have been waiting for what others gave.
  void delete_failed() {
    delete_answer();
    for (const char* name : {"read", "all_read"}) store_->deleteKey(key(name));
    for (int rank = 0; rank < of_.size_; ++rank) store_->deleteKey(key(rank));
  }

 private:
  std::string key(const std::string& name) const { return prefix_ + name; }
  std::string key(int rank) const { return key(std::to_string(rank)); }

  std::vector<std::string> lead(const std::string& bytes, const Call& call) {
    const auto deadline = Clock::now() + call.timeout;
    auto waiter = of_.store_.waiter();
    // Others may have given up before this rank came.
    if (store_->check({key("answer")})) return read_answer(waiter, call);
    std::vector<std::string> gathered = {bytes};
    for (int rank = 1; rank < of_.size_; ++rank) {
      if (!waiter.wait(key(rank), deadline)) {
        fail(waiter, Error(ErrorCode::kTimeout, call.describe_timeout(missing_ranks(rank))), call);
      }
      const std::string message = waiter.get(key(rank));
      try {
        gathered.push_back(given(message));
        if (call.check) call.check(rank, gathered.back());
      } catch (const Error& error) {
        fail(waiter, error, call);
      }
    }
    std::vector<std::string> parts = {"gathered"};
    parts.insert(parts.end(), gathered.begin(), gathered.end());
    if (!answer(pack(parts))) return read_answer(waiter, call);
    return gathered;
  }

  std::vector<std::string> follow(const Call& call) {
    const auto deadline = Clock::now() + call.timeout + kUntilTold;
    auto waiter = of_.store_.waiter();
    if (waiter.wait(key("answer"), deadline)) return read_answer(waiter, call);
    // One rank names who is missing, and the others read it, also those that come later.
    if (store_->add(key("claimed"), 1) == 1) {
      const Error error(ErrorCode::kTimeout, call.describe_timeout(missing_ranks(0)));
      store_->set(key("answer"), failure_message(error, 0));
      throw error;
    }
    return read_answer(waiter, call);
  }

  // What a rank set. Throws the Error with which it refused.
  static std::string given(const std::string& message) {
    std::vector<std::string> parts = unpack(message);
    if (parts.size() == 2 && parts[0] == "gives") return std::move(parts[1]);
    throw failure(parts);
  }

  static Error failure(const std::vector<std::string>& parts) {
    if (parts.size() != 4 || parts[0] != "failed") {
      return Error(ErrorCode::kDataLoss,
                   "what another rank wrote to the store is of another version of Tandem; start "
                   "the same version on every rank");
    }
    return Error(static_cast<ErrorCode>(std::atoi(parts[1].c_str())), parts[2]);
  }

  // An answer that is there, or about to be.
  std::vector<std::string> read_answer(WaitableStore::Waiter& waiter, const Call& call) {
    if (!waiter.wait(key("answer"), Clock::now() + kUntilNamed)) {
      throw Error(ErrorCode::kTimeout, call.describe_timeout("rank 0 gave no answer"));
    }
    std::vector<std::string> parts = unpack(waiter.get(key("answer")));
    if (!parts.empty() && parts[0] == "gathered") {
      parts.erase(parts.begin());
      return parts;
    }
    const Error error = failure(parts);
    if (of_.rank_ != 0) tell_read(std::atoi(parts.back().c_str()));
    throw error;
  }

  // That this rank knows the failure, for which rank 0 waits for so many.
  void tell_read(int readers) {
    try {
      if (store_->add(key("read"), 1) == readers) store_->set(key("all_read"), "");
    } catch (const std::exception&) {
      // Whoever serves the store has gone, and has not waited.
    }
  }

  // Rank 0 tells all that it gives up. Where the store goes with it, it stays until those know that have come.
  [[noreturn]] void fail(WaitableStore::Waiter& waiter, const Error& error, const Call& call) {
    int readers = 0;
    for (int rank = 1; rank < of_.size_ && of_.serves_store_; ++rank) readers += store_->check({key(rank)});
    if (!answer(failure_message(error, readers))) read_answer(waiter, call);
    if (readers > 0) waiter.wait(key("all_read"), Clock::now() + kUntilNamed);
    throw error;
  }

  // Those before `first` have come.
  std::string missing_ranks(int first) {
    const std::vector<int> missing = not_come(first);
    return missing.empty() ? "rank 0 gave no answer" : are_missing(missing);
  }

  const Bootstrap& of_;
  const Store& store_;
  const std::string prefix_;
};

std::vector<std::string> Bootstrap::all_gather(const std::string& bytes, const Call& call) {
  if (size_ == 1) return {bytes};
  const StoreLimit limit(Clock::now() + call.timeout + kUntilTold + kUntilNamed);
  const std::uint64_t number = round_++;
  const bool failed_before = std::exchange(failed_, true);
  try {
    std::optional<Round> before;
    if (number > 0) before.emplace(*this, number - 1);
    if (before && !failed_before) before->delete_own();
    auto gathered = Round(*this, number).run(bytes, call);
    // All have read the answer before, for they are in this round.
    if (before && rank_ == 0) failed_before ? before->delete_failed() : before->delete_answer();
    failed_ = false;
    interrupted_ = false;
    return gathered;
  } catch (...) {
    interrupted_ = StoreLimit::is_interrupted();
    rethrow_store_error(call.purpose);
  }
}

std::optional<std::vector<std::string>> Bootstrap::last_answer() noexcept {
  if (round_ == 0) return std::nullopt;
  try {
    const StoreLimit limit(Clock::now() + kUntilNamed);
    auto gathered = Round(*this, round_ - 1).answer_if_any();
    if (gathered) failed_ = false;
    return gathered;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string Bootstrap::who_is_missing() noexcept {
  if (round_ == 0) return "";
  try {
    const auto missing = Round(*this, round_ - 1).not_come(0);
    return missing.empty() ? "" : are_missing(missing);
  } catch (const std::exception&) {
    return "";
  }
}

std::vector<int> Bootstrap::missing() noexcept {
  if (round_ == 0) return {};
  try {
    const StoreLimit limit(Clock::now() + kUntilNamed);
    return Round(*this, round_ - 1).not_come(0);
  } catch (const std::exception&) {
    return {};
  }
}

void Bootstrap::refuse(const Error& reason) noexcept {
  if ((failed_ && !interrupted_) || size_ == 1) return;
  try {
    const StoreLimit limit(Clock::now() + kUntilNamed);
    bool are_in_next = true;
    if (interrupted_) {
      Round ended(*this, round_ - 1);
      ended.refuse(reason);
      are_in_next = ended.answer_if_any().has_value();
    }
    if (are_in_next) Round(*this, round_).refuse(reason);
  } catch (const std::exception&) {
    // The others learn it by their timeouts.
  }
  failed_ = true;
  interrupted_ = false;
}

void Bootstrap::finish() noexcept {
  if (failed_ || round_ == 0) return;
  try {
    const StoreLimit limit(Clock::now() + kUntilNamed);
    Round last(*this, round_ - 1);
    last.delete_own();
    if (store_.store()->add(kDone, 1) != size_) return;
    last.delete_answer();
    store_.store()->deleteKey(kDone);
  } catch (const std::exception&) {
    // Whoever serves the store has gone, and all keys with it.
  }
}

}  // namespace tandem
