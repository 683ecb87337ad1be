// What options of pools have in common.
#pragma once

#include <optional>

#include "options.h"

namespace tandem::nn {

// LibTorch's pools count in 32 bits, and the one of one dimension does not check.
template <std::size_t D>
void check_pool(const Options& o, const char* name, const torch::ExpandingArray<D>& numbers) {
  for (const std::int64_t number : *numbers) {
    if (number > INT32_MAX) o.refuse(name, "is " + std::to_string(number) + "; a pool's is less than 2^31");
  }
}

template <std::size_t D>
torch::ExpandingArray<D> need_pool_size(Options& o) {
  const auto size = o.need<torch::ExpandingArray<D>>("kernel_size");
  check_pool(o, "kernel_size", size);
  return size;
}

// PyTorch's stride is the kernel's size where it is not given, and LibTorch's options begin with that.
template <std::size_t D>
void read_stride(Options& o, torch::ExpandingArray<D>& stride) {
  std::optional<torch::ExpandingArray<D>> given;
  o.read("stride", given);
  if (!given) return;
  check_pool(o, "stride", *given);
  stride = *given;
}

}  // namespace tandem::nn
