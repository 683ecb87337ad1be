#include "optim/parameters.h"

#include <unordered_set>

#include "base/invalid.h"

namespace tandem::optim {

void check_parameters(const char* type, const std::vector<at::Tensor>& parameters, std::size_t count,
                      const std::function<std::string(const at::Tensor&)>& refusal) {
  std::unordered_set<const void*> seen;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i];
    std::string wrong = refusal(parameter);
    if (!parameter.is_leaf())
      wrong = "is no leaf of the graph: it was computed, and an update would not reach its source";
    if (!parameter.is_floating_point() && !parameter.is_complex())
      wrong = "is " + parameter.toString() + ", which has no gradient";
    if (!seen.insert(parameter.unsafeGetTensorImpl()).second) wrong = "is there a second time";
    if (i >= count && !wrong.empty()) invalid(std::string(type) + ": parameter " + std::to_string(i) + " " + wrong);
  }
}

at::Tensor evaluated(const char* type, const Optimizer::Closure& closure) {
  if (!closure) invalid(std::string(type) + ": the closure is empty");
  at::AutoGradMode grad(true);
  const at::Tensor loss = closure();
  if (!loss.defined() || loss.numel() != 1) {
    invalid(std::string(type) + ": the closure gave " +
            (loss.defined() ? "a tensor of " + std::to_string(loss.numel()) + " numbers" : "nothing") +
            "; it must give the loss, a tensor of one number");
  }
  return loss;
}

}  // namespace tandem::optim
