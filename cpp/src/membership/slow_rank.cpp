#include "membership/slow_rank.h"

#include <algorithm>
#include <utility>

namespace tandem::membership {
namespace {

constexpr std::int64_t kLooks = 20;
constexpr std::int64_t kSteps = 5;
constexpr std::int64_t kLongFactor = 5;
constexpr std::int64_t kLongLooks = 10;

}  // namespace

std::optional<SlowRank::Named> SlowRank::name(std::int64_t member, const std::string& text) {
  if (std::exchange(named_, member) == member) return std::nullopt;
  return Named{member, text};
}

std::optional<SlowRank::Named> SlowRank::look(std::int64_t awaited, std::int64_t step) {
  if (!first_step_) first_step_ = step;
  ++looks_;
  if (awaited != kNone) {
    takes_turns_ |= only_ != kNone && only_ != awaited;
    only_ = awaited;
    ++times_;
  }
  in_a_row_ = awaited != kNone && awaited == last_ && step == step_ ? in_a_row_ + 1 : 0;
  last_ = awaited;
  step_ = step;
  if (usual_ > 0 && in_a_row_ == std::max(kLongLooks, kLongFactor * usual_)) {
    return name(awaited, "is slow: all others have waited for it for " + std::to_string(in_a_row_) +
                             " s, in which no step was completed");
  }
  const std::int64_t steps = step - *first_step_;
  if (looks_ < kLooks || steps < kSteps) return std::nullopt;
  const std::int64_t looks = std::exchange(looks_, 0), times = std::exchange(times_, 0);
  const std::int64_t only = std::exchange(only_, kNone);
  const bool takes_turns = std::exchange(takes_turns_, false);
  first_step_ = step;
  usual_ = (looks + steps - 1) / steps;
  if (takes_turns || 2 * times < looks) return std::nullopt;
  return name(only, "is slow: in " + std::to_string(times) + " of the last " + std::to_string(looks) +
                        " s all others waited for it");
}

}  // namespace tandem::membership
