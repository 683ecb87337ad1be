#include "ddp/parameters.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <unordered_set>

#include "base/invalid.h"
#include "tandem/error.h"

namespace tandem {
namespace {

void check(const at::Tensor& parameter, const std::string& name) {
  if (!parameter.defined()) invalid(called(name) + " is undefined");
  const auto check_that = [&](bool right, const char* wrong) {
    if (!right) invalid(called(name) + " " + wrong);
  };
  check_that(!parameter.requires_grad() || parameter.is_leaf(), "is the result of an operation; give the leaf tensor");
  check_that(!parameter.is_inference(),
             "was made in inference mode, where tensors take no part in training; make the module outside of it");
  check_that(parameter.layout() == at::kStrided,
             "is sparse; only dense parameters are trained (their gradients may be sparse)");
  check_that(!parameter.is_meta(), "is on the device 'meta' and has no data; give it some first");
}

}  // namespace

std::string called(const std::string& name) {
  return "parameter '" + name + "'";
}

ParameterList check_parameters(ParameterList given, const std::vector<std::string>& ignored) {
  const std::size_t count = given.tensors.size();
  if (given.names.empty()) {
    for (std::size_t i = 0; i < count; ++i) given.names.push_back(std::to_string(i));
  }
  if (given.names.size() != count) {
    invalid("got " + std::to_string(given.names.size()) + " names for " + std::to_string(count) + " parameters");
  }
  given.sparse_gradients.resize(count, false);

  ParameterList kept;
  std::unordered_set<const c10::TensorImpl*> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const at::Tensor& parameter = given.tensors[i];
    const std::string& name = given.names[i];
    if (std::find(ignored.begin(), ignored.end(), name) != ignored.end()) continue;
    check(parameter, name);
    if (!seen.insert(parameter.unsafeGetTensorImpl()).second) continue;
    kept.tensors.push_back(parameter);
    kept.names.push_back(name);
    kept.sparse_gradients.push_back(given.sparse_gradients[i]);
  }
  return kept;
}

std::vector<at::Tensor> check_buffers(std::vector<at::Tensor> buffers) {
  std::unordered_set<const c10::TensorImpl*> seen;
  std::vector<at::Tensor> kept;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].defined()) invalid("buffer " + std::to_string(i) + " is undefined");
    if (buffers[i].is_inference()) {
      invalid("buffer " + std::to_string(i) + " was made in inference mode and cannot be broadcast into");
    }
    if (seen.insert(buffers[i].unsafeGetTensorImpl()).second) kept.push_back(buffers[i]);
  }
  return kept;
}

}  // namespace tandem
