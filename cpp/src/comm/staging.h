// Tensors on devices that no backend takes, which are LibTorch's accelerators other than CUDA's, go through the CPU.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tandem {

inline bool goes_through_cpu(c10::DeviceType device) {
  return device != c10::kCPU && device != c10::kCUDA && device != c10::kMeta;
}
inline bool needs_staging(const at::Tensor& tensor) {
  return tensor.defined() && goes_through_cpu(tensor.device().type());
}
inline bool needs_staging(const std::vector<at::Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& one) { return needs_staging(one); });
}

// Of one call: copies to hand to it, and the work that ends with the results on the device. The backend sees the copies
// alone, and errors and records speak of them.
class Staging {
 public:
  using Tensors = std::vector<at::Tensor>;

  // A copy of what the call reads. Waits for what is queued on the device's current stream.
  static at::Tensor read(const at::Tensor& tensor);
  // Of a tensor that the call writes; it may read it, too.
  at::Tensor written(const at::Tensor& tensor);
  c10::intrusive_ptr<c10d::Work> work(c10::intrusive_ptr<c10d::Work> call) const;

  template <typename List>
  static List read(const List& tensors) {
    List copies;
    for (const auto& one : tensors) copies.push_back(read(one));
    return copies;
  }
  template <typename List>
  List written(const List& tensors) {
    List copies;
    for (const auto& one : tensors) copies.push_back(written(one));
    return copies;
  }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;  // on the device, on the CPU
};

// Calls with copies of tensors, or of lists of them, that are written, and of others that are read.
template <typename Written, typename Call>
c10::intrusive_ptr<c10d::Work> staged(const Written& tensors, const Call& call) {
  Staging staging;
  Written copies = staging.written(tensors);
  return staging.work(call(copies));
}
template <typename Written, typename Read, typename Call>
c10::intrusive_ptr<c10d::Work> staged(const Written& outputs, const Read& inputs, const Call& call) {
  Staging staging;
  Written to = staging.written(outputs);
  Read from = Staging::read(inputs);
  return staging.work(call(to, from));
}

}  // namespace tandem
