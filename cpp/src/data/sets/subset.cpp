#include <cmath>

#include "base/invalid.h"
#include "base/mix.h"
#include "tandem/derived_datasets.h"
#include "tandem/error.h"
#include "tandem/sample_order.h"

namespace tandem {
namespace {

// Some samples of another data set, under numbers of their own.
class Chosen : public Dataset {
 public:
  explicit Chosen(std::shared_ptr<Dataset> base) : base_(std::move(base)) {
    if (!base_) invalid("there is no data set to take samples of");
  }
  std::vector<std::string> names() const override { return base_->names(); }
  std::vector<at::Tensor> get(std::int64_t index) override { return base_->get(original(index)); }
  std::vector<at::Tensor> get_random(std::int64_t index, std::uint64_t randomness) override {
    return base_->get_random(original(index), randomness);
  }
  std::string place(std::int64_t index) const override { return base_->place(original(index)); }
  std::vector<at::Tensor> get_batch(std::span<const std::int64_t> samples, std::int64_t rows) override {
    return base_->get_batch(originals(samples), rows);
  }
  std::vector<at::Tensor> get_random_batch(std::span<const std::int64_t> samples,
                                           std::span<const std::uint64_t> randomness, std::int64_t rows) override {
    return base_->get_random_batch(originals(samples), randomness, rows);
  }

 protected:
  virtual std::int64_t original(std::int64_t index) const = 0;
  std::vector<std::int64_t> originals(std::span<const std::int64_t> samples) const {
    std::vector<std::int64_t> all;
    all.reserve(samples.size());
    for (const std::int64_t sample : samples) all.push_back(original(sample));
    return all;
  }
  std::shared_ptr<Dataset> base_;
};

class Subset : public Chosen {
 public:
  Subset(std::shared_ptr<Dataset> base, std::vector<std::int64_t> samples)
      : Chosen(std::move(base)), samples_(std::move(samples)) {
    for (const std::int64_t sample : samples_) {
      if (sample < 0 || sample >= base_->size()) {
        throw Error(ErrorCode::kOutOfRange, "there is no sample " + std::to_string(sample) + " in a data set of " +
                                                std::to_string(base_->size()));
      }
    }
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  std::uint64_t fingerprint() const override {
    std::uint64_t hash = mix(base_->fingerprint(), "subset");
    for (const std::int64_t sample : samples_) hash = mix(hash, static_cast<std::uint64_t>(sample));
    return hash;
  }

 private:
  std::int64_t original(std::int64_t index) const override { return samples_[static_cast<std::size_t>(index)]; }
  std::vector<std::int64_t> samples_;
};

// Positions begin … begin + size - 1 of a permutation of all samples.
class Share : public Chosen {
 public:
  Share(std::shared_ptr<Dataset> base, const Permutation& order, std::uint64_t seed, std::int64_t begin,
        std::int64_t size)
      : Chosen(std::move(base)), order_(order), seed_(seed), begin_(begin), size_(size) {}
  std::int64_t size() const override { return size_; }
  std::uint64_t fingerprint() const override {
    const std::uint64_t hash = mix(mix(base_->fingerprint(), "split"), seed_);
    return mix(mix(hash, static_cast<std::uint64_t>(begin_)), static_cast<std::uint64_t>(size_));
  }

 private:
  std::int64_t original(std::int64_t index) const override { return order_(begin_ + index); }
  Permutation order_;
  std::uint64_t seed_;
  std::int64_t begin_;
  std::int64_t size_;
};

}  // namespace

std::shared_ptr<Dataset> subset_dataset(std::shared_ptr<Dataset> base, std::vector<std::int64_t> samples) {
  return std::make_shared<Subset>(std::move(base), std::move(samples));
}

std::vector<std::shared_ptr<Dataset>> random_split(std::shared_ptr<Dataset> base,
                                                   const std::vector<std::int64_t>& sizes, std::uint64_t seed) {
  if (!base) invalid("there is no data set to split");
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_add_overflow(sum, size, &sum)) {
      invalid("a part of a split cannot have " + std::to_string(size) + " samples");
    }
  }
  if (sum != base->size()) {
    invalid("the parts have " + std::to_string(sum) + " samples together, but the data set has " +
            std::to_string(base->size()));
  }
  const Permutation order(base->size(), seed, 0);
  std::vector<std::shared_ptr<Dataset>> parts;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(std::make_shared<Share>(base, order, seed, begin, size));
    begin += size;
  }
  return parts;
}

std::vector<std::int64_t> split_sizes(std::int64_t samples, const std::vector<double>& fractions) {
  constexpr double kRounding = 1e-9;  // of fractions such as 0.1, added up
  double sum = 0;
  for (std::size_t i = 0; i < fractions.size(); ++i) {
    if (!(fractions[i] >= 0 && fractions[i] <= 1)) {
      invalid("fraction " + std::to_string(i) + " is " + std::to_string(fractions[i]) + ", but must be from 0 to 1");
    }
    sum += fractions[i];
  }
  if (!(std::abs(sum - 1) <= kRounding)) {
    invalid("the fractions of a split are " + std::to_string(sum) + " together, but must be 1");
  }
  std::vector<std::int64_t> sizes;
  std::int64_t left = samples;
  for (const double fraction : fractions) {
    const double share = std::floor(static_cast<double>(samples) * fraction);
    sizes.push_back(std::min(left, static_cast<std::int64_t>(share)));
    left -= sizes.back();
  }
  for (std::size_t i = 0; left > 0; --left, i = (i + 1) % sizes.size()) ++sizes[i];
  return sizes;
}

}  // namespace tandem
