// Touvron et al. 2023, "LLaMA: Open and Efficient Foundation Language Models", and what shares its structure. Source:
// LlamaForCausalLM of Hugging Face's transformers.
#include <optional>

#include "models/network.h"
#include "models/options.h"
#include "models/text/causal_lm.h"
#include "models/text/rotary.h"
#include "nn/modules/rms_norm.h"
#include "tandem/nn_init.h"

namespace tandem::models {
namespace {

struct LlamaSettings {
  int64_t vocab_size, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads;
  std::optional<int64_t> num_key_value_heads{}, head_dim{};
  int64_t max_position_embeddings = 2048;
  double rms_norm_eps = 1e-6, rope_theta = 10000, initializer_range = 0.02, attention_dropout = 0;
  bool tie_word_embeddings = false, attention_bias = false, mlp_bias = false;
  RotaryScaling scaling{};

  int64_t key_heads() const { return num_key_value_heads.value_or(num_attention_heads); }
  int64_t head_size() const { return head_dim.value_or(hidden_size / num_attention_heads); }
};

using Waves = std::pair<at::Tensor, at::Tensor>;

torch::nn::Linear llama_linear(int64_t in, int64_t out, bool bias, double std) {
  torch::nn::Linear made(torch::nn::LinearOptions(in, out).bias(bias));
  nn::init::normal_(made->weight, 0, std);
  if (bias) nn::init::zeros_(made->bias);
  return made;
}

nn::RmsNorm llama_norm(const LlamaSettings& s) {
  return nn::RmsNorm(nn::RmsNormSettings{{s.hidden_size}, s.rms_norm_eps});
}

class LlamaAttention : public torch::nn::Module {
 public:
  explicit LlamaAttention(const LlamaSettings& s) : size_(s.head_size()), dropout_(s.attention_dropout) {
    const auto linear = [&](const char* name, int64_t in, int64_t out) {
      return register_module(name, llama_linear(in, out, s.attention_bias, s.initializer_range));
    };
    q_proj_ = linear("q_proj", s.hidden_size, s.num_attention_heads * size_);
    k_proj_ = linear("k_proj", s.hidden_size, s.key_heads() * size_);
    v_proj_ = linear("v_proj", s.hidden_size, s.key_heads() * size_);
    o_proj_ = linear("o_proj", s.num_attention_heads * size_, s.hidden_size);
  }

  at::Tensor forward(const at::Tensor& x, const Waves& waves, DecoderStep& step) {
    const auto heads = [&](const at::Tensor& part) { return part.unflatten(2, {-1, size_}).transpose(1, 2); };
    const at::Tensor query = rotate(heads(q_proj_(x)), waves), key = rotate(heads(k_proj_(x)), waves);
    return o_proj_(attend_causally(step, query, key, heads(v_proj_(x)), is_training() ? dropout_ : 0));
  }

 private:
  int64_t size_;
  double dropout_;
  torch::nn::Linear q_proj_ = nullptr, k_proj_ = nullptr, v_proj_ = nullptr, o_proj_ = nullptr;
};

// Shazeer 2020, "GLU Variants Improve Transformer": SwiGLU.
class LlamaMlp : public torch::nn::Module {
 public:
  explicit LlamaMlp(const LlamaSettings& s) {
    const auto linear = [&](const char* name, int64_t in, int64_t out) {
      return register_module(name, llama_linear(in, out, s.mlp_bias, s.initializer_range));
    };
    gate_proj_ = linear("gate_proj", s.hidden_size, s.intermediate_size);
    up_proj_ = linear("up_proj", s.hidden_size, s.intermediate_size);
    down_proj_ = linear("down_proj", s.intermediate_size, s.hidden_size);
  }
  at::Tensor forward(const at::Tensor& x) { return down_proj_(at::silu(gate_proj_(x)) * up_proj_(x)); }

 private:
  torch::nn::Linear gate_proj_ = nullptr, up_proj_ = nullptr, down_proj_ = nullptr;
};

class LlamaLayer : public torch::nn::Module {
 public:
  explicit LlamaLayer(const LlamaSettings& s) {
    self_attn_ = register_module("self_attn", std::make_shared<LlamaAttention>(s));
    mlp_ = register_module("mlp", std::make_shared<LlamaMlp>(s));
    input_layernorm_ = register_module("input_layernorm", llama_norm(s));
    post_attention_layernorm_ = register_module("post_attention_layernorm", llama_norm(s));
  }
  at::Tensor forward(const at::Tensor& input, const Waves& waves, DecoderStep& step) {
    const at::Tensor x = input + self_attn_->forward(input_layernorm_(input), waves, step);
    return x + mlp_->forward(post_attention_layernorm_(x));
  }

 private:
  std::shared_ptr<LlamaAttention> self_attn_;
  std::shared_ptr<LlamaMlp> mlp_;
  nn::RmsNorm input_layernorm_ = nullptr, post_attention_layernorm_ = nullptr;
};

class LlamaImpl : public Network<LlamaImpl, LlamaSettings, CausalLM> {
 public:
  explicit LlamaImpl(const LlamaSettings& s) : Network(s) {
    const auto model = register_module("model", std::make_shared<torch::nn::Module>());
    embed_tokens_ = model->register_module("embed_tokens", torch::nn::Embedding(s.vocab_size, s.hidden_size));
    nn::init::normal_(embed_tokens_->weight, 0, s.initializer_range);
    const auto list = model->register_module("layers", std::make_shared<torch::nn::Module>());
    for (int64_t i = 0; i < s.num_hidden_layers; ++i) {
      layers_.push_back(list->register_module(std::to_string(i), std::make_shared<LlamaLayer>(s)));
    }
    norm_ = model->register_module("norm", llama_norm(s));
    if (s.tie_word_embeddings) return;
    lm_head_ = register_module("lm_head", llama_linear(s.hidden_size, s.vocab_size, false, s.initializer_range));
  }

