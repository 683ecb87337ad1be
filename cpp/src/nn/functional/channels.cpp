// What is computed over channels and neighbours: norms, dropout of channels, pools.
#include <cmath>
#include <vector>

#include "base/invalid.h"
#include "tandem/nn_functional.h"

namespace tandem::nn::functional {
namespace {

void check_dropout(const at::Tensor& input, double p, const char* caller, std::int64_t least) {
  if (!(p >= 0 && p <= 1)) invalid(std::string(caller) + ": p is a probability, not " + c10::str(p));
  if (input.dim() != least && input.dim() != least + 1) {
    invalid(std::string(caller) + " takes " + std::to_string(least) + " or " + std::to_string(least + 1) +
            " dimensions, not sizes " + c10::str(input.sizes()));
  }
}

// LibTorch's takes the first dimension for the batch.
at::Tensor dropout_of_channels(const at::Tensor& input, double p, bool training, bool batched) {
  if (batched) return at::feature_dropout(input, p, training);
  return at::feature_dropout(input.unsqueeze(0), p, training).squeeze(0);
}

template <std::size_t D, typename Pool>
at::Tensor lp_pool(const at::Tensor& input, double norm_type, at::IntArrayRef kernel_size,
                   at::OptionalIntArrayRef stride, const char* caller, Pool&& mean) {
  if (kernel_size.size() != 1 && kernel_size.size() != D) {
    invalid(std::string(caller) + ": kernel_size has one number or " + std::to_string(D) + ", not " +
            c10::str(kernel_size));
  }
  double elements = 1;
  for (std::size_t i = 0; i < D; ++i) {
    elements *= static_cast<double>(kernel_size[kernel_size.size() == 1 ? 0 : i]);
  }
  const at::Tensor of_powers = mean(input.pow(norm_type), kernel_size, stride ? *stride : at::IntArrayRef());
  return (of_powers.sign() * of_powers.abs().relu()).mul(elements).pow(1.0 / norm_type);
}

}  // namespace

at::Tensor normalize(const at::Tensor& input, double p, at::IntArrayRef dim, double eps) {
  return input / input.norm(p, dim, true).clamp_min(eps).expand_as(input);
}

at::Tensor gumbel_softmax(const at::Tensor& logits, double tau, bool hard, std::int64_t dim) {
  const at::Tensor gumbels = at::empty_like(logits, at::MemoryFormat::Contiguous).exponential_().log().neg();
  at::Tensor soft = ((logits + gumbels) / tau).softmax(dim);
  if (!hard) return soft;
  const at::Tensor index = std::get<1>(soft.max(dim, true));
  const at::Tensor one_hot = at::zeros_like(logits, at::MemoryFormat::Contiguous).scatter_(dim, index, 1.0);
  return one_hot - soft.detach() + soft;
}

at::Tensor dropout1d(const at::Tensor& input, double p, bool training) {
  check_dropout(input, p, "dropout1d", 2);
  return dropout_of_channels(input, p, training, input.dim() == 3);
}

at::Tensor dropout2d(const at::Tensor& input, double p, bool training) {
  check_dropout(input, p, "dropout2d", 3);
  return dropout_of_channels(input, p, training, true);
}

at::Tensor dropout3d(const at::Tensor& input, double p, bool training) {
  check_dropout(input, p, "dropout3d", 4);
  return dropout_of_channels(input, p, training, input.dim() == 5);
}

at::Tensor local_response_norm(const at::Tensor& input, std::int64_t size, double alpha, double beta, double k) {
  if (input.dim() < 3) {
    invalid("local_response_norm takes [batch, channels, …] of 3 dimensions or more, not sizes " +
            c10::str(input.sizes()));
  }
  if (size < 1) invalid("local_response_norm: size is 1 or more, not " + std::to_string(size));
  if (input.numel() == 0) return input;
  at::Tensor squares = input.mul(input);
  const std::int64_t before = size / 2, after = (size - 1) / 2;
  if (input.dim() == 3) {
    squares = at::constant_pad_nd(squares.unsqueeze(1), {0, 0, before, after});
    squares = at::avg_pool2d(squares, {size, 1}, {1, 1}).squeeze(1);
  } else {
    squares = squares.reshape({input.size(0), 1, input.size(1), input.size(2), -1});
    squares = at::constant_pad_nd(squares, {0, 0, 0, 0, before, after});
    squares = at::avg_pool3d(squares, {size, 1, 1}, {1, 1, 1}).squeeze(1).view(input.sizes());
  }
  return input / squares.mul(alpha).add(k).pow(beta);
}

at::Tensor lp_pool1d(const at::Tensor& input, double norm_type, at::IntArrayRef kernel_size,
                     at::OptionalIntArrayRef stride, bool ceil_mode) {
  return lp_pool<1>(input, norm_type, kernel_size, stride, "lp_pool1d",
                    [&](const auto&... given) { return at::avg_pool1d(given..., 0, ceil_mode); });
}

at::Tensor lp_pool2d(const at::Tensor& input, double norm_type, at::IntArrayRef kernel_size,
                     at::OptionalIntArrayRef stride, bool ceil_mode) {
  return lp_pool<2>(input, norm_type, kernel_size, stride, "lp_pool2d",
                    [&](const auto&... given) { return at::avg_pool2d(given..., 0, ceil_mode); });
}

at::Tensor lp_pool3d(const at::Tensor& input, double norm_type, at::IntArrayRef kernel_size,
                     at::OptionalIntArrayRef stride, bool ceil_mode) {
  return lp_pool<3>(input, norm_type, kernel_size, stride, "lp_pool3d",
                    [&](const auto&... given) { return at::avg_pool3d(given..., 0, ceil_mode); });
}

at::Tensor softmin(const at::Tensor& input, std::int64_t dim, std::optional<at::ScalarType> dtype) {
  return (-input).softmax(dim, dtype);
}

at::Tensor softsign(const at::Tensor& input) {
  return input / (input.abs() + 1);
}

at::Tensor tanhshrink(const at::Tensor& input) {
  return input - input.tanh();
}

}  // namespace tandem::nn::functional
