#include "ddp/no_exchange_hook.h"

#include <ATen/core/ivalue.h>

namespace tandem {
namespace {

using c10::ivalue::Future;

class NoExchangeHook final : public c10d::CommHookInterface {
 public:
  c10::intrusive_ptr<Future> runHook(c10d::GradBucket& bucket) override {
    auto done = c10::make_intrusive<Future>(c10::TensorType::get());
    done->markCompleted(c10::IValue(bucket.getBuffer()));
    return done;
  }
  at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }
};

}  // namespace

std::unique_ptr<c10d::CommHookInterface> make_no_exchange_hook() {
  return std::make_unique<NoExchangeHook>();
}

}  // namespace tandem
