// LibTorch's operators as functions: tandem::abi::ops::add(x, y), ops::linalg::norm(x), ops::functional::gelu(x). An
// overload's name follows its operator's (add_scalar, sum_dim), `_` at the end is in place, `_out` writes into given
// tensors. Options that are not given have PyTorch's default. docs/operators.md says what there is, by schema.
//
// Several thousand lines: tandem/abi.hpp does not include it.
#pragma once

#include "tandem/abi/ops/fft.hpp"
#include "tandem/abi/ops/functional.hpp"
#include "tandem/abi/ops/init.hpp"
#include "tandem/abi/ops/linalg.hpp"
#include "tandem/abi/ops/special.hpp"
#include "tandem/abi/ops/tensor.hpp"
#include "tandem/abi/ops/utils.hpp"
