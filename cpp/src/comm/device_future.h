// Futures of tensors that may be on GPUs.
#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

namespace tandem {

// A future whose value consists of these tensors, or of what is computed from them on their devices. Who completes it
// has the work on its current streams behind it, and who waits for it has that before it on its own. A future that knows
// no devices drops the events in between, and its value may be read before it is there.
c10::intrusive_ptr<c10::ivalue::Future> make_future(c10::TypePtr type, const std::vector<at::Tensor>& tensors);

// The same for a list of tensors.
c10::intrusive_ptr<c10::ivalue::Future> make_list_future(const std::vector<at::Tensor>& tensors);

}  // namespace tandem
