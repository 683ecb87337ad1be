// Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words". Source: torchvision.models.vision_transformer.
#include <cmath>
#include <optional>

#include "base/invalid.h"
#include "models/network.h"
#include "models/options.h"
#include "models/vision/initialize.h"
#include "nn/modules/attention.h"
#include "nn/modules/layer_norm.h"

namespace tandem::models {
namespace {

struct VisionTransformerSettings {
  int64_t image_size = 224, patch_size = 16, num_layers = 12, num_heads = 12, hidden_dim = 768, mlp_dim = 3072;
  double dropout = 0, attention_dropout = 0;
  int64_t num_classes = 1000;
  std::optional<int64_t> representation_size{};
};

nn::LayerNorm vision_norm(int64_t size) {
  return nn::LayerNorm(nn::LayerNormSettings{{size}, 1e-6});
}

class VisionEncoderBlock : public Layer {
 public:
  explicit VisionEncoderBlock(const VisionTransformerSettings& s) : dropout_(s.dropout) {
    ln_1_ = register_module("ln_1", vision_norm(s.hidden_dim));
    self_attention_ = register_module(
        "self_attention",
        nn::MultiheadAttention(nn::AttentionSettings{
            .embed_dim = s.hidden_dim, .num_heads = s.num_heads, .dropout = s.attention_dropout, .batch_first = true}));
    ln_2_ = register_module("ln_2", vision_norm(s.hidden_dim));
    mlp_ = register_module("mlp", std::make_shared<Row>());
    const auto first = mlp_->add(torch::nn::Linear(s.hidden_dim, s.mlp_dim));
    mlp_->add_function([](const at::Tensor& x) { return at::gelu(x); });
    mlp_->add_dropout(s.dropout);
    const auto second = mlp_->add(torch::nn::Linear(s.mlp_dim, s.hidden_dim));
    mlp_->add_dropout(s.dropout);
    for (const auto& linear : {first, second}) {
      nn::init::xavier_uniform_(linear->weight);
      nn::init::normal_(linear->bias, 0, 1e-6);
    }
  }

  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor normal = ln_1_(input);
    const auto [attended, weights] =
        self_attention_->forward(normal, normal, normal, {}, false, {}, std::nullopt, std::nullopt);
    const at::Tensor x = input + at::dropout(attended, dropout_, is_training());
    return x + mlp_->forward(ln_2_(x));
  }

 private:
  nn::LayerNorm ln_1_ = nullptr, ln_2_ = nullptr;
  nn::MultiheadAttention self_attention_ = nullptr;
  std::shared_ptr<Row> mlp_;
  double dropout_;
};

class VisionEncoder : public Layer {
 public:
  VisionEncoder(const VisionTransformerSettings& s, int64_t length) : dropout_(s.dropout) {
    pos_embedding_ = register_parameter("pos_embedding", torch::empty({1, length, s.hidden_dim}).normal_(0, 0.02));
    for (int64_t i = 0; i < s.num_layers; ++i) {
      layers_->add(std::make_shared<VisionEncoderBlock>(s), "encoder_layer_" + std::to_string(i));
    }
    register_module("layers", layers_);
    ln_ = register_module("ln", vision_norm(s.hidden_dim));
  }

  at::Tensor forward(const at::Tensor& x) override {
    return ln_(layers_->forward(at::dropout(x + pos_embedding_, dropout_, is_training())));
  }

