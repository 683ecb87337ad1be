#include "nn/forward_state.h"
#include "nn/modules/transformer_layers.h"
#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

// Layers that begin with the same parameters, as those that Python copies from one, and perhaps a norm after them.
template <typename Layer>
class StackImpl : public tn::Cloneable<StackImpl<Layer>> {
 public:
  StackImpl(const TransformerSettings& settings, int64_t count, bool norm)
      : settings_(settings), count_(count), has_norm_(norm) {
    reset();
  }

  void reset() override {
    layers_ = this->register_module("layers", tn::ModuleList());
    const Layer first(settings_);
    layers_->push_back(first.ptr());
    for (int64_t i = 1; i < count_; ++i) {
      layers_->push_back(without_random_numbers({at::kCPU}, [&] { return first->clone(); }));
    }
    if (has_norm_) norm_ = this->register_module("norm", make_norm(settings_));
  }

  template <typename... Arguments>
  at::Tensor forward(at::Tensor x, const Arguments&... arguments) {
    // What a clone has are other modules than those that reset() put into its list.
    for (const auto& layer : *layers_) x = layer->template as<Layer>()->forward(x, arguments...);
    return norm_ ? norm_(x) : x;
  }

 private:
  TransformerSettings settings_;
  int64_t count_;
  bool has_norm_;
  tn::ModuleList layers_ = nullptr;
  LayerNorm norm_ = nullptr;
};

using EncoderImpl = StackImpl<TransformerEncoderLayer>;
using DecoderImpl = StackImpl<TransformerDecoderLayer>;
TORCH_MODULE_IMPL(Encoder, EncoderImpl);
TORCH_MODULE_IMPL(Decoder, DecoderImpl);

class TransformerImpl : public tn::Cloneable<TransformerImpl> {
 public:
  TransformerImpl(const TransformerSettings& settings, int64_t encoder_layers, int64_t decoder_layers)
      : settings_(settings), encoder_layers_(encoder_layers), decoder_layers_(decoder_layers) {
    reset();
  }

  void reset() override {
    encoder_ = register_module("encoder", Encoder(settings_, encoder_layers_, true));
    decoder_ = register_module("decoder", Decoder(settings_, decoder_layers_, true));
    for (const at::Tensor& parameter : parameters()) {
      if (parameter.dim() > 1) tn::init::xavier_uniform_(parameter);
    }
  }

  at::Tensor forward(const at::Tensor& src, const at::Tensor& tgt, const Masks& src_masks, const Masks& tgt_masks,
                     const Masks& memory_masks) {
    const at::Tensor memory = encoder_->forward(src, src_masks);
    return decoder_->forward(tgt, memory, tgt_masks, memory_masks);
  }

 private:
  TransformerSettings settings_;
  int64_t encoder_layers_, decoder_layers_;
  Encoder encoder_ = nullptr;
  Decoder decoder_ = nullptr;
};
TORCH_MODULE(Transformer);

using Flag = std::optional<bool>;

at::Tensor encode(auto& module, const at::Tensor& src, const at::Tensor& mask, const at::Tensor& padding,
                  Flag is_causal) {
  return module.forward(src, Masks{mask, padding, is_causal}.additive(src.scalar_type()));
}
at::Tensor decode(auto& module, const at::Tensor& tgt, const at::Tensor& memory, const at::Tensor& tgt_mask,
                  const at::Tensor& memory_mask, const at::Tensor& tgt_padding, const at::Tensor& memory_padding,
                  Flag tgt_is_causal, Flag memory_is_causal) {
  return module.forward(tgt, memory, Masks{tgt_mask, tgt_padding, tgt_is_causal}.additive(tgt.scalar_type()),
                        Masks{memory_mask, memory_padding, memory_is_causal}.additive(tgt.scalar_type()));
}
at::Tensor translate(TransformerImpl& module, const at::Tensor& src, const at::Tensor& tgt, const at::Tensor& src_mask,
                     const at::Tensor& tgt_mask, const at::Tensor& memory_mask, const at::Tensor& src_padding,
                     const at::Tensor& tgt_padding, const at::Tensor& memory_padding, Flag src_is_causal,
                     Flag tgt_is_causal, Flag memory_is_causal) {
  const auto masks = [&](const at::Tensor& mask, const at::Tensor& padding, Flag is_causal) {
    return Masks{mask, padding, is_causal}.additive(src.scalar_type());
  };
  return module.forward(src, tgt, masks(src_mask, src_padding, src_is_causal),
                        masks(tgt_mask, tgt_padding, tgt_is_causal),
                        masks(memory_mask, memory_padding, memory_is_causal));
}

