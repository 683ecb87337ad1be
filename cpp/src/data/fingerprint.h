// A number that tells data sets apart.
#pragma once

#include <cstdint>

namespace tandem {

// Of a sequence of numbers. Checkpoints hold it, so it never changes.
class Fingerprint {
 public:
  void add(std::uint64_t number) {
    // splitmix64's steps, each on what came before.
    std::uint64_t z = (value_ ^ number) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    value_ = z ^ (z >> 31);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace tandem
