// Rotary embeddings of positions (Su et al. 2021), in the layout of Hugging Face's Llama: the two numbers of a pair are
// half a head apart.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <utility>

namespace tandem::models {

// How frequencies are changed for longer texts than a model began with. "linear" divides them by `factor`; "llama3"
// divides the slow ones, leaves the fast ones, and interpolates in between.
struct RotaryScaling {
  std::string rope_type = "default";
  double factor = 1, low_freq_factor = 1, high_freq_factor = 4;
  std::int64_t original_max_position_embeddings = 8192;
};

// [head_dim / 2], of float: what a position's number is multiplied with.
at::Tensor rotary_frequencies(std::int64_t head_dim, double theta, const RotaryScaling& scaling,
                              const at::TensorOptions& options);

// Cosines and sines for position_ids [batch or 1, length], of that dtype: [batch or 1, 1, length, head_dim].
std::pair<at::Tensor, at::Tensor> rotary_waves(const at::Tensor& position_ids, const at::Tensor& frequencies,
                                               at::ScalarType dtype);

// Of [batch, heads, length, head_dim].
at::Tensor rotate(const at::Tensor& heads, const std::pair<at::Tensor, at::Tensor>& waves);

}  // namespace tandem::models
