// Gradients that travel in a smaller floating-point dtype.
#include <ATen/ATen.h>

#include "tandem/comm_hook.h"

namespace tandem {

CommHook compress_wrapper(at::ScalarType dtype, CommHook hook) {
  return [dtype, hook = std::move(hook)](c10d::GradBucket& bucket) {
    const at::Tensor buffer = bucket.getBuffer();
    if (buffer.is_sparse() || buffer.is_complex() || buffer.scalar_type() == dtype) return hook(bucket);
    at::Tensor small = buffer.to(dtype);
    c10d::GradBucket compressed = bucket;
    compressed.setBuffer(small);
    return then_convert(hook(compressed), [buffer](const at::Tensor& result) {
      at::Tensor(buffer).copy_(result);
      return buffer;
    });
  };
}

CommHook fp16_compress_wrapper(CommHook hook) {
  return compress_wrapper(at::kHalf, std::move(hook));
}
CommHook bf16_compress_wrapper(CommHook hook) {
  return compress_wrapper(at::kBFloat16, std::move(hook));
}
CommHook fp16_compress_hook(std::shared_ptr<ProcessGroup> group) {
  return fp16_compress_wrapper(allreduce_hook(std::move(group)));
}
CommHook bf16_compress_hook(std::shared_ptr<ProcessGroup> group) {
  return bf16_compress_wrapper(allreduce_hook(std::move(group)));
}

}  // namespace tandem
