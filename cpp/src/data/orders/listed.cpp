#include <algorithm>

#include "data/orders/epoch_list.h"
#include "tandem/error.h"
#include "tandem/samplers.h"

namespace tandem {
namespace {

class Listed : public SampleOrder {
 public:
  Listed(std::string name, std::int64_t positions, EpochSamples list)
      : name_(std::move(name)), positions_(positions), list_(std::move(list)) {}
  std::int64_t size() const override { return positions_; }
  std::string name() const override { return name_; }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    const auto all = epochs_.get(seed, epoch, [&] {
      std::vector<std::int64_t> samples(static_cast<std::size_t>(positions_), -1);
      list_(seed, epoch, samples);
      return samples;
    });
    std::copy_n(all->begin() + first, out.size(), out.begin());
  }

 private:
  std::string name_;
  std::int64_t positions_;
  EpochSamples list_;
  EpochList epochs_;
};

}  // namespace

std::shared_ptr<const SampleOrder> listed_order(std::string name, std::int64_t positions, EpochSamples list) {
  if (!list) throw Error(ErrorCode::kInvalidArgument, "the order '" + name + "' has no function that lists an epoch");
  if (positions < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "the order '" + name + "' cannot have " + std::to_string(positions) + " positions");
  }
  return std::make_shared<Listed>(std::move(name), positions, std::move(list));
}

}  // namespace tandem
