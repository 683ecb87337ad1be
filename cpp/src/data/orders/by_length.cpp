#include <algorithm>

#include "data/orders/order_hash.h"
#include "tandem/error.h"
#include "tandem/samplers.h"

namespace tandem {
namespace {

class ByLength : public SampleOrder {
 public:
  ByLength(std::vector<std::int64_t> lengths, std::int64_t batch_size, std::int64_t window)
      : name_("by length " + order_hash(lengths) + ", " + std::to_string(window) + " batches of " +
              std::to_string(batch_size)),
        lengths_(std::move(lengths)),
        shuffled_(shuffled_order(size())),
        batch_(batch_size),
        window_(batch_size * window) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(lengths_.size()); }
  std::string name() const override { return name_; }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    while (!out.empty()) {
      const std::int64_t number = first / window_;
      const std::vector<std::int64_t> order = window(seed, epoch, number);
      const std::int64_t offset = first - number * window_;
      const std::size_t count = std::min(out.size(), order.size() - static_cast<std::size_t>(offset));
      std::copy_n(order.begin() + offset, count, out.begin());
      out = out.subspan(count);
      first += static_cast<std::int64_t>(count);
    }
  }

 private:
  // The samples of one window, in their order.
  std::vector<std::int64_t> window(std::uint64_t seed, std::int64_t epoch, std::int64_t number) const {
    const std::int64_t begin = number * window_;
    std::vector<std::int64_t> sorted(static_cast<std::size_t>(std::min(window_, size() - begin)));
    shuffled_->samples(seed, epoch, begin, sorted);
    std::sort(sorted.begin(), sorted.end(),
              [this](std::int64_t a, std::int64_t b) { return std::pair(length(a), a) < std::pair(length(b), b); });
    // Whole batches are shuffled; what the data set's last window has left over, its longest, comes last.
    const std::int64_t whole = static_cast<std::int64_t>(sorted.size()) / batch_;
    const Permutation order(whole, mix(seed, static_cast<std::uint64_t>(number)), static_cast<std::uint64_t>(epoch));
    std::vector<std::int64_t> samples = sorted;
    for (std::int64_t batch = 0; batch < whole; ++batch) {
      std::copy_n(sorted.begin() + order(batch) * batch_, batch_, samples.begin() + batch * batch_);
    }
    return samples;
  }
  std::int64_t length(std::int64_t sample) const { return lengths_[static_cast<std::size_t>(sample)]; }

  std::string name_;
  std::vector<std::int64_t> lengths_;
  std::shared_ptr<const SampleOrder> shuffled_;
  std::int64_t batch_;
  std::int64_t window_;  // in samples
};

}  // namespace

std::shared_ptr<const SampleOrder> length_bucketed_order(std::vector<std::int64_t> lengths, std::int64_t batch_size,
                                                         std::int64_t window) {
  std::int64_t samples = 0;
  if (batch_size < 1 || window < 1 || __builtin_mul_overflow(batch_size, window, &samples)) {
    throw Error(ErrorCode::kInvalidArgument, "a window of " + std::to_string(window) + " batches of " +
                                                 std::to_string(batch_size) + " cannot be; both must be at least 1");
  }
  return std::make_shared<ByLength>(std::move(lengths), batch_size, window);
}

}  // namespace tandem
