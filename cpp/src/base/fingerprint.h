// A number that tells data sets apart.
#pragma once

#include <cstdint>

#include "base/mix.h"

namespace tandem {

// Of a sequence of numbers. Checkpoints hold it, so it never changes.
class Fingerprint {
 public:
  void add(std::uint64_t number) { value_ = mix(value_ ^ number); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace tandem
