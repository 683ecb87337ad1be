#include "comm/store/store_exchange.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/own_thread.h"

namespace tandem {
namespace {

constexpr std::chrono::milliseconds kBetweenChecks{50};
constexpr std::chrono::milliseconds kUntilNamed{500};  // for the store to say who is missing, where it still answers

// Calls `check` from time to time, and interrupts when it throws.
class Checking {
 public:
  Checking(std::function<void()> check, std::shared_ptr<StoreInterrupt> interrupt)
      : check_(std::move(check)),
        interrupt_(std::move(interrupt)),
        thread_(start_own_thread("tandem-check", [this] { run(); })) {}
  ~Checking() { stop(); }
  Checking(const Checking&) = delete;
  Checking& operator=(const Checking&) = delete;

  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    stopped_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  // What it threw, once it has stopped.
  std::exception_ptr failure() const { return failure_; }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopped_.wait_for(lock, kBetweenChecks, [this] { return stopping_; })) {
      try {
        check_();
      } catch (...) {
        failure_ = std::current_exception();
        interrupt_->interrupt();
        return;
      }
    }
  }

  const std::function<void()> check_;
  const std::shared_ptr<StoreInterrupt> interrupt_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

// Of an exchange that was ended: "; rank 1 is missing", or nothing.
std::string missing_in(Bootstrap& bootstrap) {
  const auto end = std::chrono::steady_clock::now() + kUntilNamed;
  const auto late = std::make_shared<StoreInterrupt>();
  const Checking checking(
      [end] {
        if (std::chrono::steady_clock::now() > end) throw Error(ErrorCode::kTimeout, "the store does not answer");
      },
      late);
  const StoreLimit limit(late);
  const std::string who = bootstrap.who_is_missing();
  return who.empty() ? "" : "; " + who;
}

}  // namespace

std::vector<std::string> exchange_through_store(Bootstrap& bootstrap, const std::string& bytes,
                                                std::chrono::milliseconds timeout,
                                                const std::shared_ptr<StoreInterrupt>& calls,
                                                std::function<void()> check) {
  const auto failed_check = std::make_shared<StoreInterrupt>();
  Bootstrap::Call call;
  call.purpose = "reading what the other ranks say";
  call.timeout = timeout;
  call.describe_timeout = [&](const std::string& who) {
    return who + " after " + std::to_string(timeout.count()) + " ms: dead, stopped, slow, or in another collective";
  };
  Checking checking(check, failed_check);
  try {
    const StoreLimit of_group(calls), of_check(failed_check);
    return bootstrap.all_gather(bytes, call);
  } catch (const Error& error) {
    checking.stop();
    if (error.code() != ErrorCode::kAborted) throw;
  }
  try {
    if (checking.failure()) {
      // A rank that has closed the group may have done so with the answer in its hands.
      const StoreLimit of_group(calls);
      if (auto gathered = bootstrap.last_answer()) return *std::move(gathered);
      std::rethrow_exception(checking.failure());
    }
    check();  // it may know why
    throw Error(ErrorCode::kAborted, "the exchange through the store was aborted");
  } catch (const Error& error) {
    throw Error(error.code(), error.what() + missing_in(bootstrap));
  }
}

}  // namespace tandem
