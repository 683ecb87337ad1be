// Weights that a test puts into at::linear() itself, trained by one reducer.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpp/comm/threads.h"
#include "cpp/ddp/gradients.h"
#include "tandem/ddp.h"

namespace tandem::testing::weights {

inline DataParallelOptions as_views(bool on) {
  DataParallelOptions options;
  options.gradient_as_bucket_view = on;
  return options;
}

inline at::Tensor input(std::vector<std::int64_t> shape, int rank, int step, at::ScalarType dtype = at::kDouble) {
  return gradient(shape, rank, step).to(dtype);
}

struct Weights {
  Weights(ProcessGroup& group, const std::vector<std::vector<std::int64_t>>& shapes, const DataParallelOptions& options,
          at::ScalarType dtype = at::kDouble) {
    for (const auto& shape : shapes) {
      all.push_back((gradient(shape, 0, 9).to(dtype) * 0.3).set_requires_grad(true));
    }
    reducer = std::make_unique<DataParallelReducer>(shared(group), all, std::vector<std::string>{},
                                                    std::vector<at::Tensor>{}, options);
  }
  at::Tensor forward(const std::function<at::Tensor()>& body) {
    reducer->prepare_forward(true);
    std::vector<at::Tensor> outputs = {body()};
    reducer->prepare_backward(outputs);
    return outputs[0];
  }
  void forget_gradients() {
    for (const at::Tensor& one : all) one.mutable_grad().reset();
  }
  std::vector<at::Tensor> gradients() const {
    std::vector<at::Tensor> copies;
    for (const at::Tensor& one : all) copies.push_back(one.grad().defined() ? one.grad().clone() : at::Tensor());
    return copies;
  }
  std::vector<at::Tensor> all;
  std::unique_ptr<DataParallelReducer> reducer;
};

}  // namespace tandem::testing::weights
