#include "tandem/comm_hook.h"

#include <ATen/ATen.h>

#include "ddp/reduce.h"

namespace tandem {

std::vector<at::Tensor> gradients_of(const c10d::GradBucket& bucket) {
  return gradients_of(bucket, bucket.getBuffer());
}

// As c10d::Reducer lays buckets out ("Gradient Layout Contract" in its source).
std::vector<at::Tensor> gradients_of(const c10d::GradBucket& bucket, const at::Tensor& buffer) {
  if (buffer.is_sparse()) return {buffer};
  std::vector<at::Tensor> gradients;
  std::int64_t at = 0;
  for (const at::Tensor& parameter : bucket.getParameters()) {
    const at::Tensor part = buffer.narrow(0, at, parameter.numel());
    gradients.push_back(parameter.is_non_overlapping_and_dense()
                            ? part.as_strided(parameter.sizes(), parameter.strides())
                            : part.view(parameter.sizes()));
    at += parameter.numel();
  }
  return gradients;
}

Exchange then_convert(Exchange exchange, std::function<at::Tensor(const at::Tensor&)> convert) {
  Exchange converted;
  converted.work = std::move(exchange.work);
  if (exchange.then) {
    converted.then = [then = std::move(exchange.then), convert = std::move(convert)] {
      return then_convert(then(), convert);
    };
  } else {
    converted.then = [result = std::move(exchange.result), convert = std::move(convert)] {
      return Exchange{{}, {}, convert(result)};
    };
  }
  return converted;
}

Work reduce_sum(ProcessGroup& group, const at::Tensor& tensor) {
  if (tensor.layout() == at::kStrided) return group.all_reduce_async(tensor);
  std::vector<at::Tensor> tensors = {tensor};
  return Work(group.native()->allreduce(tensors));
}

Exchange reduce_mean(ProcessGroup& group, const at::Tensor& buffer) {
  at::Tensor(buffer).div_(group.size());
  return {reduce_sum(group, buffer), {}, buffer};
}

CommHook allreduce_hook(std::shared_ptr<ProcessGroup> group) {
  return [group = std::move(group)](c10d::GradBucket& bucket) { return reduce_mean(*group, bucket.getBuffer()); };
}

CommHook noop_hook() {
  return [](c10d::GradBucket& bucket) { return Exchange{{}, {}, bucket.getBuffer()}; };
}

}  // namespace tandem
