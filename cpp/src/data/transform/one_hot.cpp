#include "data/transform/field_transform.h"

namespace tandem {
namespace {

using transform::FieldTransform;

class OneHot final : public FieldTransform {
 public:
  OneHot(Fields fields, std::int64_t classes, double smoothing)
      : FieldTransform("one_hot", std::move(fields)), classes_(classes), smoothing_(smoothing) {
    if (classes < 1) invalid("one_hot: classes is " + std::to_string(classes) + ", but must be at least 1");
    if (!(smoothing >= 0 && smoothing < 1)) {
      invalid("one_hot: smoothing is " + std::to_string(smoothing) + ", but must be from 0 to less than 1");
    }
  }

 private:
  at::Tensor changed(const at::Tensor& labels, const Batch&) const override {
    if (!at::isIntegralType(labels.scalar_type(), /*includeBool=*/false)) {
      invalid(std::string("labels are integers, not ") + c10::toString(labels.scalar_type()));
    }
    const at::Tensor index = labels.to(at::kLong);
    const at::Tensor strangers = index.lt(0).logical_or_(index.ge(classes_));
    if (strangers.any().item<bool>()) {
      const at::Tensor first = strangers.reshape({-1}).nonzero()[0][0];
      const auto at = first.item<std::int64_t>();
      throw Error(ErrorCode::kOutOfRange, "label " + std::to_string(index.reshape({-1})[at].item<std::int64_t>()) +
                                              " of sample " + std::to_string(at * labels.size(0) / labels.numel()) +
                                              " is none of the " + std::to_string(classes_) + " classes");
    }
    std::vector<std::int64_t> sizes = labels.sizes().vec();
    sizes.push_back(classes_);
    return at::full(sizes, smoothing_ / static_cast<double>(classes_), labels.options().dtype(at::kFloat))
        .scatter_(-1, index.unsqueeze(-1), 1 - smoothing_ + smoothing_ / static_cast<double>(classes_));
  }

  std::int64_t classes_;
  double smoothing_;
};

}  // namespace

std::unique_ptr<BatchTransform> one_hot(Fields fields, std::int64_t classes, double smoothing) {
  return std::make_unique<OneHot>(std::move(fields), classes, smoothing);
}

}  // namespace tandem