  int64_t max_positions() const override { return settings_.max_position_embeddings; }

 protected:
  std::size_t layer_count() const override { return layers_.size(); }
  std::pair<int64_t, int64_t> key_sizes() const override { return {settings_.key_heads(), settings_.head_size()}; }

  at::Tensor decode(DecoderStep& step) override {
    at::Tensor x = embed_tokens_(step.input_ids);
    const Waves waves = rotary_waves(step.position_ids,
                                     rotary_frequencies(settings_.head_size(), settings_.rope_theta, settings_.scaling,
                                                        x.options().requires_grad(false)),
                                     x.scalar_type());
    for (const auto& layer : layers_) x = layer->forward(x, waves, step);
    return at::linear(norm_(step.kept(x)), lm_head_ ? lm_head_->weight : embed_tokens_->weight);
  }

 private:
  torch::nn::Embedding embed_tokens_ = nullptr;
  std::vector<std::shared_ptr<LlamaLayer>> layers_;
  nn::RmsNorm norm_ = nullptr;
  torch::nn::Linear lm_head_ = nullptr;  // where it is not tied to embed_tokens
};
TORCH_MODULE(Llama);

void read_scaling(ModuleOptions& o, RotaryScaling& scaling) {
  o.read("rope_type", scaling.rope_type).read("rope_factor", scaling.factor);
  o.read("rope_low_freq_factor", scaling.low_freq_factor).read("rope_high_freq_factor", scaling.high_freq_factor);
  o.read("rope_original_max_position_embeddings", scaling.original_max_position_embeddings);
  if (scaling.rope_type != "default" && scaling.rope_type != "linear" && scaling.rope_type != "llama3") {
    o.refuse("rope_type", "is '" + scaling.rope_type + "'; it can be 'default', 'linear', 'llama3'");
  }
  if (!(scaling.factor >= 1)) o.refuse("rope_factor", "must be at least 1, not " + std::to_string(scaling.factor));
  if (!(scaling.low_freq_factor > 0 && scaling.low_freq_factor < scaling.high_freq_factor)) {
    o.refuse("rope_low_freq_factor",
             "must be above 0 and below rope_high_freq_factor, not " + std::to_string(scaling.low_freq_factor));
  }
}

void check_heads(const ModuleOptions& o, const LlamaSettings& s) {
  if (s.num_attention_heads % s.key_heads() != 0) {
    o.refuse("num_attention_heads", "must be a multiple of num_key_value_heads " + std::to_string(s.key_heads()) +
                                        ", not " + std::to_string(s.num_attention_heads));
  }
  if (!s.head_dim && s.hidden_size % s.num_attention_heads != 0) {
    o.refuse("hidden_size", "must be a multiple of num_attention_heads " + std::to_string(s.num_attention_heads) +
                                " where head_dim is not given, not " + std::to_string(s.hidden_size));
  }
  if (s.head_size() % 2 != 0) {
    o.refuse(s.head_dim ? "head_dim" : "hidden_size",
             "must give heads of an even size, not " + std::to_string(s.head_size()));
  }
}

Made llama(ModuleOptions& o) {
  LlamaSettings s{.vocab_size = o.need_count("vocab_size"),
                  .hidden_size = o.need_count("hidden_size"),
                  .intermediate_size = o.need_count("intermediate_size"),
                  .num_hidden_layers = o.need_count("num_hidden_layers"),
                  .num_attention_heads = o.need_count("num_attention_heads")};
  o.read("num_key_value_heads", s.num_key_value_heads).read("head_dim", s.head_dim);
  o.read("max_position_embeddings", s.max_position_embeddings).read("rms_norm_eps", s.rms_norm_eps);
  o.read("rope_theta", s.rope_theta).read("initializer_range", s.initializer_range);
  o.read("attention_dropout", s.attention_dropout).read("tie_word_embeddings", s.tie_word_embeddings);
  o.read("attention_bias", s.attention_bias).read("mlp_bias", s.mlp_bias);
  read_scaling(o, s.scaling);
  if (!o.describes()) {
    check_range(o, "vocab_size", s.vocab_size);
    check_range(o, "hidden_size", s.hidden_size);
    check_range(o, "intermediate_size", s.intermediate_size);
    check_range(o, "num_hidden_layers", s.num_hidden_layers, kMostLayers);
    check_range(o, "num_attention_heads", s.num_attention_heads);
    if (s.num_key_value_heads) check_range(o, "num_key_value_heads", *s.num_key_value_heads);
    if (s.head_dim) check_range(o, "head_dim", *s.head_dim);
    check_range(o, "max_position_embeddings", s.max_position_embeddings);
    check_range(o, "rope_original_max_position_embeddings", s.scaling.original_max_position_embeddings);
    check_probability(o, "attention_dropout", s.attention_dropout);
    check_std(o, "initializer_range", s.initializer_range);
    if (!(s.rope_theta > 0)) o.refuse("rope_theta", "must be above 0, not " + std::to_string(s.rope_theta));
    check_heads(o, s);
  }
  return nn::wrap<Llama>(o, kCausalLMInputs, s);
}

const Registered kLlamas[] = {{"llama", llama}};
const nn::Registration kLlamasRegistered(kLlamas);

}  // namespace
}  // namespace tandem::models
