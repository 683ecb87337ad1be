// The state of LibTorch that a function's result depends on beside its arguments.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace tandem::nn {

// Of the generators that this thread draws from, on the CPU and some devices.
class RandomState {
 public:
  explicit RandomState(const std::vector<at::Device>& devices);
  void restore() const;
  const std::vector<at::Device>& devices() const { return devices_; }

 private:
  std::vector<at::Device> devices_;
  std::vector<at::Tensor> states_;
};

// Runs `body`, which may throw, and puts the generators of `devices` back.
template <typename Body>
auto without_random_numbers(const std::vector<at::Device>& devices, Body&& body) {
  struct Restore {
    RandomState before;
    ~Restore() { before.restore(); }
  } const restore{RandomState(devices)};
  return body();
}

// Grad mode and autocast of this thread.
class ModeState {
 public:
  ModeState();
  void restore() const;

 private:
  struct Autocast {
    at::DeviceType device;
    bool enabled;
    at::ScalarType dtype;
  };
  bool grad_;
  std::array<Autocast, 2> autocast_;
};

// What a forward pass began with, to begin with again.
class ForwardState {
 public:
  // The random state is that of the CPU and of the devices that `inputs` are on; not kept without `random`.
  ForwardState(const std::vector<at::Tensor>& inputs, bool random);

  // Puts this thread, and the generators, there, and back at its end.
  class Again {
   public:
    explicit Again(const ForwardState& state);
    ~Again();
    Again(const Again&) = delete;
    Again& operator=(const Again&) = delete;

   private:
    ModeState modes_before_;
    std::optional<RandomState> random_before_;
  };

 private:
  ModeState modes_;
  std::optional<RandomState> random_;
};

}  // namespace tandem::nn
