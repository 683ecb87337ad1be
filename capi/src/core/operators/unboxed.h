// Calls that go to an operator's kernel without LibTorch's stack of IValues: for the signatures that small
// operators have most.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "core/operators/operator.h"
#include "thread_state.h"

namespace tandem::capi {

class Unboxed {
 public:
  virtual ~Unboxed() = default;

  // Calls the operator, whose result is one tensor. False, and nothing was done, when an argument is not of the plain
  // kind that this takes: the boxed call then converts it, or says what is wrong. The count is at most the schema's.
  virtual bool call(const tdm_op& op, ThreadState& state, const tdm_value* arguments, std::size_t argument_count,
                    at::Tensor& result) const = 0;
};

// NULL for an operator with another signature, and for one whose kernels do not tell theirs: no kernel is registered,
// or none that is called unboxed.
std::unique_ptr<Unboxed> make_unboxed(const c10::OperatorHandle& op);

}  // namespace tandem::capi
