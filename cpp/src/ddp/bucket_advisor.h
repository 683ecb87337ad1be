// Which bucket size is the quickest, found while training goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tandem/ddp.h"

namespace tandem {

// Has each layout used for a few iterations at a time, in rounds, so that what disturbs the machine for a while does
// not count for one of them alone. After a round layouts that are clearly slower than the best are given up. Ranks that
// call it for the same iterations come to the same end, whatever each has measured.
class BucketAdvisor {
 public:
  struct Layout {
    double size_mb = 0;
    std::int64_t bytes = 0, first_bytes = 0;
    std::vector<std::vector<std::size_t>> buckets;  // of parameters, by number
  };
  // The mean over all ranks of numbers that each rank has; all ranks call it together.
  using Mean = std::function<std::vector<double>(std::vector<double>)>;

  // `layouts` differ, and there is at least one.
  BucketAdvisor(std::vector<Layout> layouts, const BucketTrialOptions& options, Mean mean);

  // What to use first.
  const Layout& first() const { return layouts_.front(); }
  // After an iteration that took so many nanoseconds: what to use from now on; null: no other.
  const Layout* after(std::int64_t nanoseconds);

  bool done() const { return done_; }
  // As known so far.
  std::vector<BucketTrial> trials() const;

 private:
  void end_round();

  const std::vector<Layout> layouts_;
  const int iterations_;
  const int rounds_;
  const Mean mean_;
  std::vector<std::vector<std::int64_t>> samples_;
  std::vector<double> steps_;       // of each layout; 0: none yet
  std::vector<std::size_t> turns_;  // of this round
  std::size_t turn_ = 0;
  int used_ = 0;  // iterations in this turn
  int round_ = 0;
  std::size_t current_ = 0;
  bool done_ = false;
};

}  // namespace tandem
