#include "checkpoint/staging.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstring>
#include <utility>

#include "base/invalid.h"

namespace tandem::checkpoint {
namespace {

constexpr std::int64_t kAThread = std::int64_t{1} << 22;  // bytes that are worth a thread

// LibTorch's copy_ would read each line of the copy first; memcpy does not where there is much.
void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  at::parallel_for(0, bytes, kAThread, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

at::Tensor copy_into(const at::Tensor& before, const at::Tensor& tensor) {
  at::NoGradGuard no_grad;
  const bool fits =
      before.defined() && before.sizes() == tensor.sizes() && before.scalar_type() == tensor.scalar_type();
  at::Tensor copy = fits ? before : at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()));
  if (tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg()) {
    if (tensor.numel() != 0) copy_bytes(copy.mutable_data_ptr(), tensor.const_data_ptr(), tensor.nbytes());
  } else {
    copy.copy_(tensor.detach());
  }
  return copy;
}

}  // namespace

CheckpointContent Staging::copy(const CheckpointContent& content, bool with_replicated) {
  std::map<Key, at::Tensor> copies;
  const auto take = [&](bool replicated, const std::string& section, const std::string& name,
                        const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_meta()) {
      invalid("tensor '" + name + "' of the section '" + section + "' is not dense, or has no elements to save");
    }
    Key key{replicated, section, name};
    const auto before = copies_.find(key);
    at::Tensor copy = copy_into(before == copies_.end() ? at::Tensor() : before->second, tensor);
    if (!copies.emplace(std::move(key), copy).second) {
      invalid("the name '" + name + "' is given twice in the section '" + section + "'");
    }
    return copy;
  };
  CheckpointContent result;
  result.values = content.values;
  if (with_replicated) {
    for (const auto& [section, tensors] : content.replicated) {
      NamedTensors& to = result.replicated[section];
      for (const auto& [name, tensor] : tensors) to.emplace_back(name, take(true, section, name, tensor));
    }
  }
  for (const auto& [section, own] : content.own) {
    auto& to = result.own[section];
    for (const OwnTensor& each : own) {
      to.push_back({each.name, take(false, section, each.name, each.tensor), each.whole, each.begin});
    }
  }
  copies_ = std::move(copies);
  return result;
}

}  // namespace tandem::checkpoint
