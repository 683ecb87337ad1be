#include "comm/device_future.h"

#include <set>
#include <utility>

namespace tandem {

using c10::ivalue::Future;

c10::intrusive_ptr<Future> make_future(c10::TypePtr type, const std::vector<at::Tensor>& tensors) {
  const auto by_index = [](const c10::Device& a, const c10::Device& b) { return a.index() < b.index(); };
  std::set<c10::Device, decltype(by_index)> devices(by_index);
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined() && !tensor.is_cpu()) devices.insert(tensor.device());
  }
  return c10::make_intrusive<Future>(std::move(type), std::vector<c10::Device>(devices.begin(), devices.end()));
}

c10::intrusive_ptr<Future> make_list_future(const std::vector<at::Tensor>& tensors) {
  return make_future(c10::ListType::create(c10::TensorType::get()), tensors);
}

}  // namespace tandem
