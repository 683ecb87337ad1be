#include <algorithm>

#include "base/mix.h"
#include "tandem/error.h"
#include "tandem/sample_order.h"

namespace tandem {
namespace {

// The shuffled blocks of an epoch, one after the other, cut into windows of `window` blocks. All blocks have `block`
// samples but the last of the data set, which may be shorter: the window that it falls into (`short_window_`) has fewer
// positions, and those behind begin that much earlier.
class Epoch {
 public:
  Epoch(std::int64_t samples, std::int64_t block, std::int64_t window, std::uint64_t seed, std::int64_t epoch)
      : seed_(seed),
        epoch_(static_cast<std::uint64_t>(epoch)),
        block_(block),
        window_(window),
        count_((samples + block - 1) / block),
        missing_(count_ * block - samples),
        blocks_(count_, mix(seed, 0), epoch_) {
    short_slot_ = blocks_.inverse(count_ - 1);
    short_window_ = short_slot_ / window_;
  }

  void samples(std::int64_t position, std::span<std::int64_t> out) const {
    const std::int64_t full = block_ * window_;
    for (std::size_t done = 0; done < out.size();) {
      const std::int64_t number = window_of(position);
      const std::int64_t begin = number * full - (number > short_window_ ? missing_ : 0);
      const std::int64_t blocks = std::min(window_, count_ - number * window_);
      const std::int64_t size = blocks * block_ - (number == short_window_ ? missing_ : 0);
      const Permutation order(size, mix(seed_, static_cast<std::uint64_t>(number) + 1), epoch_);
      for (; done < out.size() && position < begin + size; ++position) {
        out[done++] = sample_in(number, order(position - begin));
      }
    }
  }

 private:
  std::int64_t window_of(std::int64_t position) const {
    const std::int64_t full = block_ * window_;
    const std::int64_t number = position / full;
    if (number < short_window_) return number;
    return std::max(short_window_, (position + missing_) / full);
  }

  // The sample at `offset` of the blocks of window `number`.
  std::int64_t sample_in(std::int64_t number, std::int64_t offset) const {
    if (number == short_window_ && offset >= (short_slot_ - number * window_ + 1) * block_ - missing_) {
      offset += missing_;
    }
    return blocks_(number * window_ + offset / block_) * block_ + offset % block_;
  }

  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::int64_t block_;
  std::int64_t window_;
  std::int64_t count_;    // of blocks
  std::int64_t missing_;  // samples that the last block has less
  Permutation blocks_;
  std::int64_t short_slot_ = 0;    // where the last block comes
  std::int64_t short_window_ = 0;  // and in which window that is
};

class BlockShuffled : public SampleOrder {
 public:
  BlockShuffled(std::int64_t samples, std::int64_t block, std::int64_t window)
      // Larger ones than the data set are as one of its size, and cannot overflow.
      : samples_(samples),
        block_(std::min(block, std::max<std::int64_t>(samples, 1))),
        window_(std::min(window, std::max<std::int64_t>((samples + block_ - 1) / block_, 1))),
        name_("block shuffle of " + std::to_string(block) + " in " + std::to_string(window)) {}

  std::int64_t size() const override { return samples_; }
  std::string name() const override { return name_; }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    if (!out.empty()) Epoch(samples_, block_, window_, seed, epoch).samples(first, out);
  }

 private:
  std::int64_t samples_;
  std::int64_t block_;
  std::int64_t window_;
  std::string name_;
};

}  // namespace

std::shared_ptr<const SampleOrder> block_shuffled_order(std::int64_t samples, std::int64_t block, std::int64_t window) {
  const auto check = [](const char* what, std::int64_t value) {
    if (value >= 1) return;
    throw Error(ErrorCode::kInvalidArgument,
                std::string(what) + " is " + std::to_string(value) + ", but must be at least 1");
  };
  check("a block shuffle's block", block);
  check("a block shuffle's window", window);
  return std::make_shared<BlockShuffled>(samples, block, window);
}

}  // namespace tandem
