#include "models/text/rotary.h"

#include <cmath>

namespace tandem::models {

at::Tensor rotary_frequencies(std::int64_t head_dim, double theta, const RotaryScaling& scaling,
                              const at::TensorOptions& options) {
  const at::Tensor powers = at::arange(0, head_dim, 2, options.dtype(at::kFloat)) / static_cast<double>(head_dim);
  const at::Tensor plain = 1.0 / at::pow(theta, powers);
  if (scaling.rope_type == "linear") return plain / scaling.factor;
  if (scaling.rope_type != "llama3") return plain;
  const auto original = static_cast<double>(scaling.original_max_position_embeddings);
  const double longest = original / scaling.low_freq_factor, shortest = original / scaling.high_freq_factor;
  const at::Tensor lengths = 2 * M_PI / plain;
  const at::Tensor slow = at::where(lengths.gt(longest), plain / scaling.factor, plain);
  const at::Tensor part =
      (original / lengths - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
  const at::Tensor between = (1 - part) * slow / scaling.factor + part * slow;
  return at::where(lengths.lt(shortest).logical_or(lengths.gt(longest)), slow, between);
}

std::pair<at::Tensor, at::Tensor> rotary_waves(const at::Tensor& position_ids, const at::Tensor& frequencies,
                                               at::ScalarType dtype) {
  // In float, whatever the model's dtype: half precision has too few digits for positions.
  const at::Tensor angles = position_ids.to(at::kFloat).unsqueeze(-1) * frequencies;
  const at::Tensor both = at::cat({angles, angles}, -1).unsqueeze(1);
  return {both.cos().to(dtype), both.sin().to(dtype)};
}

at::Tensor rotate(const at::Tensor& heads, const std::pair<at::Tensor, at::Tensor>& waves) {
  const auto halves = heads.chunk(2, -1);
  return heads * waves.first + at::cat({-halves[1], halves[0]}, -1) * waves.second;
}

}  // namespace tandem::models
