// Averages of weights over training: exponential moving (EMA) and stochastic weight averaging (SWA).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/export.h"

namespace tandem::optim {

enum class Averaging {
  kEma,  // average = decay * average + (1 - decay) * weight. Source: swa_utils.get_ema_multi_avg_fn
  kSwa,  // the mean of all updates. Source: swa_utils.get_swa_multi_avg_fn
};

struct AveragedOptions {
  Averaging averaging = Averaging::kSwa;
  double decay = 0.999;  // of kEma; from 0 to 1
  // Averages buffers like parameters; else they are copied at each update.
  bool use_buffers = false;
  std::optional<at::Device> device = std::nullopt;  // of the averages; unset: each one's own
};

// Averages of a model's parameters, and of its buffers, beside them. Not thread-safe.
//
//   AveragedParameters ema(parameters, buffers, {.averaging = Averaging::kEma, .decay = 0.99});
//   for (...) { ...; optimizer->step(); ema.update(); }
//   ema.swap(); evaluate(); ema.swap();
//
// Source: torch.optim.swa_utils.AveragedModel.
class TANDEM_API AveragedParameters {
 public:
  // Keeps the tensors; the averages begin as copies. Throws tandem::Error (kInvalidArgument) for a decay out of range
  // or a tensor that is undefined or sparse.
  AveragedParameters(std::vector<at::Tensor> parameters, std::vector<at::Tensor> buffers,
                     const AveragedOptions& options);

  // Takes what the tensors have now into the averages; the first time they become that. Call it after the optimizer's
  // step, for kSwa perhaps at the end of epochs alone. Numbers that are whole are rounded towards zero.
  void update();

  // Exchanges the numbers of the tensors and the averages, to evaluate with these, and back.
  void swap();

  const std::vector<at::Tensor>& parameters() const { return parameters_.averages; }
  const std::vector<at::Tensor>& buffers() const { return buffers_.averages; }
  std::int64_t n_averaged() const { return n_averaged_; }

  // "n_averaged", "parameter.INDEX" and "buffer.INDEX", sharing storage.
  std::vector<std::pair<std::string, at::Tensor>> state() const;
  // Copies. All or nothing. Throws tandem::Error (kInvalidArgument) for names that are missing or unknown, or wrong
  // sizes.
  void load_state(const std::vector<std::pair<std::string, at::Tensor>>& state);

 private:
  struct List {
    std::vector<at::Tensor> tensors, averages;
  };

  void copy(const List& list);
  void average(const List& list);

  AveragedOptions options_;
  List parameters_, buffers_;
  std::int64_t n_averaged_ = 0;
};

}  // namespace tandem::optim
