#include "tandem/nn_init.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/invalid.h"

namespace tandem::nn::init {
namespace {

struct Fans {
  double in, out;
};

Fans fans(const at::Tensor& tensor, const char* caller) {
  if (tensor.dim() < 2) {
    invalid(std::string(caller) + ": fan in and fan out are those of at least 2 dimensions, not of " +
            c10::str(tensor.sizes()));
  }
  double receptive_field = 1;
  for (const std::int64_t size : tensor.sizes().slice(2)) receptive_field *= static_cast<double>(size);
  return {static_cast<double>(tensor.size(1)) * receptive_field, static_cast<double>(tensor.size(0)) * receptive_field};
}

double xavier_std(const at::Tensor& tensor, double gain, const char* caller) {
  const Fans fan = fans(tensor, caller);
  return gain * std::sqrt(2.0 / (fan.in + fan.out));
}

double kaiming_std(const at::Tensor& tensor, double a, std::string mode, const std::string& nonlinearity,
                   const char* caller) {
  std::transform(mode.begin(), mode.end(), mode.begin(), [](unsigned char c) { return std::tolower(c); });
  if (mode != "fan_in" && mode != "fan_out") {
    invalid(std::string(caller) + ": mode is \"fan_in\" or \"fan_out\", not \"" + mode + "\"");
  }
  const Fans fan = fans(tensor, caller);
  return calculate_gain(nonlinearity, a) / std::sqrt(mode == "fan_in" ? fan.in : fan.out);
}

void need_matrix(const at::Tensor& tensor, const char* caller) {
  if (tensor.dim() == 2) return;
  invalid(std::string(caller) + " takes a matrix, not a tensor of sizes " + c10::str(tensor.sizes()));
}

double normal_cdf(double x) {
  return (1.0 + std::erf(x / std::sqrt(2.0))) / 2.0;
}

}  // namespace

double calculate_gain(const std::string& nonlinearity, std::optional<double> param) {
  static constexpr std::array<const char*, 8> kOne = {
      "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"};
  if (std::find(kOne.begin(), kOne.end(), nonlinearity) != kOne.end()) return 1;
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") return std::sqrt(2.0 / (1 + std::pow(param.value_or(0.01), 2)));
  if (nonlinearity == "selu") return 3.0 / 4;
  invalid("calculate_gain knows no nonlinearity \"" + nonlinearity +
          "\"; it knows linear, conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, sigmoid, "
          "tanh, relu, leaky_relu and selu");
}

at::Tensor uniform_(const at::Tensor& tensor, double a, double b, const Generator& generator) {
  const at::NoGradGuard no_grad;
  return tensor.uniform_(a, b, generator);
}

at::Tensor normal_(const at::Tensor& tensor, double mean, double std, const Generator& generator) {
  const at::NoGradGuard no_grad;
  return tensor.normal_(mean, std, generator);
}

at::Tensor trunc_normal_(const at::Tensor& tensor, double mean, double std, double a, double b,
                         const Generator& generator) {
  const at::NoGradGuard no_grad;
  // Uniform between the values that the distribution function has at a and b; its inverse does the rest.
  const double low = normal_cdf((a - mean) / std), high = normal_cdf((b - mean) / std);
  tensor.uniform_(2 * low - 1, 2 * high - 1, generator);
  return tensor.erfinv_().mul_(std * std::sqrt(2.0)).add_(mean).clamp_(a, b);
}

at::Tensor constant_(const at::Tensor& tensor, double val) {
  const at::NoGradGuard no_grad;
  return tensor.fill_(val);
}

at::Tensor ones_(const at::Tensor& tensor) {
  return constant_(tensor, 1);
}

at::Tensor zeros_(const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  return tensor.zero_();
}

at::Tensor eye_(const at::Tensor& tensor) {
  need_matrix(tensor, "eye_");
  const at::NoGradGuard no_grad;
  at::Tensor out = tensor;
  return at::eye_out(out, tensor.size(0), tensor.size(1));
}

at::Tensor dirac_(const at::Tensor& tensor, std::int64_t groups) {
  if (tensor.dim() < 3 || tensor.dim() > 5) {
    invalid("dirac_ takes weights of 3, 4 or 5 dimensions, not of sizes " + c10::str(tensor.sizes()));
  }
  if (groups < 1 || tensor.size(0) % groups != 0) {
    invalid("dirac_: the " + std::to_string(tensor.size(0)) + " output channels are not divisible into " +
            std::to_string(groups) + " groups");
  }
  const at::NoGradGuard no_grad;
  tensor.zero_();
  at::Tensor centre = tensor;  // [out, in]
  while (centre.dim() > 2) centre = centre.select(2, centre.size(2) / 2);
  const std::int64_t out = tensor.size(0) / groups;
  for (std::int64_t g = 0; g < groups; ++g) centre.narrow(0, g * out, out).diagonal().fill_(1);
  return tensor;
}

at::Tensor xavier_uniform_(const at::Tensor& tensor, double gain, const Generator& generator) {
  const double bound = std::sqrt(3.0) * xavier_std(tensor, gain, "xavier_uniform_");
  return uniform_(tensor, -bound, bound, generator);
}

at::Tensor xavier_normal_(const at::Tensor& tensor, double gain, const Generator& generator) {
  return normal_(tensor, 0, xavier_std(tensor, gain, "xavier_normal_"), generator);
}

at::Tensor kaiming_uniform_(const at::Tensor& tensor, double a, const std::string& mode,
                            const std::string& nonlinearity, const Generator& generator) {
  if (tensor.numel() == 0) return tensor;
  const double bound = std::sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity, "kaiming_uniform_");
  return uniform_(tensor, -bound, bound, generator);
}

