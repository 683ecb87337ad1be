#include <ATen/ATen.h>

#include "ddp/parts.h"

namespace tandem {
namespace {

// While it lives, only `kept` have their gradients, so that an optimizer steps them alone.
class OnlyTheseGradients {
 public:
  OnlyTheseGradients(const std::vector<at::Tensor>& all, const std::vector<at::Tensor>& kept,
                     const std::vector<at::Tensor>& gradients)
      : all_(all), kept_(kept) {
    for (const at::Tensor& parameter : all_) hidden_.push_back(std::exchange(parameter.mutable_grad(), at::Tensor()));
    for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i].mutable_grad() = gradients[i];
  }
  ~OnlyTheseGradients() {
    for (std::size_t i = 0; i < all_.size(); ++i) all_[i].mutable_grad() = std::move(hidden_[i]);
    for (const at::Tensor& parameter : kept_) parameter.mutable_grad() = at::Tensor();  // used up
  }
  OnlyTheseGradients(const OnlyTheseGradients&) = delete;
  OnlyTheseGradients& operator=(const OnlyTheseGradients&) = delete;

 private:
  const std::vector<at::Tensor>& all_;
  const std::vector<at::Tensor>& kept_;
  std::vector<at::Tensor> hidden_;
};

}  // namespace

CommHook step_after(CommHook hook, std::shared_ptr<optim::Optimizer> optimizer, std::vector<at::Tensor> parameters) {
  return [hook = std::move(hook), optimizer = std::move(optimizer),
          parameters = std::move(parameters)](c10d::GradBucket& bucket) {
    return then_convert(hook(bucket), [given = bucket, optimizer, parameters](const at::Tensor& result) {
      const std::vector<at::Tensor> stepped = given.getParameters();
      std::vector<at::Tensor> gradients = {result};
      if (!result.is_sparse()) {
        c10d::GradBucket averaged = given;
        averaged.setBuffer(const_cast<at::Tensor&>(result));
        gradients = averaged.getGradients();
      }
      const OnlyTheseGradients only(parameters, stepped, gradients);
      optimizer->step();
      return result;
    });
  };
}

}  // namespace tandem
