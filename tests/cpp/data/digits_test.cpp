#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cpp/data/temp_dir.h"
#include "draw_digits.h"
#include "tandem/mnist.h"
#include "tandem/recordio.h"

namespace tandem::testing::digits_test {
namespace {

using namespace digits;

TEST(Digits, AreAPureFunctionOfSeedSeriesAndIndex) {
  const DrawnDigit one = draw_digit(1, 0, 5);
  EXPECT_EQ(draw_digit(1, 0, 5).pixels, one.pixels);
  EXPECT_NE(draw_digit(2, 0, 5).pixels, one.pixels);
  EXPECT_NE(draw_digit(1, 1, 5).pixels, one.pixels);
  EXPECT_NE(draw_digit(1, 0, 6).pixels, one.pixels);
}

TEST(Digits, AreAllThereAndNoTwoAlike) {
  std::set<std::array<std::uint8_t, kSide * kSide>> images;
  std::vector<int> counts(10);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const DrawnDigit digit = draw_digit(3, 0, i);
    ASSERT_LT(digit.label, 10);
    ++counts[digit.label];
    images.insert(digit.pixels);
    // Ink that one can see, on mostly empty paper.
    const auto dark = std::count_if(digit.pixels.begin(), digit.pixels.end(), [](int p) { return p > 128; });
    EXPECT_GE(dark, 8) << i;
    EXPECT_LE(dark, kSide * kSide / 2) << i;
  }
  EXPECT_EQ(images.size(), 2000u);
  for (const int count : counts) EXPECT_NEAR(count, 200, 60);
}

TEST(Digits, BecomeIdxFilesThatImport) {
  test::TempDir dir;
  write_digits(dir / "new/folder", 30, 20, 7);
  const std::string folder = dir / "new/folder/";
  EXPECT_EQ(mnist_to_recordio(folder + "train-images-idx3-ubyte.gz", folder + "train-labels-idx1-ubyte.gz", dir / "a"),
            30);
  EXPECT_EQ(mnist_to_recordio(folder + "t10k-images-idx3-ubyte.gz", folder + "t10k-labels-idx1-ubyte.gz", dir / "b"),
            20);
  RecordIOReader test(dir / "b");
  const DrawnDigit expected = draw_digit(7, 1, 19);
  EXPECT_EQ(test[19][0], expected.label);
  EXPECT_TRUE(std::ranges::equal(test[19].subspan(1), expected.pixels));
}

// Softmax regression over pixels, trained by mini-batch gradient descent with momentum.
class LinearModel {
 public:
  void train(const std::vector<DrawnDigit>& digits, int epochs) {
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const float rate = 0.05f * static_cast<float>(epochs - epoch) / static_cast<float>(epochs);
      for (std::size_t at = 0; at < digits.size(); at += kBatch) {
        for (auto& g : gradient_) g *= 0.9f;
        const std::size_t end = std::min(at + kBatch, digits.size());
        for (std::size_t i = at; i < end; ++i) accumulate(digits[i], 1 / static_cast<float>(end - at));
        for (std::size_t w = 0; w < weights_.size(); ++w) weights_[w] -= rate * gradient_[w];
      }
    }
  }

  double accuracy(const std::vector<DrawnDigit>& digits) const {
    int right = 0;
    for (const auto& digit : digits) {
      const auto score = scores(digit);
      right += std::max_element(score.begin(), score.end()) - score.begin() == digit.label;
    }
    return right / static_cast<double>(digits.size());
  }

 private:
  static constexpr std::size_t kInputs = kSide * kSide + 1;  // the last one is always 1
  static constexpr std::size_t kBatch = 32;

  static float input(const DrawnDigit& digit, std::size_t i) {
    return i + 1 < kInputs ? static_cast<float>(digit.pixels[i]) / 255 : 1;
  }

  std::array<float, 10> scores(const DrawnDigit& digit) const {
    std::array<float, 10> score{};
    for (std::size_t i = 0; i < kInputs; ++i) {
      const float x = input(digit, i);
      for (std::size_t c = 0; c < 10; ++c) score[c] += weights_[i * 10 + c] * x;
    }
    return score;
  }

  void accumulate(const DrawnDigit& digit, float share) {
    auto p = scores(digit);
    const float top = *std::max_element(p.begin(), p.end());
    float sum = 0;
    for (float& x : p) sum += x = std::exp(x - top);
    for (std::size_t c = 0; c < 10; ++c) p[c] = share * (p[c] / sum - (c == digit.label ? 1.f : 0.f));
    for (std::size_t i = 0; i < kInputs; ++i) {
      const float x = input(digit, i);
      for (std::size_t c = 0; c < 10; ++c) gradient_[i * 10 + c] += p[c] * x;
    }
  }

  std::vector<float> weights_ = std::vector<float>(kInputs * 10);
  std::vector<float> gradient_ = std::vector<float>(kInputs * 10);
};

// The demo would prove little with digits that need no network. (That the network does learn them, the examples' tests
// check.)
TEST(Digits, AreTooHardForALinearModel) {
  std::vector<DrawnDigit> train, test;
  for (std::uint64_t i = 0; i < 6000; ++i) train.push_back(draw_digit(1, 0, i));
  for (std::uint64_t i = 0; i < 1000; ++i) test.push_back(draw_digit(1, 1, i));
  LinearModel model;
  model.train(train, 12);
  const double accuracy = model.accuracy(test);
  std::printf("linear model: %.1f %% of test digits, %.1f %% of training digits\n", 100 * accuracy,
              100 * model.accuracy(train));
  EXPECT_GT(accuracy, 0.5) << "the linear model was not trained well";
  EXPECT_LT(accuracy, 0.95);
}

}  // namespace
}  // namespace tandem::testing::digits_test