at::Tensor kaiming_normal_(const at::Tensor& tensor, double a, const std::string& mode, const std::string& nonlinearity,
                           const Generator& generator) {
  if (tensor.numel() == 0) return tensor;
  return normal_(tensor, 0, kaiming_std(tensor, a, mode, nonlinearity, "kaiming_normal_"), generator);
}

at::Tensor orthogonal_(const at::Tensor& tensor, double gain, const Generator& generator) {
  if (tensor.dim() < 2) {
    invalid("orthogonal_ takes at least 2 dimensions, not sizes " + c10::str(tensor.sizes()));
  }
  if (tensor.numel() == 0) return tensor;
  const at::NoGradGuard no_grad;
  const std::int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  at::Tensor random = at::empty({rows, columns}, tensor.options()).normal_(0, 1, generator);
  if (rows < columns) random = random.t();
  auto [q, r] = at::linalg_qr(random);
  // The signs that make the factorization unique make the matrix uniformly distributed.
  q.mul_(r.diagonal().sign());
  if (rows < columns) q = q.t();
  tensor.copy_(q.reshape(tensor.sizes()));
  return tensor.mul_(gain);
}

at::Tensor sparse_(const at::Tensor& tensor, double sparsity, double std, const Generator& generator) {
  need_matrix(tensor, "sparse_");
  if (!(sparsity >= 0 && sparsity <= 1)) {
    invalid("sparse_: sparsity is a fraction from 0 to 1, not " + std::to_string(sparsity));
  }
  const at::NoGradGuard no_grad;
  const std::int64_t rows = tensor.size(0);
  const auto zeros = static_cast<std::int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  const at::TensorOptions indices = at::TensorOptions(at::kLong).device(generator ? generator->device() : at::kCPU);
  tensor.normal_(0, std, generator);
  for (std::int64_t column = 0; column < tensor.size(1); ++column) {
    const at::Tensor order = at::randperm(rows, generator, indices).narrow(0, 0, zeros);
    tensor.select(1, column).index_fill_(0, order.to(tensor.device()), 0);
  }
  return tensor;
}

}  // namespace tandem::nn::init
