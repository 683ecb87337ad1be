// The state of LibTorch that a function's result depends on beside its arguments.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace tandem::nn {

// Of the default generators of the CPU and of some devices.
class RandomState {
 public:
  explicit RandomState(const std::vector<at::Device>& devices);
  void restore() const;
  const std::vector<at::Device>& devices() const { return devices_; }

 private:
  std::vector<at::Device> devices_;
  std::vector<at::Tensor> states_;
};

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
