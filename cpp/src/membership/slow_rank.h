// Which rank of an epoch the others wait for, time and again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tandem::membership {

// Looks come once a second. Ranks that take turns in being the last, and the pauses that all training has (a first
// step, a checkpoint, an evaluation by one rank), are nothing to speak of: a rank is named once it alone was waited for
// in half of the looks of a while, with several steps in it, and nobody else was in any; or when a step lasts much
// longer than steps do, and it alone is waited for all that time. Once each, until it is another one.
class SlowRank {
 public:
  static constexpr std::int64_t kNone = -1;

  struct Named {
    std::int64_t member;
    std::string text;  // "is slow: …", to follow its name
  };
  // `awaited`: the only one of this moment that does not wait for others. `step`: that all have completed.
  std::optional<Named> look(std::int64_t awaited, std::int64_t step);

 private:
  std::optional<Named> name(std::int64_t member, const std::string& text);

  // Since the while began.
  std::int64_t looks_ = 0;
  std::optional<std::int64_t> first_step_;
  std::int64_t only_ = kNone;  // who was awaited
  std::int64_t times_ = 0;
  bool takes_turns_ = false;  // others were, too
  // In this step.
  std::int64_t step_ = kNone;
  std::int64_t in_a_row_ = 0;  // looks in which `last_` was awaited
  std::int64_t last_ = kNone;
  std::int64_t usual_ = 0;  // looks that a step takes, rounded up; 0: not known yet
  std::int64_t named_ = kNone;
};

}  // namespace tandem::membership
