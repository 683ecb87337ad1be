#include "ddp/gradients/average_hook.h"

#include <ATen/ATen.h>

#include <vector>

#include "comm/device_future.h"

namespace tandem {

c10::intrusive_ptr<c10::ivalue::Future> AverageHook::runHook(c10d::GradBucket& bucket) {
  std::vector<at::Tensor> tensors = {bucket.getBuffer()};
  c10d::AllreduceOptions options;
  const int ranks = ranks_();
  if (ranks < group_->getSize()) {
    tensors[0].div_(ranks);
  } else {
    options.reduceOp = c10d::ReduceOp::AVG;
  }
  auto averaged = make_future(c10::TensorType::get(), tensors);
  group_->allreduce(tensors, options)->getFuture()->addCallback([averaged, buffer = tensors[0]](
                                                                    c10::ivalue::Future& done) {
    if (done.hasError()) {
      averaged->setError(done.exception_ptr());
    } else {
      averaged->markCompleted(c10::IValue(buffer));
    }
  });
  return averaged;
}

at::Tensor AverageHook::parseHookResult(const c10::IValue& result) {
  return result.toTensor();
}

}  // namespace tandem
