// Parameters, backward and gradients, for the tests of autograd.
#pragma once

#include "capi/calls.h"

namespace calls {

inline Tensor parameter(const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  Tensor t = tensor(values, shape);
  EXPECT_OK(tdm_tensor_set_requires_grad(t.get(), 1));
  return t;
}

inline tdm_error* backward(const Tensor& root, int retain = 0, int create_graph = 0) {
  tdm_tensor* roots[] = {root.get()};
  return tdm_autograd_backward(roots, nullptr, 1, retain, create_graph);
}

// NULL where there is none.
inline Tensor grad(const Tensor& of) {
  tdm_tensor* out = nullptr;
  EXPECT_OK(tdm_tensor_grad(of.get(), &out));
  return Tensor(out);
}

// Of one output by one input.
inline Tensor derivative(const Tensor& output, const Tensor& input, int create_graph = 0) {
  tdm_tensor *outputs[] = {output.get()}, *inputs[] = {input.get()}, *result = nullptr;
  EXPECT_OK(tdm_autograd_grad(outputs, nullptr, 1, inputs, 1, create_graph, create_graph, 0, &result));
  return Tensor(result);
}

}  // namespace calls
