#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

#include "base/invalid.h"
#include "base/mix.h"
#include "tandem/derived_datasets.h"
#include "tandem/error.h"

namespace tandem {
namespace {

class Concat : public Dataset {
 public:
  explicit Concat(std::vector<std::shared_ptr<Dataset>> parts) : parts_(std::move(parts)) {
    if (parts_.empty()) invalid("there is no data set to concatenate");
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::string self = "data set " + std::to_string(i) + " of those to concatenate ";
      if (!parts_[i]) invalid(self + "is not there");
      if (parts_[i]->names() != parts_[0]->names()) invalid(self + "has tensors of other names than the first");
      first_.push_back(first_.back() + parts_[i]->size());
    }
  }
  std::int64_t size() const override { return first_.back(); }
  std::vector<std::string> names() const override { return parts_[0]->names(); }
  std::vector<at::Tensor> get(std::int64_t index) override {
    const std::size_t part = part_of(index);
    return parts_[part]->get(index - first_[part]);
  }
  std::vector<at::Tensor> get_random(std::int64_t index, std::uint64_t randomness) override {
    const std::size_t part = part_of(index);
    return parts_[part]->get_random(index - first_[part], randomness);
  }
  std::string place(std::int64_t index) const override {
    const std::size_t part = part_of(index);
    return parts_[part]->place(index - first_[part]);
  }
  std::uint64_t fingerprint() const override {
    std::uint64_t hash = mix(0, "concat");
    for (const auto& part : parts_) hash = mix(hash, part->fingerprint());
    return hash;
  }

  std::vector<at::Tensor> get_batch(std::span<const std::int64_t> samples, std::int64_t rows) override {
    return together(samples, rows, [](Dataset& part, const Wanted& wanted, std::int64_t of_part) {
      return part.get_batch(wanted.samples, of_part);
    });
  }
  std::vector<at::Tensor> get_random_batch(std::span<const std::int64_t> samples,
                                           std::span<const std::uint64_t> randomness, std::int64_t rows) override {
    return together(samples, rows, [&](Dataset& part, const Wanted& wanted, std::int64_t of_part) {
      std::vector<std::uint64_t> random;
      random.reserve(wanted.places.size());
      for (const std::int64_t place : wanted.places) random.push_back(randomness[static_cast<std::size_t>(place)]);
      return part.get_random_batch(wanted.samples, random, of_part);
    });
  }

 private:
  // Of a part: samples by its own numbers, and their rows in the batch.
  struct Wanted {
    std::vector<std::int64_t> samples, places;
  };

  // Each part gives its rows together, which then go where they belong.
  template <typename Get>
  std::vector<at::Tensor> together(std::span<const std::int64_t> samples, std::int64_t rows, const Get& get) {
    std::vector<Wanted> wanted(parts_.size());
    for (std::size_t row = 0; row < samples.size(); ++row) {
      const std::size_t part = part_of(samples[row]);
      wanted[part].samples.push_back(samples[row] - first_[part]);
      wanted[part].places.push_back(static_cast<std::int64_t>(row));
    }
    std::vector<at::Tensor> batch;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (parts_[part]->size() == 0) continue;
      if (wanted[part].samples.size() == samples.size()) return get(*parts_[part], wanted[part], rows);
      if (wanted[part].samples.empty()) continue;
      const auto pieces = get(*parts_[part], wanted[part], static_cast<std::int64_t>(wanted[part].samples.size()));
      require_rows(pieces, wanted[part].places.size(), part);
      if (batch.empty()) batch = zeros_like(pieces, rows);
      scatter(pieces, wanted[part].places, batch, part);
    }
    return batch;
  }

  std::size_t part_of(std::int64_t index) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), index) - first_.begin() - 1);
  }

  static void require_rows(const std::vector<at::Tensor>& pieces, std::size_t rows, std::size_t part) {
    for (const at::Tensor& piece : pieces) {
      if (piece.dim() > 0 && piece.size(0) == static_cast<std::int64_t>(rows)) continue;
      invalid("data set " + std::to_string(part) + " has no row for each sample, as packed fields have none, so its " +
              "batches cannot be mixed with another's; make one data set of the files of both");
    }
  }

  static std::vector<at::Tensor> zeros_like(const std::vector<at::Tensor>& pieces, std::int64_t rows) {
    std::vector<at::Tensor> batch;
    for (const at::Tensor& piece : pieces) {
      std::vector<std::int64_t> sizes = piece.sizes().vec();
      sizes[0] = rows;
      batch.push_back(at::zeros(sizes, at::TensorOptions(piece.scalar_type())));
    }
    return batch;
  }

  // Row i of each piece goes to row places[i] of the batch.
  static void scatter(const std::vector<at::Tensor>& pieces, const std::vector<std::int64_t>& places,
                      const std::vector<at::Tensor>& batch, std::size_t part) {
    bool alike = pieces.size() == batch.size();
    for (std::size_t i = 0; alike && i < pieces.size(); ++i) {
      alike =
          pieces[i].scalar_type() == batch[i].scalar_type() && pieces[i].sizes().slice(1) == batch[i].sizes().slice(1);
    }
    if (!alike) {
      invalid("the samples of data set " + std::to_string(part) +
              " are of other shapes or dtypes than those before it, with which they come into one batch; files of one "
              "schema whose lengths vary are better one data set, which pads them alike");
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const at::Tensor whole = pieces[i].contiguous();
      const std::size_t bytes = whole.nbytes() / places.size();
      if (bytes == 0) continue;
      const auto* from = static_cast<const char*>(whole.const_data_ptr());
      auto* to = static_cast<char*>(batch[i].mutable_data_ptr());
      for (std::size_t row = 0; row < places.size(); ++row) {
        std::memcpy(to + static_cast<std::size_t>(places[row]) * bytes, from + row * bytes, bytes);
      }
    }
  }

  std::vector<std::shared_ptr<Dataset>> parts_;
  std::vector<std::int64_t> first_ = {0};  // sample of each part, and their number
};

}  // namespace

std::shared_ptr<Dataset> concat_dataset(std::vector<std::shared_ptr<Dataset>> parts) {
  return std::make_shared<Concat>(std::move(parts));
}

}  // namespace tandem
