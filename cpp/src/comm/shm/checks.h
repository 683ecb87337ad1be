// What the shm backend refuses before anything is exchanged.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "comm/shm/layout.h"

namespace tandem::shm {

// How errors name what was called.
struct CallName {
  CallName(CollectiveKind collective) : text(name_of(collective)) {}  // NOLINT: collectives are named by their kind
  CallName(const char* name) : text(name) {}                          // NOLINT: and messages by their name
  const char* text;
};

[[noreturn]] void refuse(CallName call, const std::string& reason);

// Each throws Error (kInvalidArgument): for what is no dense tensor on the CPU, one with gaps, one in another order of
// elements than their indices', other than one tensor.
void check_place(CallName call, const at::Tensor& tensor);
void check_dense(CallName call, const at::Tensor& tensor);
void check_contiguous(CallName call, const at::Tensor& tensor);
const at::Tensor& only(CallName call, const std::vector<at::Tensor>& tensors);
void check_root(CollectiveKind collective, std::int64_t root, int size);
// That there is a tensor for each rank, and each is like `like`; `even`: in shape too.
void check_list(CollectiveKind collective, const std::vector<at::Tensor>& tensors, const at::Tensor& like, int size,
                const char* which, bool even);

}  // namespace tandem::shm
