// He et al. 2016, "Deep Residual Learning for Image Recognition". Source: torchvision.models.resnet.
#include <array>

#include "models/network.h"
#include "models/options.h"
#include "models/vision/convolution.h"
#include "models/vision/initialize.h"
#include "nn/modules/network_batch_norm.h"

namespace tandem::models {
namespace {

struct ResNetSettings {
  bool bottleneck;
  std::array<int64_t, 4> layers;
  int64_t num_classes = 1000;
  bool zero_init_residual = false;
  int64_t groups = 1, width_per_group = 64;
  int64_t width = 64;  // channels of the first stage; torchvision has it fixed

  int64_t expansion() const { return bottleneck ? 4 : 1; }
};

class ResidualBlock : public Layer {
 public:
  ResidualBlock(const ResNetSettings& s, int64_t in, int64_t planes, int64_t stride) {
    const int64_t out = planes * s.expansion();
    // Made first: torchvision draws its weights before the others.
    std::shared_ptr<Row> downsample;
    if (stride != 1 || in != out) {
      downsample = std::make_shared<Row>();
      downsample->add(convolution(in, out, 1, stride));
      downsample->add(nn::NetworkBatchNorm2d(out));
    }
    if (s.bottleneck) {
      const auto inner =
          static_cast<int64_t>(static_cast<double>(planes) * static_cast<double>(s.width_per_group) / 64) * s.groups;
      add(convolution(in, inner, 1), inner);
      add(convolution(inner, inner, 3, stride, s.groups), inner);
      add(convolution(inner, out, 1), out);
    } else {
      add(convolution(in, planes, 3, stride), planes);
      add(convolution(planes, planes, 3), planes);
    }
    if (downsample) downsample_ = register_module("downsample", downsample);
  }

  at::Tensor forward(const at::Tensor& x) override {
    at::Tensor y = x;
    for (std::size_t i = 0; i < convolutions_.size(); ++i) {
      y = norms_[i](convolutions_[i](y));
      if (i + 1 < convolutions_.size()) y = at::relu_(y);
    }
    y = y + (downsample_ ? downsample_->forward(x) : x);
    return at::relu_(y);
  }

  const at::Tensor& last_scale() const { return norms_.back()->weight; }

 private:
  void add(const torch::nn::Conv2d& convolution, int64_t channels) {
    const std::string number = std::to_string(convolutions_.size() + 1);
    convolutions_.push_back(register_module("conv" + number, convolution));
    norms_.push_back(register_module("bn" + number, nn::NetworkBatchNorm2d(channels)));
  }

  std::vector<torch::nn::Conv2d> convolutions_;
  std::vector<nn::NetworkBatchNorm2d> norms_;
  std::shared_ptr<Row> downsample_;
};

class ResNetImpl : public Network<ResNetImpl, ResNetSettings> {
 public:
  explicit ResNetImpl(const ResNetSettings& s) : Network(s) {
    conv1_ = register_module("conv1", convolution(3, s.width, 7, 2));
    bn1_ = register_module("bn1", nn::NetworkBatchNorm2d(s.width));
    int64_t in = s.width;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const int64_t planes = s.width << i;
      stages_[i] = std::make_shared<Row>();
      for (int64_t j = 0; j < s.layers[i]; ++j) {
        const auto block = std::make_shared<ResidualBlock>(s, in, planes, i > 0 && j == 0 ? 2 : 1);
        stages_[i]->add(block);
        blocks_.push_back(block);
        in = planes * s.expansion();
      }
      register_module("layer" + std::to_string(i + 1), stages_[i]);
    }
    fc_ = register_module("fc", torch::nn::Linear(in, s.num_classes));
    initialize_convolutions(*this);
    if (!s.zero_init_residual) return;
    for (const auto& block : blocks_) nn::init::zeros_(block->last_scale());
  }

  at::Tensor forward(const at::Tensor& input) {
    at::Tensor x = bn1_(conv1_(input));
    x = at::max_pool2d(at::relu_(x), 3, 2, 1);
    for (const auto& stage : stages_) x = stage->forward(x);
    return fc_(mean_of_pixels(x));
  }

 private:
  torch::nn::Conv2d conv1_ = nullptr;
  nn::NetworkBatchNorm2d bn1_ = nullptr;
  std::array<std::shared_ptr<Row>, 4> stages_;
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
  torch::nn::Linear fc_ = nullptr;
};
TORCH_MODULE(ResNet);

struct ResNetKind {
  bool bottleneck;
  std::array<int64_t, 4> layers;
};

template <ResNetKind kind>
Made resnet(ModuleOptions& o) {
  ResNetSettings s{.bottleneck = kind.bottleneck, .layers = kind.layers};
  o.read("num_classes", s.num_classes).read("zero_init_residual", s.zero_init_residual).read("groups", s.groups);
  o.read("width_per_group", s.width_per_group).read("width", s.width);
  for (const auto& [name, given] : {std::pair{"num_classes", s.num_classes},
                                    {"groups", s.groups},
                                    {"width_per_group", s.width_per_group},
                                    {"width", s.width}}) {
    check_range(o, name, given, name == std::string("num_classes") ? kLargestSize : 1 << 16);
  }
  if (!kind.bottleneck && (s.groups != 1 || s.width_per_group != 64)) {
    o.refuse(s.groups != 1 ? "groups" : "width_per_group", "is for networks of bottlenecks: resnet50, 101 and 152");
  }
  if (s.width * s.width_per_group < 64) o.refuse("width_per_group", "leaves the first stage no channel");
  return nn::wrap<ResNet>(o, {"input"}, s);
}

const Registered kResNets[] = {
    {"resnet18", resnet<ResNetKind{false, {2, 2, 2, 2}}>},  {"resnet34", resnet<ResNetKind{false, {3, 4, 6, 3}}>},
    {"resnet50", resnet<ResNetKind{true, {3, 4, 6, 3}}>},   {"resnet101", resnet<ResNetKind{true, {3, 4, 23, 3}}>},
    {"resnet152", resnet<ResNetKind{true, {3, 8, 36, 3}}>},
};
const nn::Registration kResNetsRegistered(kResNets);

}  // namespace
}  // namespace tandem::models
