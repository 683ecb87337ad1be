#include "nn/forward_state.h"
#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

// Output and loss; LibTorch's forward gives the loss as a number, which has no gradient.
std::tuple<at::Tensor, at::Tensor> with_loss(tn::AdaptiveLogSoftmaxWithLossImpl& module, const at::Tensor& input,
                                             const at::Tensor& target) {
  const at::Tensor output = module.forward(input, target).output;
  return {output, -output.mean()};
}

Made adaptive_log_softmax(ModuleOptions& o) {
  const auto in_features = o.need_count("in_features");
  const auto n_classes = o.need_count("n_classes");
  tn::AdaptiveLogSoftmaxWithLossOptions s(in_features, n_classes, o.need<std::vector<int64_t>>("cutoffs"));
  o.read("div_value", s.div_value()).read("head_bias", s.head_bias());
  // LibTorch draws the parameters twice, Python once: from one seed both are to give the same.
  Made made = without_random_numbers(
      {at::kCPU}, [&] { return wrap_with<tn::AdaptiveLogSoftmaxWithLoss>(o, {"input", "target"}, &with_loss, s); });
  if (made) made->get().as<tn::AdaptiveLogSoftmaxWithLossImpl>()->reset_parameters();
  return made;
}

const Registered kAdaptive[] = {{"AdaptiveLogSoftmaxWithLoss", adaptive_log_softmax}};

}  // namespace

at::ArrayRef<Registered> adaptive_softmaxes() {
  return kAdaptive;
}

}  // namespace tandem::nn
