// Liu et al. 2022, "A ConvNet for the 2020s". Source: torchvision.models.convnext.
#include <array>

#include "models/network.h"
#include "models/options.h"
#include "models/vision/convolution.h"
#include "models/vision/initialize.h"
#include "nn/modules/layer_norm.h"

namespace tandem::models {
namespace {

constexpr double kConvNextEps = 1e-6;

struct ConvNextSettings {
  std::array<int64_t, 4> layers;
  int64_t num_classes = 1000;
  double stochastic_depth_prob = 0, layer_scale = 1e-6;
  int64_t width = 96;  // channels of the first stage, twice as many in each that follows
};

// Over the channels of [batch, channels, height, width].
class ChannelNormImpl : public nn::LayerNormImpl {
 public:
  explicit ChannelNormImpl(int64_t channels) : LayerNormImpl(nn::LayerNormSettings{{channels}, kConvNextEps}) {}
  at::Tensor forward(const at::Tensor& x) {
    return LayerNormImpl::forward(x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
  }
};

// Huang et al. 2016: leaves out x of whole samples with probability p. Source: torchvision.ops.stochastic_depth.
at::Tensor drop_samples(const at::Tensor& x, double p, bool training) {
  if (!training || p == 0) return x;
  const at::Tensor kept = at::empty({x.size(0), 1, 1, 1}, x.options()).bernoulli_(1 - p);
  return x * (p < 1 ? kept.div_(1 - p) : kept);
}

class ConvNextBlock : public Layer {
 public:
  ConvNextBlock(int64_t dim, double layer_scale, double drop) : drop_(drop) {
    block_ = std::make_shared<Row>();
    block_->add(convolution(dim, dim, 7, 1, dim, 1, true));
    block_->add_function([](const at::Tensor& x) { return x.permute({0, 2, 3, 1}); });
    block_->add(nn::LayerNorm(nn::LayerNormSettings{{dim}, kConvNextEps}));
    block_->add(torch::nn::Linear(dim, 4 * dim));
    block_->add_function([](const at::Tensor& x) { return at::gelu(x); });
    block_->add(torch::nn::Linear(4 * dim, dim));
    block_->add_function([](const at::Tensor& x) { return x.permute({0, 3, 1, 2}); });
    register_module("block", block_);
    layer_scale_ = register_parameter("layer_scale", torch::ones({dim, 1, 1}) * layer_scale);
  }

  at::Tensor forward(const at::Tensor& x) override {
    return x + drop_samples(layer_scale_ * block_->forward(x), drop_, is_training());
  }

 private:
  std::shared_ptr<Row> block_;
  at::Tensor layer_scale_;
  double drop_;
};

class ConvNextImpl : public Network<ConvNextImpl, ConvNextSettings> {
 public:
  explicit ConvNextImpl(const ConvNextSettings& s) : Network(s) {
    const auto stem = std::make_shared<Row>();
    stem->add(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, s.width, 4).stride(4)));
    stem->add(std::make_shared<ChannelNormImpl>(s.width));
    features_->add(stem);
    double blocks = 0, before = 0;
    for (const int64_t count : s.layers) blocks += static_cast<double>(count);
    for (std::size_t i = 0; i < s.layers.size(); ++i) {
      const int64_t dim = s.width << i;
      const auto stage = std::make_shared<Row>();
      for (int64_t j = 0; j < s.layers[i]; ++j) {
        const double drop = s.stochastic_depth_prob * before++ / (blocks - 1);
        stage->add(std::make_shared<ConvNextBlock>(dim, s.layer_scale, drop));
      }
      features_->add(stage);
      if (i + 1 == s.layers.size()) break;
      const auto downsample = std::make_shared<Row>();
      downsample->add(std::make_shared<ChannelNormImpl>(dim));
      downsample->add(torch::nn::Conv2d(torch::nn::Conv2dOptions(dim, 2 * dim, 2).stride(2)));
      features_->add(downsample);
    }
    const int64_t last = s.width << (s.layers.size() - 1);
    classifier_->add(std::make_shared<ChannelNormImpl>(last));
    classifier_->add_function([](const at::Tensor& x) { return x.flatten(1); });
    classifier_->add(torch::nn::Linear(last, s.num_classes));
    register_module("features", features_);
    register_module("classifier", classifier_);
    initialize();
  }

  at::Tensor forward(const at::Tensor& input) {
    return classifier_->forward(at::adaptive_avg_pool2d(features_->forward(input), {1, 1}));
  }

 private:
  void initialize() {
    const auto draw = [](const at::Tensor& weight, const at::Tensor& bias) {
      nn::init::trunc_normal_(weight, 0, 0.02);
      nn::init::zeros_(bias);
    };
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* convolution = module->as<torch::nn::Conv2d>()) draw(convolution->weight, convolution->bias);
      if (auto* linear = module->as<torch::nn::Linear>()) draw(linear->weight, linear->bias);
    }
  }

  std::shared_ptr<Row> features_ = std::make_shared<Row>(), classifier_ = std::make_shared<Row>();
};
TORCH_MODULE(ConvNext);

struct ConvNextKind {
  std::array<int64_t, 4> layers;
  int64_t width;
  double stochastic_depth_prob;
};

template <ConvNextKind kind>
Made convnext(ModuleOptions& o) {
  ConvNextSettings s{.layers = kind.layers, .stochastic_depth_prob = kind.stochastic_depth_prob, .width = kind.width};
  o.read("num_classes", s.num_classes).read("stochastic_depth_prob", s.stochastic_depth_prob);
  o.read("layer_scale", s.layer_scale).read("width", s.width);
  check_range(o, "num_classes", s.num_classes);
  check_probability(o, "stochastic_depth_prob", s.stochastic_depth_prob);
  check_range(o, "width", s.width, 1 << 16);
  return nn::wrap<ConvNext>(o, {"input"}, s);
}

const Registered kConvNexts[] = {
    {"convnext_tiny", convnext<ConvNextKind{{3, 3, 9, 3}, 96, 0.1}>},
    {"convnext_small", convnext<ConvNextKind{{3, 3, 27, 3}, 96, 0.4}>},
    {"convnext_base", convnext<ConvNextKind{{3, 3, 27, 3}, 128, 0.5}>},
    {"convnext_large", convnext<ConvNextKind{{3, 3, 27, 3}, 192, 0.5}>},
};
const nn::Registration kConvNextsRegistered(kConvNexts);

}  // namespace
}  // namespace tandem::models
