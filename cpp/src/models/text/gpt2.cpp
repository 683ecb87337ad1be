// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners". Source: GPT2LMHeadModel of Hugging Face's
// transformers.
#include <cmath>
#include <optional>

#include "models/network.h"
#include "models/options.h"
#include "models/text/causal_lm.h"
#include "nn/modules/layer_norm.h"
#include "tandem/nn_init.h"

namespace tandem::models {
namespace {

struct Gpt2Settings {
  int64_t vocab_size = 50257, n_positions = 1024, n_embd = 768, n_layer = 12, n_head = 12;
  std::optional<int64_t> n_inner{};  // 4 · n_embd where there is none
  std::string activation_function = "gelu_new";
  double resid_pdrop = 0.1, embd_pdrop = 0.1, attn_pdrop = 0.1, layer_norm_epsilon = 1e-5, initializer_range = 0.02;
  bool tie_word_embeddings = true;
};

nn::LayerNorm gpt2_norm(const Gpt2Settings& s) {
  return nn::LayerNorm(nn::LayerNormSettings{{s.n_embd}, s.layer_norm_epsilon});
}

// A linear map whose weight is [in, out]. Source: Conv1D of transformers.
class TransposedLinearImpl : public torch::nn::Module {
 public:
  TransposedLinearImpl(int64_t in, int64_t out, double std) {
    weight_ = register_parameter("weight", torch::empty({in, out}));
    bias_ = register_parameter("bias", torch::zeros({out}));
    nn::init::normal_(weight_, 0, std);
  }
  at::Tensor forward(const at::Tensor& x) { return at::linear(x, weight_.t(), bias_); }

 private:
  at::Tensor weight_, bias_;
};
TORCH_MODULE(TransposedLinear);

class Gpt2Attention : public torch::nn::Module {
 public:
  explicit Gpt2Attention(const Gpt2Settings& s) : heads_(s.n_head), attention_(s.attn_pdrop), residual_(s.resid_pdrop) {
    c_attn_ = register_module("c_attn", TransposedLinear(s.n_embd, 3 * s.n_embd, s.initializer_range));
    c_proj_ = register_module("c_proj", TransposedLinear(s.n_embd, s.n_embd, projection_std(s)));
  }

  // By the number of layers that add to one sum.
  static double projection_std(const Gpt2Settings& s) {
    return s.initializer_range / std::sqrt(2.0 * static_cast<double>(s.n_layer));
  }

  at::Tensor forward(const at::Tensor& x, DecoderStep& step) {
    const auto parts = c_attn_(x).chunk(3, -1);
    const auto heads = [&](const at::Tensor& part) { return part.unflatten(2, {heads_, -1}).transpose(1, 2); };
    const at::Tensor attended =
        attend_causally(step, heads(parts[0]), heads(parts[1]), heads(parts[2]), is_training() ? attention_ : 0);
    return at::dropout(c_proj_(attended), residual_, is_training());
  }

 private:
  int64_t heads_;
  double attention_, residual_;
  TransposedLinear c_attn_ = nullptr, c_proj_ = nullptr;
};

class Gpt2Mlp : public torch::nn::Module {
 public:
  explicit Gpt2Mlp(const Gpt2Settings& s) : approximate_(s.activation_function == "gelu_new"), dropout_(s.resid_pdrop) {
    const int64_t inner = s.n_inner.value_or(4 * s.n_embd);
    c_fc_ = register_module("c_fc", TransposedLinear(s.n_embd, inner, s.initializer_range));
    c_proj_ = register_module("c_proj", TransposedLinear(inner, s.n_embd, Gpt2Attention::projection_std(s)));
  }
  at::Tensor forward(const at::Tensor& x) {
    return at::dropout(c_proj_(at::gelu(c_fc_(x), approximate_ ? "tanh" : "none")), dropout_, is_training());
  }

 private:
  bool approximate_;
  double dropout_;
  TransposedLinear c_fc_ = nullptr, c_proj_ = nullptr;
};

class Gpt2Block : public torch::nn::Module {
 public:
  explicit Gpt2Block(const Gpt2Settings& s) {
    ln_1_ = register_module("ln_1", gpt2_norm(s));
    attn_ = register_module("attn", std::make_shared<Gpt2Attention>(s));
    ln_2_ = register_module("ln_2", gpt2_norm(s));
    mlp_ = register_module("mlp", std::make_shared<Gpt2Mlp>(s));
  }
  at::Tensor forward(const at::Tensor& input, DecoderStep& step) {
    const at::Tensor x = input + attn_->forward(ln_1_(input), step);
    return x + mlp_->forward(ln_2_(x));
  }

