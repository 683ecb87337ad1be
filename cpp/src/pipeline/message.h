// What one stage tells another about a micro-batch, and how it begins on the wire.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/error.h"

namespace tandem {

// A stage's result, or why there is none. With every micro-batch of the schedule one is sent, whatever has failed, so
// that ranks never wait for what does not come.
struct StageMessage {
  std::int64_t rows = 0, batch_rows = 0;  // of the micro-batch, and of all of them
  std::vector<at::Tensor> tensors;        // undefined: no gradient
  std::vector<bool> requires_grad;        // of activations; empty of gradients
  std::shared_ptr<const Error> failure;
};

// A header has this size, as a tensor of bytes: what comes is then known before it comes. Longer error messages are cut.
constexpr std::int64_t kHeaderBytes = 1024;

// "Float[2, 3], no tensor"
std::string shapes(const std::vector<at::Tensor>& tensors);

// Whether a message holds such tensors. Errors: kUnsupported, which says what they are and why not: more tensors or
// dimensions than a header has room for, too many elements, dtypes that are more than their elements.
void check_sendable(const std::vector<at::Tensor>& tensors);
// Has the tensors be what can be sent: dense, contiguous, on the CPU. Errors: those of check_sendable() and LibTorch's.
void make_ready(StageMessage& message);

// Of tensors that are ready.
at::Tensor to_header(const StageMessage& message);
// The message with tensors that are still to be filled. Errors: kDataLoss for a header that is none.
StageMessage from_header(const at::Tensor& header);

}  // namespace tandem
