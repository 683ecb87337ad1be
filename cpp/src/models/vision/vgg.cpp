// Simonyan and Zisserman 2015, "Very Deep Convolutional Networks for Large-Scale Image Recognition". Source:
// torchvision.models.vgg.
#include <algorithm>
#include <array>

#include "models/network.h"
#include "models/options.h"
#include "models/vision/convolution.h"
#include "models/vision/initialize.h"
#include "nn/modules/network_batch_norm.h"

namespace tandem::models {
namespace {

struct VggSettings {
  std::array<int64_t, 5> convolutions;  // of each stage
  bool batch_norm;
  int64_t num_classes = 1000;
  double dropout = 0.5;
  int64_t width = 64, hidden = 4096;  // channels of the first stage and of the classifier; torchvision has them fixed
};

class VggImpl : public Network<VggImpl, VggSettings> {
 public:
  explicit VggImpl(const VggSettings& s) : Network(s) {
    int64_t in = 3;
    for (std::size_t stage = 0; stage < s.convolutions.size(); ++stage) {
      const int64_t out = s.width << std::min<std::size_t>(stage, 3);
      for (int64_t i = 0; i < s.convolutions[stage]; ++i) {
        features_->add(convolution(in, out, 3, 1, 1, 1, true));
        if (s.batch_norm) features_->add(nn::NetworkBatchNorm2d(out));
        features_->add_relu();
        in = out;
      }
      features_->add_function([](const at::Tensor& x) { return at::max_pool2d(x, 2, 2); });
    }
    const auto linear = [&](int64_t from, int64_t to) {
      linears_.push_back(classifier_->add(torch::nn::Linear(from, to)));
    };
    linear(in * 7 * 7, s.hidden);
    for (const int64_t to : {s.hidden, s.num_classes}) {
      classifier_->add_relu();
      classifier_->add_dropout(s.dropout);
      linear(s.hidden, to);
    }
    register_module("features", features_);
    register_module("classifier", classifier_);
    initialize_convolutions(*this);
    for (const auto& one : linears_) {
      nn::init::normal_(one->weight, 0, 0.01);
      nn::init::zeros_(one->bias);
    }
  }

  at::Tensor forward(const at::Tensor& input) {
    return classifier_->forward(at::adaptive_avg_pool2d(features_->forward(input), {7, 7}).flatten(1));
  }

 private:
  std::shared_ptr<Row> features_ = std::make_shared<Row>(), classifier_ = std::make_shared<Row>();
  std::vector<std::shared_ptr<torch::nn::LinearImpl>> linears_;
};
TORCH_MODULE(Vgg);

struct VggKind {
  std::array<int64_t, 5> convolutions;
  bool batch_norm;
};

template <VggKind kind>
Made vgg(ModuleOptions& o) {
  VggSettings s{.convolutions = kind.convolutions, .batch_norm = kind.batch_norm};
  o.read("num_classes", s.num_classes).read("dropout", s.dropout).read("width", s.width).read("hidden", s.hidden);
  check_range(o, "num_classes", s.num_classes);
  check_probability(o, "dropout", s.dropout);
  check_range(o, "width", s.width, 1 << 16);
  check_range(o, "hidden", s.hidden);
  return nn::wrap<Vgg>(o, {"input"}, s);
}

const Registered kVggs[] = {
    {"vgg11", vgg<VggKind{{1, 1, 2, 2, 2}, false}>}, {"vgg11_bn", vgg<VggKind{{1, 1, 2, 2, 2}, true}>},
    {"vgg13", vgg<VggKind{{2, 2, 2, 2, 2}, false}>}, {"vgg13_bn", vgg<VggKind{{2, 2, 2, 2, 2}, true}>},
    {"vgg16", vgg<VggKind{{2, 2, 3, 3, 3}, false}>}, {"vgg16_bn", vgg<VggKind{{2, 2, 3, 3, 3}, true}>},
    {"vgg19", vgg<VggKind{{2, 2, 4, 4, 4}, false}>}, {"vgg19_bn", vgg<VggKind{{2, 2, 4, 4, 4}, true}>},
};
const nn::Registration kVggsRegistered(kVggs);

}  // namespace
}  // namespace tandem::models
