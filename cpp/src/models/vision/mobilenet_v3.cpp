// Howard et al. 2019, "Searching for MobileNetV3". Source: torchvision.models.mobilenetv3.
#include <algorithm>
#include <array>
#include <vector>

#include "models/network.h"
#include "models/options.h"
#include "models/vision/convolution.h"
#include "models/vision/initialize.h"
#include "nn/modules/network_batch_norm.h"

namespace tandem::models {
namespace {

struct MobileNetV3Settings {
  bool large;
  int64_t num_classes = 1000;
  double width_mult = 1, dropout = 0.2;
  bool reduced_tail = false, dilated = false;
};

// A multiple of 8 that is at least nine tenths of it.
int64_t whole_channels(double channels) {
  const int64_t rounded = std::max<int64_t>(8, static_cast<int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

struct MobileBlock {
  int64_t in, kernel, expanded, out;
  bool squeezes, hardswish;
  int64_t stride = 1, dilation = 1;
};

std::vector<MobileBlock> mobile_blocks(const MobileNetV3Settings& s) {
  constexpr bool kPlain = false, kSqueeze = true, kRelu = false, kHardswish = true;
  const int64_t part = s.reduced_tail ? 2 : 1, dilation = s.dilated ? 2 : 1;
  std::vector<MobileBlock> blocks;
  if (s.large) {
    const int64_t tail = 160 / part;
    blocks = {{16, 3, 16, 16, kPlain, kRelu},
              {16, 3, 64, 24, kPlain, kRelu, 2},
              {24, 3, 72, 24, kPlain, kRelu},
              {24, 5, 72, 40, kSqueeze, kRelu, 2},
              {40, 5, 120, 40, kSqueeze, kRelu},
              {40, 5, 120, 40, kSqueeze, kRelu},
              {40, 3, 240, 80, kPlain, kHardswish, 2},
              {80, 3, 200, 80, kPlain, kHardswish},
              {80, 3, 184, 80, kPlain, kHardswish},
              {80, 3, 184, 80, kPlain, kHardswish},
              {80, 3, 480, 112, kSqueeze, kHardswish},
              {112, 3, 672, 112, kSqueeze, kHardswish},
              {112, 5, 672, tail, kSqueeze, kHardswish, 2, dilation},
              {tail, 5, 960 / part, tail, kSqueeze, kHardswish, 1, dilation},
              {tail, 5, 960 / part, tail, kSqueeze, kHardswish, 1, dilation}};
  } else {
    const int64_t tail = 96 / part;
    blocks = {{16, 3, 16, 16, kSqueeze, kRelu, 2},
              {16, 3, 72, 24, kPlain, kRelu, 2},
              {24, 3, 88, 24, kPlain, kRelu},
              {24, 5, 96, 40, kSqueeze, kHardswish, 2},
              {40, 5, 240, 40, kSqueeze, kHardswish},
              {40, 5, 240, 40, kSqueeze, kHardswish},
              {40, 5, 120, 48, kSqueeze, kHardswish},
              {48, 5, 144, 48, kSqueeze, kHardswish},
              {48, 5, 288, tail, kSqueeze, kHardswish, 2, dilation},
              {tail, 5, 576 / part, tail, kSqueeze, kHardswish, 1, dilation},
              {tail, 5, 576 / part, tail, kSqueeze, kHardswish, 1, dilation}};
  }
  for (MobileBlock& block : blocks) {
    for (int64_t* channels : {&block.in, &block.expanded, &block.out}) {
      *channels = whole_channels(static_cast<double>(*channels) * s.width_mult);
    }
  }
  return blocks;
}

enum class Active { kNone, kRelu, kHardswish };

std::shared_ptr<Row> normalized(const torch::nn::Conv2d& convolution, Active active) {
  const auto row = std::make_shared<Row>();
  row->add(convolution);
  row->add(nn::NetworkBatchNorm2d(
      torch::nn::BatchNormOptions(convolution->options.out_channels()).eps(0.001).momentum(0.01)));
  if (active == Active::kRelu) row->add_relu();
  if (active == Active::kHardswish) row->add_function([](const at::Tensor& x) { return at::hardswish(x); });
  return row;
}

// Hu et al. 2018: each channel times a number from 0 to 1 that the channels' means decide.
class SqueezeExcitation : public Layer {
 public:
  explicit SqueezeExcitation(int64_t channels) {
    const int64_t squeezed = whole_channels(static_cast<double>(channels / 4));
    fc1_ = register_module("fc1", convolution(channels, squeezed, 1, 1, 1, 1, true));
    fc2_ = register_module("fc2", convolution(squeezed, channels, 1, 1, 1, 1, true));
  }
  at::Tensor forward(const at::Tensor& x) override {
    const at::Tensor means = at::adaptive_avg_pool2d(x, {1, 1});
    return at::hardsigmoid(fc2_(fc1_(means).relu_())) * x;
  }

 private:
  torch::nn::Conv2d fc1_ = nullptr, fc2_ = nullptr;
};

class InvertedResidual : public Layer {
 public:
  explicit InvertedResidual(const MobileBlock& b) : adds_(b.stride == 1 && b.in == b.out) {
    const Active active = b.hardswish ? Active::kHardswish : Active::kRelu;
    if (b.expanded != b.in) block_->add(normalized(convolution(b.in, b.expanded, 1), active));
    const int64_t stride = b.dilation > 1 ? 1 : b.stride;
    block_->add(normalized(convolution(b.expanded, b.expanded, b.kernel, stride, b.expanded, b.dilation), active));
    if (b.squeezes) block_->add(std::make_shared<SqueezeExcitation>(b.expanded));
    block_->add(normalized(convolution(b.expanded, b.out, 1), Active::kNone));
    register_module("block", block_);
  }
  at::Tensor forward(const at::Tensor& x) override {
    const at::Tensor y = block_->forward(x);
    return adds_ ? y + x : y;
  }

 private:
  std::shared_ptr<Row> block_ = std::make_shared<Row>();
  bool adds_;
};

class MobileNetV3Impl : public Network<MobileNetV3Impl, MobileNetV3Settings> {
 public:
  explicit MobileNetV3Impl(const MobileNetV3Settings& s) : Network(s) {
    const auto blocks = mobile_blocks(s);
    features_->add(normalized(convolution(3, blocks.front().in, 3, 2), Active::kHardswish));
    for (const MobileBlock& block : blocks) features_->add(std::make_shared<InvertedResidual>(block));
    const int64_t last = 6 * blocks.back().out;
    features_->add(normalized(convolution(blocks.back().out, last, 1), Active::kHardswish));
    const int64_t hidden = whole_channels((s.large ? 1280.0 : 1024.0) / (s.reduced_tail ? 2 : 1) * s.width_mult);
    linears_[0] = classifier_->add(torch::nn::Linear(last, hidden));
    classifier_->add_function([](const at::Tensor& x) { return at::hardswish(x); });
    classifier_->add_dropout(s.dropout);
    linears_[1] = classifier_->add(torch::nn::Linear(hidden, s.num_classes));
    register_module("features", features_);
    register_module("classifier", classifier_);
    initialize_convolutions(*this);
    for (const auto& linear : linears_) {
      nn::init::normal_(linear->weight, 0, 0.01);
      nn::init::zeros_(linear->bias);
    }
  }

  at::Tensor forward(const at::Tensor& input) {
    return classifier_->forward(mean_of_pixels(features_->forward(input)));
  }

 private:
  std::shared_ptr<Row> features_ = std::make_shared<Row>(), classifier_ = std::make_shared<Row>();
  std::array<std::shared_ptr<torch::nn::LinearImpl>, 2> linears_;
};
TORCH_MODULE(MobileNetV3);

template <bool large>
Made mobilenet_v3(ModuleOptions& o) {
  MobileNetV3Settings s{.large = large};
  o.read("num_classes", s.num_classes).read("width_mult", s.width_mult).read("dropout", s.dropout);
  o.read("reduced_tail", s.reduced_tail).read("dilated", s.dilated);
  check_range(o, "num_classes", s.num_classes);
  check_probability(o, "dropout", s.dropout);
  if (!(s.width_mult > 0 && s.width_mult <= 64)) {
    o.refuse("width_mult", "must be above 0 and at most 64, not " + std::to_string(s.width_mult));
  }
  return nn::wrap<MobileNetV3>(o, {"input"}, s);
}

const Registered kMobileNets[] = {
    {"mobilenet_v3_small", mobilenet_v3<false>},
    {"mobilenet_v3_large", mobilenet_v3<true>},
};
const nn::Registration kMobileNetsRegistered(kMobileNets);

}  // namespace
}  // namespace tandem::models
