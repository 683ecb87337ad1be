#include <ATen/ATen.h>

#include "ddp/parts.h"
#include "tandem/error.h"

namespace tandem {

std::vector<std::vector<std::int64_t>> DataParallelReducer::Parts::bucket_layout() const {
  std::vector<std::vector<std::int64_t>> layout;
  for (const c10d::GradBucket& bucket : buckets()) {
    std::vector<std::int64_t>& numbers = layout.emplace_back();
    for (const at::Tensor& parameter : bucket.getParameters()) {
      numbers.push_back(static_cast<std::int64_t>(number_of(parameter)));
    }
  }
  return layout;
}

std::vector<std::vector<std::int64_t>> DataParallelReducer::bucket_layout() const {
  return parts_->bucket_layout();
}

void DataParallelReducer::use_bucket_layout(const std::vector<std::vector<std::int64_t>>& layout) {
  Parts& parts = *parts_;
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, "use_bucket_layout: " + why);
  };
  if (parts.iterations > 0 || parts.hook_is_set) refuse("call it before the first forward");
  std::vector<char> seen(parts.trained.size(), 0);
  std::vector<std::vector<std::size_t>> buckets;
  for (const auto& given : layout) {
    std::vector<std::size_t>& bucket = buckets.emplace_back();
    for (const std::int64_t number : given) {
      if (number < 0 || number >= static_cast<std::int64_t>(seen.size()) || seen[static_cast<std::size_t>(number)]) {
        refuse("parameter " + std::to_string(number) + " of " + std::to_string(seen.size()) +
               " is in it twice, or does not exist");
      }
      bucket.push_back(static_cast<std::size_t>(number));
      seen[bucket.back()] = 1;
    }
    if (bucket.empty()) refuse("a bucket is empty");
    for (const std::size_t one : bucket) {
      const at::Tensor &first = parts.trained[bucket.front()], &other = parts.trained[one];
      const bool alike = other.scalar_type() == first.scalar_type() && other.device() == first.device() &&
                         (bucket.size() == 1 || !parts.sparse_gradients[one]);
      if (!alike) refuse("parameters of different dtypes or devices, or sparse ones, are in one bucket");
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) refuse("parameter '" + parts.trained_names[i] + "' is in no bucket");
  }
  parts.arguments->buckets = std::move(buckets);
  parts.make_reducer();
}

}  // namespace tandem
