// Loss scaling for training in float16.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>

#include "tandem/export.h"
#include "tandem/optim.h"

namespace tandem::optim {

// Keeps float16 gradients away from zero and infinity: the loss is multiplied by a scale that grows while gradients
// stay finite and shrinks when they do not, in which case the optimizer's step is left out.
//
//   scaler.scale(loss).backward();
//   scaler.unscale(optimizer);     // only to look at gradients, or to clip them
//   scaler.step(optimizer);
//   scaler.update();
//
// Several optimizers may share one: each has its step, then there is one update. Not thread-safe.
// Source: torch.amp.GradScaler.
class TANDEM_API GradScaler {
 public:
  struct Settings {
    double init_scale = 65536;
    double growth_factor = 2;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;
    bool enabled = true;
  };

  // What a checkpoint has to hold.
  struct State {
    double scale = 1;
    double growth_factor = 2;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;
    std::int64_t growth_tracker = 0;  // steps in a row with finite gradients
  };

  // Throws tandem::Error (kInvalidArgument) for factors on the wrong side of one.
  explicit GradScaler(const Settings& settings);

  at::Tensor scale(const at::Tensor& tensor) const;

  // Divides the gradients of the optimizer's parameters by the scale and notes whether all are finite. Throws
  // tandem::Error (kInvalidArgument) when that was done since the last update, and for float16 gradients.
  void unscale(const Optimizer& optimizer);

  // Unscales, unless that was done, and steps if all gradients are finite; returns whether it did. Throws tandem::Error
  // (kInvalidArgument) on a second step before update, and when no parameter has a gradient.
  bool step(Optimizer& optimizer);

  // Adapts the scale to what the steps since the last update found. Throws tandem::Error (kInvalidArgument) when there
  // were none.
  void update();
  // Sets the scale, which must be above zero.
  void update(double new_scale);

  // A scaler that is not enabled has a scale of one.
  State state() const;
  void set_state(const State& state);

 private:
  enum class Stage { kUnscaled, kStepped };
  struct Progress {
    Stage stage = Stage::kUnscaled;
    std::map<at::Device, at::Tensor, bool (*)(const at::Device&, const at::Device&)> found_inf;
    Progress();
  };

  Progress& unscaled(const Optimizer& optimizer);

  Settings settings_;
  at::Tensor scale_;    // float32, one element
  at::Tensor tracker_;  // int32, one element
  std::map<const Optimizer*, Progress> progress_;
};

}  // namespace tandem::optim
