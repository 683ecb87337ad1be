#include <c10/util/irange.h>

#include <cmath>

#include "data/convert.h"
#include "data/transform/field_transform.h"

namespace tandem {
namespace {

using transform::FieldTransform;

class Normalize final : public FieldTransform {
 public:
  Normalize(const char* step, Fields fields, const std::vector<double>& mean, const std::vector<double>& std,
            double scale)
      : FieldTransform(step, std::move(fields)) {
    if (mean.empty() || mean.size() != std.size()) {
      invalid(std::string(step) + " needs as many means as stds, not " + std::to_string(mean.size()) + " and " +
              std::to_string(std.size()));
    }
    if (!std::isfinite(scale) || scale == 0) invalid(std::string(step) + ": scale is " + std::to_string(scale));
    for (const std::size_t i : c10::irange(mean.size())) {
      if (!(std[i] > 0) || !std::isfinite(mean[i])) {
        invalid(std::string(step) + ": mean " + std::to_string(mean[i]) + ", std " + std::to_string(std[i]) +
                "; std must be positive");
      }
      multiply_.push_back(scale / std[i]);
      add_.push_back(-mean[i] / std[i]);
    }
  }

 private:
  at::Tensor changed(const at::Tensor& x, const Batch&) const override {
    if (x.is_complex() || x.scalar_type() == at::kBool) {
      invalid(std::string(c10::toString(x.scalar_type())) + " cannot be normalized");
    }
    const auto channels = static_cast<std::int64_t>(multiply_.size());
    if (channels > 1 && (x.dim() < 2 || x.size(1) != channels)) {
      invalid("there are means of " + std::to_string(channels) + " channels, but the tensor is " + c10::str(x.sizes()));
    }
    const Convert convert = find_conversion_to_float(static_cast<Element>(x.scalar_type()));
    if (convert && x.scalar_type() != at::kDouble && x.is_cpu()) return in_one_pass(x.contiguous(), convert);
    const at::ScalarType dtype = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
    if (channels > 1) shape[1] = channels;
    const auto per_channel = [&](const std::vector<double>& values) {
      const at::Tensor tensor = at::tensor(values, at::kDouble).to(x.options().dtype(dtype));
      return channels > 1 ? tensor.view(shape) : tensor.squeeze(0);
    };
    return x.to(dtype).mul(per_channel(multiply_)).add_(per_channel(add_));
  }

  // As the loader converts fields; LibTorch's operators would go over the pixels three times.
  at::Tensor in_one_pass(const at::Tensor& x, Convert convert) const {
    at::Tensor out = at::empty(x.sizes(), at::kFloat);
    const auto channels = static_cast<std::int64_t>(multiply_.size());
    const std::int64_t planes = channels > 1 ? x.size(0) * channels : 1;
    if (x.numel() == 0) return out;
    const std::int64_t plane = x.numel() / planes;
    const auto* const from = static_cast<const std::uint8_t*>(x.const_data_ptr());
    float* const to = out.mutable_data_ptr<float>();
    const auto element = static_cast<std::int64_t>(x.element_size());
    for (const std::int64_t i : c10::irange(planes)) {
      const auto channel = static_cast<std::size_t>(i % channels);
      convert(from + i * plane * element, to + i * plane, static_cast<std::size_t>(plane),
              static_cast<float>(multiply_[channel]), static_cast<float>(add_[channel]));
    }
    return out;
  }

  std::vector<double> multiply_, add_;
};

}  // namespace

std::unique_ptr<BatchTransform> to_float(Fields fields, double scale) {
  return std::make_unique<Normalize>("to_float", std::move(fields), std::vector<double>{0}, std::vector<double>{1},
                                     scale);
}

std::unique_ptr<BatchTransform> normalize(Fields fields, std::vector<double> mean, std::vector<double> std,
                                          double scale) {
  return std::make_unique<Normalize>("normalize", std::move(fields), mean, std, scale);
}

}  // namespace tandem
