// An epoch of samples that come one after the other, as a data set of them by their places.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "data/loader/rows.h"
#include "tandem/iterable_dataset.h"
#include "tandem/loader.h"

namespace tandem::loader {

// Stands for a length that is not known: no epoch has as many samples.
inline constexpr std::int64_t kUnknownLength = std::int64_t{1} << 62;

// Thrown for a batch past the end of an epoch whose length was not known.
struct EndOfEpoch {};

// Keeps as many streams open as threads use it at once, and takes for each batch the one that is next before it.
class StreamEpoch : public Dataset {
 public:
  // Of the options: batch_size (of all ranks), rank, world_size, tail, seed, threads. Opens nothing yet.
  StreamEpoch(std::shared_ptr<IterableDataset> dataset, const LoaderOptions& options, std::int64_t epoch);

  // kUnknownLength where it is not known.
  std::int64_t size() const override;
  std::vector<at::Tensor> get(std::int64_t position) override;
  std::vector<at::Tensor> get_batch(std::span<const std::int64_t> positions, std::int64_t rows) override;
  std::vector<std::string> names() const override { return dataset_->names(); }
  std::string place(std::int64_t position) const override;
  std::uint64_t fingerprint() const override { return dataset_->fingerprint(); }

  // The epoch from `origin` on, cut into batches as far as batch `number` needs it: where the length is not known, goes
  // through all ranks' part of that batch, and keeps this rank's samples for get_batch(). Throws EndOfEpoch.
  StaticPartition partition(std::int64_t number, std::int64_t origin);

 private:
  using Sample = std::vector<at::Tensor>;
  struct Open {
    std::unique_ptr<SampleStream> stream;
    std::int64_t position;  // of the sample that it gives next
  };
  // Consecutive samples, whose first is at `begin`.
  struct Run {
    std::int64_t begin;
    std::vector<Sample> samples;

    bool has(std::int64_t position) const {
      return position >= begin && position < begin + static_cast<std::int64_t>(samples.size());
    }
    const Sample& at(std::int64_t position) const { return samples[static_cast<std::size_t>(position - begin)]; }
  };

  StaticPartition cut(std::int64_t length, std::int64_t origin) const;
  Open open_before(std::int64_t position);
  void keep(Open open);
  bool skip_to(Open& open, std::int64_t position);
  void ended_at(std::int64_t position);
  Run read(std::int64_t begin, std::int64_t end, std::int64_t look_until);
  Run take_read_ahead(std::int64_t begin);
  Sample first();

  const std::shared_ptr<IterableDataset> dataset_;
  const LoaderOptions options_;
  const std::int64_t epoch_;
  const std::int64_t declared_;  // length, or kUnknownLength

  mutable std::mutex mutex_;
  std::int64_t length_;          // as far as it is known
  std::vector<Open> idle_;       // streams that nobody uses now
  std::vector<Run> read_ahead_;  // by partition()
  Sample first_;                 // of the epoch, once it was asked for
};

}  // namespace tandem::loader
