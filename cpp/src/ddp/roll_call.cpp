#include "ddp/roll_call.h"

#include <ATen/ATen.h>

namespace tandem {
namespace {

// Then, for each rank, whether it is present, and its samples.
enum Slot : std::int64_t { kBuffers, kSynchronizes, kFirstOfStatic, kRanks };

}  // namespace

RollCall::RollCall(ProcessGroup& group, const Announcement& mine, at::Device device) : size_(group.size()) {
  at::Tensor numbers = at::zeros({kRanks + 2 * size_}, at::TensorOptions(at::kLong));
  auto* slots = numbers.data_ptr<std::int64_t>();
  slots[kBuffers] = mine.sends_buffers;
  slots[kSynchronizes] = mine.synchronizes;
  slots[kFirstOfStatic] = mine.first_of_static;
  slots[kRanks + group.rank()] = mine.present;
  slots[kRanks + size_ + group.rank()] = mine.samples;
  tensor_ = numbers.to(device);
  work_ = group.all_reduce_async(tensor_);
}

const at::Tensor& RollCall::numbers() {
  if (!numbers_.defined()) {
    work_.wait();
    numbers_ = tensor_.cpu();
  }
  return numbers_;
}

int RollCall::present() {
  int count = 0;
  for (int rank = 0; rank < size_; ++rank) count += number(kRanks + rank) != 0;
  return count;
}

int RollCall::lowest_present() {
  int rank = 0;
  while (rank < size_ && number(kRanks + rank) == 0) ++rank;
  return rank;
}

std::vector<std::int64_t> RollCall::samples_by_rank() {
  std::vector<std::int64_t> samples;
  for (int rank = 0; rank < size_; ++rank) samples.push_back(number(kRanks + size_ + rank));
  return samples;
}

Announcement RollCall::together() {
  Announcement all;
  all.present = present() > 0;
  all.sends_buffers = number(kBuffers) != 0;
  all.synchronizes = number(kSynchronizes) != 0;
  all.first_of_static = number(kFirstOfStatic) != 0;
  return all;
}

}  // namespace tandem