 private:
  at::Tensor pos_embedding_;
  std::shared_ptr<Row> layers_ = std::make_shared<Row>();
  nn::LayerNorm ln_ = nullptr;
  double dropout_;
};

void draw_by_fan_in(const at::Tensor& weight, const at::Tensor& bias) {
  const double fan_in = static_cast<double>(weight.numel() / weight.size(0));
  nn::init::trunc_normal_(weight, 0, std::sqrt(1 / fan_in));
  nn::init::zeros_(bias);
}

class VisionTransformerImpl : public Network<VisionTransformerImpl, VisionTransformerSettings> {
 public:
  explicit VisionTransformerImpl(const VisionTransformerSettings& s) : Network(s) {
    conv_proj_ = register_module(
        "conv_proj", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, s.hidden_dim, s.patch_size).stride(s.patch_size)));
    class_token_ = register_parameter("class_token", torch::zeros({1, 1, s.hidden_dim}));
    const int64_t patches = s.image_size / s.patch_size;
    encoder_ = register_module("encoder", std::make_shared<VisionEncoder>(s, patches * patches + 1));
    std::shared_ptr<torch::nn::LinearImpl> pre_logits;
    if (s.representation_size) {
      pre_logits = heads_->add(torch::nn::Linear(s.hidden_dim, *s.representation_size), "pre_logits");
      heads_->add_function([](const at::Tensor& x) { return at::tanh(x); });
    }
    const auto head =
        heads_->add(torch::nn::Linear(s.representation_size.value_or(s.hidden_dim), s.num_classes), "head");
    register_module("heads", heads_);
    draw_by_fan_in(conv_proj_->weight, conv_proj_->bias);
    if (pre_logits) draw_by_fan_in(pre_logits->weight, pre_logits->bias);
    nn::init::zeros_(head->weight);
    nn::init::zeros_(head->bias);
  }

  at::Tensor forward(const at::Tensor& input) {
    const int64_t size = settings_.image_size;
    if (input.dim() != 4 || input.size(2) != size || input.size(3) != size) {
      invalid("forward takes images [batch, 3, " + std::to_string(size) + ", " + std::to_string(size) +
              "], by the option image_size, not " + c10::str(input.sizes()));
    }
    const at::Tensor patches = conv_proj_(input).flatten(2).transpose(1, 2);
    const at::Tensor token = class_token_.expand({input.size(0), -1, -1});
    return heads_->forward(encoder_->forward(at::cat({token, patches}, 1)).select(1, 0));
  }

 private:
  torch::nn::Conv2d conv_proj_ = nullptr;
  at::Tensor class_token_;
  std::shared_ptr<VisionEncoder> encoder_;
  std::shared_ptr<Row> heads_ = std::make_shared<Row>();
};
TORCH_MODULE(VisionTransformer);

Made vit_b_16(ModuleOptions& o) {
  VisionTransformerSettings s;
  o.read("image_size", s.image_size).read("num_classes", s.num_classes).read("dropout", s.dropout);
  o.read("attention_dropout", s.attention_dropout).read("representation_size", s.representation_size);
  o.read("patch_size", s.patch_size).read("num_layers", s.num_layers).read("num_heads", s.num_heads);
  o.read("hidden_dim", s.hidden_dim).read("mlp_dim", s.mlp_dim);
  check_range(o, "image_size", s.image_size, 1 << 16);
  check_range(o, "num_classes", s.num_classes);
  check_probability(o, "dropout", s.dropout);
  check_probability(o, "attention_dropout", s.attention_dropout);
  if (s.representation_size) check_range(o, "representation_size", *s.representation_size);
  check_range(o, "patch_size", s.patch_size, 1 << 12);
  check_range(o, "num_layers", s.num_layers, kMostLayers);
  check_range(o, "num_heads", s.num_heads);
  check_range(o, "hidden_dim", s.hidden_dim);
  check_range(o, "mlp_dim", s.mlp_dim);
  if (s.image_size % s.patch_size != 0) {
    o.refuse("image_size", "must be a multiple of patch_size " + std::to_string(s.patch_size) + ", not " +
                               std::to_string(s.image_size));
  }
  return nn::wrap<VisionTransformer>(o, {"input"}, s);
}

const Registered kVisionTransformers[] = {{"vit_b_16", vit_b_16}};
const nn::Registration kVisionTransformersRegistered(kVisionTransformers);

}  // namespace
}  // namespace tandem::models
