#include "comm/message_handle.h"

#include <exception>
#include <utility>

namespace tandem {

MessageHandle::MessageHandle(c10::intrusive_ptr<GuardedWork> message)
    : c10d::Work(-1, message->retrieveOpType()), message_(std::move(message)) {}

MessageHandle::~MessageHandle() {
  try {
    message_->have_it_reaped();
  } catch (const std::exception&) {
    // No thread can be started. It stays in flight, as it would have without this.
  }
}

}  // namespace tandem
