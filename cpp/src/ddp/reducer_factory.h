// The one place that knows how c10d::Reducer is constructed, which changes between releases of LibTorch.
#pragma once

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tandem {

struct ReducerArguments {
  std::vector<at::Tensor> parameters;
  std::vector<std::vector<std::size_t>> buckets;
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  std::vector<bool> sparse_gradients;
  std::int64_t bucket_bytes = c10d::kDefaultBucketBytesCap;
  std::int64_t first_bucket_bytes = c10d::kDefaultFirstBucketBytes;
  bool find_unused_parameters = false;
  bool gradient_as_bucket_view = false;
  bool skip_all_reduce_unused_params = false;
  std::unordered_map<std::size_t, std::string> names;
};

std::shared_ptr<c10d::Reducer> make_c10d_reducer(ReducerArguments arguments);

}  // namespace tandem
