#include "data/loader/stream_epoch.h"

#include <algorithm>

#include "base/mix.h"
#include "tandem/error.h"

namespace tandem {

SampleStream::~SampleStream() = default;

std::int64_t SampleStream::skip(std::int64_t count) {
  std::int64_t skipped = 0;
  while (skipped < count && next()) ++skipped;
  return skipped;
}

IterableDataset::~IterableDataset() = default;

std::uint64_t IterableDataset::fingerprint() const {
  return mix(mix(0, "stream"), static_cast<std::uint64_t>(size()));
}

}  // namespace tandem

namespace tandem::loader {

StreamEpoch::StreamEpoch(std::shared_ptr<IterableDataset> dataset, const LoaderOptions& options, std::int64_t epoch)
    : dataset_(std::move(dataset)),
      options_(options),
      epoch_(epoch),
      declared_(dataset_->size() < 0 ? kUnknownLength : dataset_->size()),
      length_(declared_) {}

std::int64_t StreamEpoch::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return length_;
}

std::string StreamEpoch::place(std::int64_t position) const {
  return "sample " + std::to_string(position) + " of the stream of epoch " + std::to_string(epoch_);
}

// The open stream that is next before `position`, or a new one.
StreamEpoch::Open StreamEpoch::open_before(std::int64_t position) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->position <= position && (best == idle_.end() || it->position > best->position)) best = it;
    }
    if (best != idle_.end()) {
      Open open = std::move(*best);
      idle_.erase(best);
      return open;
    }
  }
  return naming([this] { return "the stream of epoch " + std::to_string(epoch_); },
                [this] {
                  Open open{dataset_->stream(options_.seed, epoch_), 0};
                  if (!open.stream) throw Error(ErrorCode::kInvalidArgument, "its data set gave none");
                  return open;
                });
}

void StreamEpoch::keep(Open open) {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(open));
  if (idle_.size() <= static_cast<std::size_t>(std::max(1, options_.threads))) return;
  idle_.erase(std::min_element(idle_.begin(), idle_.end(),
                               [](const Open& a, const Open& b) { return a.position < b.position; }));
}

bool StreamEpoch::skip_to(Open& open, std::int64_t position) {
  const std::int64_t count = position - open.position;
  if (count == 0) return true;
  const std::int64_t skipped = naming([&] { return place(open.position); }, [&] { return open.stream->skip(count); });
  if (skipped < 0 || skipped > count) {
    throw Error(ErrorCode::kInvalidArgument, "a stream was to skip " + std::to_string(count) + " samples, and says " +
                                                 std::to_string(skipped) + " were skipped");
  }
  open.position += skipped;
  if (skipped < count) ended_at(open.position);
  return skipped == count;
}

void StreamEpoch::ended_at(std::int64_t position) {
  if (declared_ != kUnknownLength) {
    throw Error(ErrorCode::kOutOfRange, "the stream of epoch " + std::to_string(epoch_) + " ended after " +
                                            std::to_string(position) + " samples, but its data set has a size of " +
                                            std::to_string(declared_) + "; let it have -1 where the size is unknown");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  length_ = std::min(length_, position);
}

// Samples begin … end - 1, as many as there are. Goes on to `look_until`; where the stream ends before, the length is
// known afterwards.
StreamEpoch::Run StreamEpoch::read(std::int64_t begin, std::int64_t end, std::int64_t look_until) {
  Run run{begin, {}};
  Open open = open_before(begin);
  if (!skip_to(open, begin)) return run;
  while (open.position < end) {
    auto sample = naming([&] { return place(open.position); }, [&] { return open.stream->next(); });
    if (!sample) {
      ended_at(open.position);
      return run;
    }
    run.samples.push_back(std::move(*sample));
    ++open.position;
  }
  if (look_until <= open.position || skip_to(open, look_until)) keep(std::move(open));
  return run;
}

StaticPartition StreamEpoch::cut(std::int64_t length, std::int64_t origin) const {
  return {length, options_.batch_size, options_.rank, options_.world_size, options_.tail, std::min(origin, length)};
}

StaticPartition StreamEpoch::partition(std::int64_t number, std::int64_t origin) {
  const std::int64_t length = size();  // once: another thread may come to know it meanwhile
  StaticPartition part = cut(length, origin);
  if (length == kUnknownLength) {
    const StaticPartition::Slice slice = part.slice(number);
    Run run = read(slice.begin, slice.begin + slice.size, part.begin(number + 1));
    if (!run.samples.empty()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      read_ahead_.push_back(std::move(run));
    }
    part = cut(size(), origin);
  }
  if (number >= part.batches()) throw EndOfEpoch();
  return part;
}

StreamEpoch::Run StreamEpoch::take_read_ahead(std::int64_t begin) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(read_ahead_.begin(), read_ahead_.end(), [&](const Run& run) { return run.begin == begin; });
  if (found == read_ahead_.end()) return {begin, {}};
  Run run = std::move(*found);
  read_ahead_.erase(found);
  return run;
}

std::vector<at::Tensor> StreamEpoch::get(std::int64_t position) {
  const Run run = read(position, position + 1, 0);
  if (!run.has(position)) throw Error(ErrorCode::kOutOfRange, "there is no " + place(position));
  return run.samples[0];
}

// Sample 0, for its shapes.
StreamEpoch::Sample StreamEpoch::first() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!first_.empty()) return first_;
  }
  Sample sample = get(0);
  const std::lock_guard<std::mutex> lock(mutex_);
  first_ = sample;
  return sample;
}

std::vector<at::Tensor> StreamEpoch::get_batch(std::span<const std::int64_t> positions, std::int64_t rows) {
  if (positions.empty()) return Rows(first(), place(0), rows).take();
  Run run = take_read_ahead(positions[0]);
  std::optional<Rows> stacked;
  for (std::size_t row = 0; row < positions.size(); ++row) {
    const std::int64_t position = positions[row];
    if (!run.has(position)) {
      // As far as positions follow one another; what a tail repeats begins again.
      std::size_t end = row + 1;
      while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
      run = read(position, positions[end - 1] + 1, 0);
      if (!run.has(position)) {
        throw Error(ErrorCode::kOutOfRange,
                    place(position) +
                        " is not there, but was when it was gone through before; a stream must give the "
                        "same samples each time");
      }
    }
    const Sample& sample = run.at(position);
    if (!stacked) stacked.emplace(sample, place(position), rows);
    stacked->set(static_cast<std::int64_t>(row), sample, [&] { return place(position); });
  }
  return stacked->take();
}

}  // namespace tandem::loader
