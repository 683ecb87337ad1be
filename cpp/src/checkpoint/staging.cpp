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

}  // namespace

at::Tensor Staging::memory_for(const Key& key, const at::Tensor& tensor) const {
  const auto before = copies_.find(key);
  if (before != copies_.end() && before->second.sizes() == tensor.sizes() &&
      before->second.scalar_type() == tensor.scalar_type()) {
    return before->second;
  }
  return at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()));
}

void Staging::keep(std::map<Key, at::Tensor>* copies, Key key, const at::Tensor& copy) const {
  const auto [place, is_new] = copies->emplace(std::move(key), copy);
  if (is_new) return;
  const auto& [replicated, section, name] = place->first;
  invalid("the name '" + name + "' is given twice in the section '" + section + "'");
}

void Staging::make(const Copy& copy) {
  at::NoGradGuard no_grad;
  const at::Tensor& from = copy.from;
  if (from.is_cpu() && from.is_contiguous() && !from.is_conj() && !from.is_neg()) {
    if (from.numel() != 0) copy_bytes(copy.to.mutable_data_ptr(), from.const_data_ptr(), from.nbytes());
  } else {
    copy.to.copy_(from.detach());
  }
}

CheckpointContent Staging::copy(const CheckpointContent& content, bool with_replicated) {
  std::vector<Copy> copies;
  CheckpointContent result = plan(content, with_replicated, &copies);
  for (const Copy& each : copies) make(each);
  return result;
}

CheckpointContent Staging::plan(const CheckpointContent& content, bool with_replicated, std::vector<Copy>* planned) {
  std::map<Key, at::Tensor> copies;
  const auto take = [&](bool replicated, const std::string& section, const std::string& name,
                        const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_meta()) {
      invalid("tensor '" + name + "' of the section '" + section + "' is not dense, or has no elements to save");
    }
    Key key{replicated, section, name};
    const at::Tensor copy = memory_for(key, tensor);
    keep(&copies, std::move(key), copy);
    planned->push_back({tensor, copy});
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

CheckpointContent Staging::place(const CheckpointContent& content) {
  std::map<Key, at::Tensor> copies;
  CheckpointContent result;
  result.values = content.values;
  for (const auto& [section, tensors] : content.replicated) {
    NamedTensors& to = result.replicated[section];
    for (const auto& [name, tensor] : tensors) {
      Key key{true, section, name};
      const at::Tensor memory = memory_for(key, tensor);
      keep(&copies, std::move(key), memory);
      to.emplace_back(name, memory);
    }
  }
  copies_ = std::move(copies);
  return result;
}

}  // namespace tandem::checkpoint