 private:
  nn::LayerNorm ln_1_ = nullptr, ln_2_ = nullptr;
  std::shared_ptr<Gpt2Attention> attn_;
  std::shared_ptr<Gpt2Mlp> mlp_;
};

class Gpt2Impl : public Network<Gpt2Impl, Gpt2Settings, CausalLM> {
 public:
  explicit Gpt2Impl(const Gpt2Settings& s) : Network(s) {
    const auto transformer = register_module("transformer", std::make_shared<torch::nn::Module>());
    const auto embedding = [&](const char* name, int64_t count) {
      const auto made = transformer->register_module(name, torch::nn::Embedding(count, s.n_embd));
      nn::init::normal_(made->weight, 0, s.initializer_range);
      return made;
    };
    wte_ = embedding("wte", s.vocab_size);
    wpe_ = embedding("wpe", s.n_positions);
    const auto list = transformer->register_module("h", std::make_shared<torch::nn::Module>());
    for (int64_t i = 0; i < s.n_layer; ++i) {
      blocks_.push_back(list->register_module(std::to_string(i), std::make_shared<Gpt2Block>(s)));
    }
    ln_f_ = transformer->register_module("ln_f", gpt2_norm(s));
    if (s.tie_word_embeddings) return;
    lm_head_ =
        register_module("lm_head", torch::nn::Linear(torch::nn::LinearOptions(s.n_embd, s.vocab_size).bias(false)));
    nn::init::normal_(lm_head_->weight, 0, s.initializer_range);
  }

  int64_t max_positions() const override { return settings_.n_positions; }

 protected:
  std::size_t layer_count() const override { return blocks_.size(); }
  std::pair<int64_t, int64_t> key_sizes() const override {
    return {settings_.n_head, settings_.n_embd / settings_.n_head};
  }
  at::Tensor decode(DecoderStep& step) override {
    at::Tensor x = at::dropout(wte_(step.input_ids) + wpe_(step.position_ids), settings_.embd_pdrop, is_training());
    for (const auto& block : blocks_) x = block->forward(x, step);
    return at::linear(ln_f_(step.kept(x)), lm_head_ ? lm_head_->weight : wte_->weight);
  }

 private:
  torch::nn::Embedding wte_ = nullptr, wpe_ = nullptr;
  std::vector<std::shared_ptr<Gpt2Block>> blocks_;
  nn::LayerNorm ln_f_ = nullptr;
  torch::nn::Linear lm_head_ = nullptr;  // where it is not tied to wte
};
TORCH_MODULE(Gpt2);

Made gpt2(ModuleOptions& o) {
  Gpt2Settings s;
  o.read("vocab_size", s.vocab_size).read("n_positions", s.n_positions).read("n_embd", s.n_embd);
  o.read("n_layer", s.n_layer).read("n_head", s.n_head).read("n_inner", s.n_inner);
  o.read("activation_function", s.activation_function);
  o.read("resid_pdrop", s.resid_pdrop).read("embd_pdrop", s.embd_pdrop).read("attn_pdrop", s.attn_pdrop);
  o.read("layer_norm_epsilon", s.layer_norm_epsilon).read("initializer_range", s.initializer_range);
  o.read("tie_word_embeddings", s.tie_word_embeddings);
  check_range(o, "vocab_size", s.vocab_size);
  check_range(o, "n_positions", s.n_positions);
  check_range(o, "n_embd", s.n_embd);
  check_range(o, "n_layer", s.n_layer, kMostLayers);
  check_range(o, "n_head", s.n_head);
  if (s.n_inner) check_range(o, "n_inner", *s.n_inner);
  check_probability(o, "resid_pdrop", s.resid_pdrop);
  check_probability(o, "embd_pdrop", s.embd_pdrop);
  check_probability(o, "attn_pdrop", s.attn_pdrop);
  check_std(o, "initializer_range", s.initializer_range);
  if (s.n_embd % s.n_head != 0) {
    o.refuse("n_embd",
             "must be a multiple of n_head " + std::to_string(s.n_head) + ", not " + std::to_string(s.n_embd));
  }
  if (s.activation_function != "gelu_new" && s.activation_function != "gelu") {
    o.refuse("activation_function", "is '" + s.activation_function + "'; it can be 'gelu_new', 'gelu'");
  }
  return nn::wrap<Gpt2>(o, kCausalLMInputs, s);
}

const Registered kGpt2s[] = {{"gpt2", gpt2}};
const nn::Registration kGpt2sRegistered(kGpt2s);

}  // namespace
}  // namespace tandem::models
