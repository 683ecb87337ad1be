// One call of a collective: what errors and the flight recorder say about it.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

struct Collective {
  const char* name = "";       // a literal: "all_reduce"
  std::uint64_t sequence = 0;  // how many of its kind (collectives, or sends and receives) the group had before
  bool point_to_point = false;
  int peer = -1;                    // root, source or destination; -1: none, or any
  std::vector<at::Tensor> tensors;  // what the caller sees as result, or sends
  std::chrono::steady_clock::time_point begun;
  std::chrono::milliseconds timeout{0};
  std::int64_t record = -1;  // in the flight recorder
};

// "all_reduce #3 of float[2, 3]".
std::string describe(const Collective& collective);
// "float[2, 3]", "float[2], float[3] and 5 more".
std::string describe(const std::vector<at::Tensor>& tensors);
std::string describe(const at::Tensor& tensor);

// Whether its time is over.
bool is_over(const Collective& collective);

// "rank 1 is missing", "ranks 1, 2 and 5 more are missing".
std::string are_missing(const std::vector<int>& ranks);

}  // namespace tandem
