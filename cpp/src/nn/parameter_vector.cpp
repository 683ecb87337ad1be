#include <string>
#include <vector>

#include "base/invalid.h"
#include "tandem/nn_utils.h"

namespace tandem::nn::utils {

at::Tensor parameters_to_vector(at::TensorList parameters) {
  if (parameters.empty()) invalid("parameters_to_vector was given no parameters");
  std::vector<at::Tensor> flat;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].device() != parameters.front().device()) {
      invalid("parameter " + std::to_string(i) + " is on " + parameters[i].device().str() + ", the first on " +
              parameters.front().device().str() + "; a vector has one device");
    }
    flat.push_back(parameters[i].reshape(-1));
  }
  return at::cat(flat);
}

void vector_to_parameters(const at::Tensor& vec, at::TensorList parameters) {
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i];
    if (parameter.device() != vec.device() || parameter.scalar_type() != vec.scalar_type()) {
      invalid("the vector is " + c10::str(vec.scalar_type()) + " on " + vec.device().str() + ", parameter " +
              std::to_string(i) + " " + c10::str(parameter.scalar_type()) + " on " + parameter.device().str());
    }
    elements += parameter.numel();
  }
  if (vec.dim() != 1 || vec.numel() != elements) {
    invalid("the parameters have " + std::to_string(elements) + " elements, the vector's sizes are " +
            c10::str(vec.sizes()));
  }
  const at::Tensor data = vec.detach();
  std::int64_t begin = 0;
  for (const at::Tensor& parameter : parameters) {
    parameter.set_data(data.narrow(0, begin, parameter.numel()).view(parameter.sizes()));
    begin += parameter.numel();
  }
}

}  // namespace tandem::nn::utils
