// When what happened in the iterations of a reducer, and iterations that exchange apart from computing.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tandem/ddp.h"

namespace tandem {

// An iteration goes from the first forward to the averaged gradients of the backward that follows. What happens is told
// by the thread that trains, ends of exchanges by any.
class StepTimer : public std::enable_shared_from_this<StepTimer> {
 public:
  // Of the last iterations.
  static constexpr std::size_t kKept = 256;

  // `together` has all ranks wait for each other.
  explicit StepTimer(std::function<void()> together);

  // `continues`: an earlier forward waits for the same backward.
  void begin_forward(bool continues);
  // What comes before the module's forward (buffers, who is there) is exchanged.
  void forward_exchanged();
  void end_forward();
  // Within backward, when its first gradient is there: has the end of computing and of the iteration noted.
  void begin_backward();
  // The other ranks make an iteration that this one only takes part in.
  void count_shadow();

  // An exchange of a bucket in this iteration. Empty outside of one.
  using Ticket = std::optional<std::pair<std::uint64_t, std::size_t>>;
  Ticket begin_exchange(std::int64_t bytes);
  void end_exchange(const Ticket& ticket);

  // Another one after each begin_forward() that begins an iteration.
  std::uint64_t iteration() const;

  // Whether exchanges are to be given to hold(), which runs them, one after the other, when backward has computed
  // everything. They report their failures where their results are waited for.
  bool holds() const;
  void hold(std::function<void()> exchange);

  void set_rate(int rate);
  // Every so many iterations exchanges are held; 0: never.
  void set_separate(std::int64_t every);
  // While on, none are held whatever that says.
  void suspend_separate(bool on);

  std::vector<DataParallelIteration> iterations() const;
  void forget();
  // How many there were, and what the last one took.
  struct Last {
    std::int64_t number = 0, total = 0;
  };
  Last last() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Span {
    const char* name;
    Clock::time_point begun, ended;
  };
  struct Open {
    DataParallelIteration noted;
    Clock::time_point begun, forward_begun, backward_begun, computed;
    bool in_backward = false;
    std::vector<Span> spans;  // of forwards, for a trace
  };
  void end_compute();
  void end_step();
  // The iteration that ends, as events of the process's trace.
  void trace(Clock::time_point ended) const;

  const std::function<void()> together_;
  const int track_;  // in a trace
  mutable std::mutex mutex_;
  std::optional<Open> open_;
  std::uint64_t opened_ = 0;  // tickets of iterations that were given up are refused
  std::int64_t number_ = 0;   // of the next iteration
  std::int64_t last_total_ = 0;
  std::int64_t rate_ = 1;
  std::int64_t separate_every_ = 0;
  bool suspended_ = false;
  bool holds_ = false;
  std::vector<std::function<void()>> held_;
  std::deque<DataParallelIteration> kept_;
};

}  // namespace tandem
