#include "data/loader/loader_counts.h"

#include <algorithm>
#include <set>

namespace tandem::loader {

std::int64_t bytes_of(const std::vector<at::Tensor>& tensors) {
  std::int64_t bytes = 0;
  std::set<const void*> seen;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.has_storage()) {
      bytes += static_cast<std::int64_t>(tensor.nbytes());
    } else if (seen.insert(tensor.storage().unsafeGetStorageImpl()).second) {
      bytes += static_cast<std::int64_t>(tensor.storage().nbytes());
    }
  }
  return bytes;
}

void LoaderCounts::add_times(const StageTimes& times) {
  counted_.reading += times[static_cast<std::size_t>(Stage::kReading)];
  counted_.decoding += times[static_cast<std::size_t>(Stage::kDecoding)];
  counted_.transforming += times[static_cast<std::size_t>(Stage::kTransforming)];
  counted_.pinning += times[static_cast<std::size_t>(Stage::kPinning)];
  counted_.copying += times[static_cast<std::size_t>(Stage::kCopying)];
}

void LoaderCounts::add_batch(const LoadedBatch& batch, std::int64_t bytes) {
  ++counted_.batches;
  counted_.samples += batch.local_count;
  counted_.skipped += batch.skipped;
  counted_.bytes += bytes;
}

void LoaderCounts::set_ready(std::int64_t bytes) {
  counted_.most_bytes_ready = std::max(counted_.most_bytes_ready, bytes);
}

void LoaderCounts::ask() {
  asked_ = Clock::now();
  if (computes_) counted_.computing += asked_ - computes_since_;
  computes_ = false;
}

void LoaderCounts::give() {
  compute();
  counted_.waiting += computes_since_ - asked_;
  ++counted_.delivered;
}

void LoaderCounts::compute() {
  computes_since_ = Clock::now();
  computes_ = true;
}

LoaderStatistics LoaderCounts::of(std::int64_t threads) const {
  LoaderStatistics now = counted_;
  now.threads = threads;
  return now;
}

}  // namespace tandem::loader