const Names kEncoderNames = {"src", "mask?", "src_key_padding_mask?", "is_causal?"};
const Names kEncoderLayerNames = {"src", "src_mask?", "src_key_padding_mask?", "is_causal?"};
const Names kDecoderNames = {"tgt",
                             "memory",
                             "tgt_mask?",
                             "memory_mask?",
                             "tgt_key_padding_mask?",
                             "memory_key_padding_mask?",
                             "tgt_is_causal?",
                             "memory_is_causal?"};
const Names kTransformerNames = {"src",
                                 "tgt",
                                 "src_mask?",
                                 "tgt_mask?",
                                 "memory_mask?",
                                 "src_key_padding_mask?",
                                 "tgt_key_padding_mask?",
                                 "memory_key_padding_mask?",
                                 "src_is_causal?",
                                 "tgt_is_causal?",
                                 "memory_is_causal?"};

void read_layer(ModuleOptions& o, TransformerSettings& s) {
  o.read("dim_feedforward", s.dim_feedforward).read("dropout", s.dropout).read("activation", s.activation);
  o.read("layer_norm_eps", s.layer_norm_eps).read("batch_first", s.batch_first).read("norm_first", s.norm_first);
  o.read("bias", s.bias);
  o.check_count("dim_feedforward", s.dim_feedforward);
}

// Making them takes time for each.
void check_layers(const ModuleOptions& o, const char* name, int64_t count) {
  if (count < 1 || count > 1000) o.refuse(name, "must be from 1 to 1000, not " + std::to_string(count));
}

TransformerSettings layer_settings(ModuleOptions& o) {
  TransformerSettings s;
  s.d_model = o.need_count("d_model");
  s.nhead = o.need_count("nhead");
  return s;
}

// Python's stacks take a layer; here its options are theirs.
struct StackSettings {
  TransformerSettings layer;
  int64_t count;
  bool norm = false;

  explicit StackSettings(ModuleOptions& o) : layer(layer_settings(o)), count(o.need_count("num_layers")) {
    read_layer(o, layer);
    o.read("norm", norm);
    check_layers(o, "num_layers", count);
  }
};

Made encoder_layer(ModuleOptions& o) {
  TransformerSettings s = layer_settings(o);
  read_layer(o, s);
  return wrap_with<TransformerEncoderLayer>(o, kEncoderLayerNames, &encode<TransformerEncoderLayerImpl>, s);
}

Made decoder_layer(ModuleOptions& o) {
  TransformerSettings s = layer_settings(o);
  read_layer(o, s);
  return wrap_with<TransformerDecoderLayer>(o, kDecoderNames, &decode<TransformerDecoderLayerImpl>, s);
}

Made encoder(ModuleOptions& o) {
  const StackSettings s(o);
  return wrap_with<Encoder>(o, kEncoderNames, &encode<EncoderImpl>, s.layer, s.count, s.norm);
}

Made decoder(ModuleOptions& o) {
  const StackSettings s(o);
  return wrap_with<Decoder>(o, kDecoderNames, &decode<DecoderImpl>, s.layer, s.count, s.norm);
}

Made transformer(ModuleOptions& o) {
  TransformerSettings s;
  int64_t encoder_layers = 6, decoder_layers = 6;
  o.read("d_model", s.d_model).read("nhead", s.nhead).read("num_encoder_layers", encoder_layers);
  o.read("num_decoder_layers", decoder_layers);
  read_layer(o, s);
  o.check_count("d_model", s.d_model);
  o.check_count("nhead", s.nhead);
  check_layers(o, "num_encoder_layers", encoder_layers);
  check_layers(o, "num_decoder_layers", decoder_layers);
  return wrap_with<Transformer>(o, kTransformerNames, &translate, s, encoder_layers, decoder_layers);
}

const Registered kTransformers[] = {
    {"TransformerEncoderLayer", encoder_layer},
    {"TransformerDecoderLayer", decoder_layer},
    {"TransformerEncoder", encoder},
    {"TransformerDecoder", decoder},
    {"Transformer", transformer},
};

}  // namespace

at::ArrayRef<Registered> transformers() {
  return kTransformers;
}

}  // namespace tandem::nn
