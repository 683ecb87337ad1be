#include "comm/finished_work.h"

#include "comm/device_future.h"

namespace tandem {

c10::intrusive_ptr<c10::ivalue::Future> FinishedWork::getFuture() {
  std::call_once(once_, [this] {
    future_ = make_list_future(result_);
    future_->markCompleted(c10::IValue(result_));
  });
  return future_;
}

}  // namespace tandem
