// Sources of random numbers.
#pragma once

#include <cstdint>

#include "tandem/abi/tensor.hpp"

namespace tandem::abi {

// A source of random numbers on one device, for operators that take one. Operators draw from it one at a time. Source:
// torch.Generator.
class Generator {
 public:
  // None: operators draw from the device's default generator.
  Generator() = default;
  // With LibTorch's default seed.
  explicit Generator(const Device& device) { check(tdm_generator_create(device.raw(), handle_.out())); }
  // The one that operators use which are given none.
  static Generator default_of(const Device& device) {
    Generator generator;
    check(tdm_generator_default(device.raw(), generator.handle_.out()));
    return generator;
  }

  void manual_seed(uint64_t seed) { check(tdm_generator_manual_seed(raw(), seed)); }
  uint64_t initial_seed() const {
    uint64_t seed = 0;
    check(tdm_generator_initial_seed(raw(), &seed));
    return seed;
  }
  Tensor state() const {
    tdm_tensor* state = nullptr;
    check(tdm_generator_get_state(raw(), &state));
    return Tensor(state);
  }
  void set_state(const Tensor& state) { check(tdm_generator_set_state(raw(), state.raw())); }

  tdm_generator* raw() const { return handle_.get(); }

 private:
  Handle<tdm_generator, tdm_generator_free> handle_;
};

// Of the generator that operators use which are given none. Source: torch.get_rng_state, torch.cuda.get_rng_state.
inline Tensor rng_state(const Device& device) {
  return Generator::default_of(device).state();
}
inline void set_rng_state(const Device& device, const Tensor& state) {
  Generator::default_of(device).set_state(state);
}

}  // namespace tandem::abi
