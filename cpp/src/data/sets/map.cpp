#include "data/loader/rows.h"
#include "tandem/derived_datasets.h"
#include "tandem/error.h"

namespace tandem {
namespace {

class Map : public Dataset {
 public:
  Map(std::shared_ptr<Dataset> base, SampleMap body, std::vector<std::string> names)
      : base_(std::move(base)), body_(std::move(body)), names_(std::move(names)) {
    if (!base_ || !body_) throw Error(ErrorCode::kInvalidArgument, "a map needs a data set and a function");
    if (names_.empty()) names_ = base_->names();
  }
  std::int64_t size() const override { return base_->size(); }
  std::vector<at::Tensor> get(std::int64_t index) override { return body_(base_->get(index)); }
  std::vector<at::Tensor> get_random(std::int64_t index, std::uint64_t randomness) override {
    return body_(base_->get_random(index, randomness));
  }
  std::vector<at::Tensor> get_random_batch(std::span<const std::int64_t> samples,
                                           std::span<const std::uint64_t> randomness, std::int64_t rows) override {
    return loader::stack(*this, samples, rows, [&](std::int64_t sample, std::size_t place) {
      return samples.empty() ? get(sample) : get_random(sample, randomness[place]);
    });
  }
  std::vector<std::string> names() const override { return names_; }
  std::string place(std::int64_t index) const override { return base_->place(index); }
  std::uint64_t fingerprint() const override { return base_->fingerprint(); }

 private:
  std::shared_ptr<Dataset> base_;
  SampleMap body_;
  std::vector<std::string> names_;
};

}  // namespace

std::shared_ptr<Dataset> map_dataset(std::shared_ptr<Dataset> base, SampleMap body, std::vector<std::string> names) {
  return std::make_shared<Map>(std::move(base), std::move(body), std::move(names));
}

}  // namespace tandem
