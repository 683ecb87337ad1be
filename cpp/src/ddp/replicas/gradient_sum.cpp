#include "ddp/replicas/gradient_sum.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace tandem::internal {
namespace {

constexpr std::int64_t kMuch = 1 << 16;  // elements, from which waking threads pays

// Dense plus sparse works, sparse plus dense does not.
at::Tensor plus(const at::Tensor& a, const at::Tensor& b) {
  return a.is_sparse() && !b.is_sparse() ? b + a : a + b;
}

at::Tensor sum_of(const std::vector<at::Tensor>& list) {
  at::Tensor sum = list.front();
  for (std::size_t i = 1; i < list.size(); ++i) sum = plus(sum, list[i]);
  return sum;
}

bool is_one_block(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.is_non_overlapping_and_dense();
}

// Whether the elements lie one after another and the same way in all, and the first one's memory is free for the sum.
bool adds_in_place(const std::vector<at::Tensor>& list) {
  const at::Tensor& first = list.front();
  if (!is_one_block(first) || first.use_count() != 1 || first.storage().use_count() != 1) return false;
  return std::all_of(list.begin() + 1, list.end(), [&](const at::Tensor& other) {
    return is_one_block(other) && other.strides() == first.strides() && other.scalar_type() == first.scalar_type();
  });
}

at::Tensor part_of(const at::Tensor& tensor, std::int64_t begin, std::int64_t end) {
  return tensor.as_strided({end - begin}, {1}, tensor.storage_offset() + begin);
}

}  // namespace

std::vector<at::Tensor> sum_gradients(std::vector<std::vector<at::Tensor>> lists, int count, ReplicaThreads& threads) {
  std::vector<at::Tensor> sums(lists.size());
  std::vector<std::size_t> in_place, others;
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].size() < 2) {
      if (!lists[i].empty()) sums[i] = std::move(lists[i].front());
      continue;
    }
    const bool free = !at::GradMode::is_enabled() && adds_in_place(lists[i]);
    (free ? in_place : others).push_back(i);
    elements += lists[i].front().numel();
  }
  const auto work = [&](int number) {
    for (const std::size_t i : in_place) {
      const at::Tensor& sum = lists[i].front();
      const std::int64_t begin = sum.numel() * number / count, end = sum.numel() * (number + 1) / count;
      at::Tensor own = part_of(sum, begin, end);
      for (std::size_t k = 1; k < lists[i].size(); ++k) own.add_(part_of(lists[i][k], begin, end));
    }
    for (std::size_t k = static_cast<std::size_t>(number); k < others.size(); k += static_cast<std::size_t>(count)) {
      sums[others[k]] = sum_of(lists[others[k]]);
    }
  };
  if (elements >= kMuch && !at::GradMode::is_enabled()) {
    threads.run(count, work);
  } else {
    for (int number = 0; number < count; ++number) work(number);
  }
  for (const std::size_t i : in_place) sums[i] = std::move(lists[i].front());
  return sums;
}

}  // namespace tandem::internal
