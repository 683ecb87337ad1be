#include "ddp/gradients/sample_weights.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/engine.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "tandem/error.h"

namespace tandem {
namespace {

std::vector<double> shares_of(const std::vector<std::int64_t>& samples) {
  const auto all = static_cast<double>(
      std::max<std::int64_t>(std::accumulate(samples.begin(), samples.end(), std::int64_t{0}), 1));
  std::vector<double> shares;
  for (const std::int64_t count : samples) shares.push_back(static_cast<double>(count) / all);
  return shares;
}

std::string listed(const std::vector<std::int64_t>& samples) {
  std::string text;
  for (const std::int64_t count : samples) text += (text.empty() ? "" : ", ") + std::to_string(count);
  return text;
}

}  // namespace

void SampleWeights::begin(const std::shared_ptr<RollCall>& roll) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::find(begun_.begin(), begun_.end(), roll) != begun_.end()) return;
  const std::vector<std::int64_t> samples = roll->samples_by_rank();
  std::vector<double> shares = shares_of(samples);
  if (!begun_.empty() && shares != shares_) {
    throw Error(ErrorCode::kInvalidArgument,
                "average_by_samples: two forwards before one backward have batches of which ranks have different "
                "shares (samples by rank: " +
                    listed(begun_.front()->samples_by_rank()) + " in one, " + listed(samples) +
                    " in the other), so that a parameter's gradient has no one weight; call backward after each of "
                    "them, in no_sync() after all but the last");
  }
  if (begun_.empty()) {
    torch::autograd::Engine::get_default_engine().queue_callback([weak = weak_from_this()] {
      if (const auto weights = weak.lock()) weights->forget();
    });
  }
  begun_.push_back(roll);
  shares_ = std::move(shares);
}

void SampleWeights::expect(const std::shared_ptr<RollCall>& roll) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(expected_, [](const auto& one) { return one.expired(); });
  expected_.push_back(roll);
}

at::Tensor SampleWeights::weigh(const at::Tensor& gradient) {
  for (const auto& roll : unseen()) begin(roll);
  double weight = 1;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!begun_.empty()) weight = shares_[static_cast<std::size_t>(rank_)] * size_;
  }
  return weight == 1 || !gradient.defined() ? gradient : gradient * weight;
}

// What backward must be of that comes to a parameter first.
std::vector<std::shared_ptr<RollCall>> SampleWeights::unseen() {
  std::vector<std::shared_ptr<RollCall>> rolls;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!begun_.empty()) return rolls;
  for (const auto& weak : expected_) {
    if (auto roll = weak.lock()) rolls.push_back(std::move(roll));
  }
  return rolls;
}

void SampleWeights::forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(expected_, [this](const auto& one) {
    const auto roll = one.lock();
    return !roll || std::find(begun_.begin(), begun_.end(), roll) != begun_.end();
  });
  begun_.clear();
}

}  // namespace tandem
