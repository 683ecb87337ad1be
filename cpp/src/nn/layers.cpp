// Modules with parameters, recurrent ones, pooling and what changes shapes. To add one: a factory that reads its
// options into LibTorch's own options object, and a line in the table.
#include "nn/wrap.h"

namespace tandem::nn {
namespace {

using std::int64_t;
namespace tn = torch::nn;
using Made = std::unique_ptr<Module>;

Made linear(const std::string& type, Options& o) {
  tn::LinearOptions s{o.need<int64_t>("in_features"), o.need<int64_t>("out_features")};
  o.read("bias", s.bias());
  return wrap<tn::Linear>(type, o, 1, s);
}

Made bilinear(const std::string& type, Options& o) {
  tn::BilinearOptions s{o.need_count("in1_features"), o.need<int64_t>("in2_features"), o.need<int64_t>("out_features")};
  o.read("bias", s.bias());
  return wrap<tn::Bilinear>(type, o, 2, s);
}

template <typename Holder, std::size_t D>
Made conv(const std::string& type, Options& o) {
  tn::ConvOptions<D> s{o.need<int64_t>("in_channels"), o.need<int64_t>("out_channels"),
                       o.need<torch::ExpandingArray<D>>("kernel_size")};
  o.read("stride", s.stride()).read("padding", s.padding()).read("dilation", s.dilation()).read("groups", s.groups());
  o.read("bias", s.bias()).read("padding_mode", s.padding_mode());
  return wrap<Holder>(type, o, 1, s);
}

template <typename Holder, std::size_t D>
Made conv_transpose(const std::string& type, Options& o) {
  tn::ConvTransposeOptions<D> s{o.need<int64_t>("in_channels"), o.need<int64_t>("out_channels"),
                                o.need<torch::ExpandingArray<D>>("kernel_size")};
  o.read("stride", s.stride()).read("padding", s.padding()).read("output_padding", s.output_padding());
  o.read("groups", s.groups()).read("bias", s.bias()).read("dilation", s.dilation());
  o.read("padding_mode", s.padding_mode());
  return wrap<Holder>(type, o, 1, s);
}

template <typename Holder>
Made batch_norm(const std::string& type, Options& o) {
  tn::BatchNormOptions s{o.need<int64_t>("num_features")};
  o.read("eps", s.eps()).read("momentum", s.momentum()).read("affine", s.affine());
  o.read("track_running_stats", s.track_running_stats());
  return wrap<Holder>(type, o, 1, s);
}

template <typename Holder>
Made instance_norm(const std::string& type, Options& o) {
  tn::InstanceNormOptions s{o.need<int64_t>("num_features")};
  o.read("eps", s.eps()).read("momentum", s.momentum()).read("affine", s.affine());
  o.read("track_running_stats", s.track_running_stats());
  return wrap<Holder>(type, o, 1, s);
}

Made layer_norm(const std::string& type, Options& o) {
  tn::LayerNormOptions s{o.need<std::vector<int64_t>>("normalized_shape")};
  o.read("eps", s.eps()).read("elementwise_affine", s.elementwise_affine());
  return wrap<tn::LayerNorm>(type, o, 1, s);
}

Made group_norm(const std::string& type, Options& o) {
  tn::GroupNormOptions s{o.need_count("num_groups"), o.need<int64_t>("num_channels")};
  o.read("eps", s.eps()).read("affine", s.affine());
  return wrap<tn::GroupNorm>(type, o, 1, s);
}

Made embedding(const std::string& type, Options& o) {
  tn::EmbeddingOptions s{o.need<int64_t>("num_embeddings"), o.need<int64_t>("embedding_dim")};
  o.read("padding_idx", s.padding_idx()).read("max_norm", s.max_norm()).read("norm_type", s.norm_type());
  o.read("scale_grad_by_freq", s.scale_grad_by_freq()).read("sparse", s.sparse());
  return wrap<tn::Embedding>(type, o, 1, s);
}

Made embedding_bag(const std::string& type, Options& o) {
  tn::EmbeddingBagOptions s{o.need<int64_t>("num_embeddings"), o.need<int64_t>("embedding_dim")};
  o.read("max_norm", s.max_norm()).read("norm_type", s.norm_type()).read("mode", s.mode()).read("sparse", s.sparse());
  o.read("scale_grad_by_freq", s.scale_grad_by_freq()).read("include_last_offset", s.include_last_offset());
  o.read("padding_idx", s.padding_idx());
  return wrap<tn::EmbeddingBag>(type, o, 1, s);
}

template <typename Settings>
Settings recurrent(Options& o) {
  Settings s{o.need_count("input_size"), o.need_count("hidden_size")};
  o.read("num_layers", s.num_layers()).read("bias", s.bias()).read("batch_first", s.batch_first());
  o.read("dropout", s.dropout()).read("bidirectional", s.bidirectional());
  // LibTorch makes one after another, for hours if need be.
  if (s.num_layers() < 1 || s.num_layers() > 1000) {
    o.refuse("num_layers", "must be from 1 to 1000, not " + std::to_string(s.num_layers()));
  }
  return s;
}

Made rnn(const std::string& type, Options& o) {
  auto s = recurrent<tn::RNNOptions>(o);
  o.read("nonlinearity", s.nonlinearity());
  return wrap<tn::RNN>(type, o, 1, s);
}

Made lstm(const std::string& type, Options& o) {
  auto s = recurrent<tn::LSTMOptions>(o);
  o.read("proj_size", s.proj_size());
  return wrap<tn::LSTM>(type, o, 1, s);
}

Made gru(const std::string& type, Options& o) {
  return wrap<tn::GRU>(type, o, 1, recurrent<tn::GRUOptions>(o));
}

Made rnn_cell(const std::string& type, Options& o) {
  tn::RNNCellOptions s{o.need_count("input_size"), o.need_count("hidden_size")};
  o.read("bias", s.bias()).read("nonlinearity", s.nonlinearity());
  return wrap<tn::RNNCell>(type, o, 1, s);
}

template <typename Holder, typename Settings>
Made gated_cell(const std::string& type, Options& o) {
  Settings s{o.need_count("input_size"), o.need_count("hidden_size")};
  o.read("bias", s.bias());
  return wrap<Holder>(type, o, 1, s);
}

// LibTorch's pools count in 32 bits, and the one of one dimension does not check.
template <std::size_t D>
void check_pool(const Options& o, const char* name, const torch::ExpandingArray<D>& numbers) {
  for (const int64_t number : *numbers) {
    if (number > INT32_MAX) o.refuse(name, "is " + std::to_string(number) + "; a pool's is less than 2^31");
  }
}

// PyTorch's stride is the kernel's size where it is not given.
template <typename Holder, std::size_t D>
Made max_pool(const std::string& type, Options& o) {
  tn::MaxPoolOptions<D> s{o.need<torch::ExpandingArray<D>>("kernel_size")};
  o.read("stride", s.stride()).read("padding", s.padding()).read("dilation", s.dilation());
  o.read("ceil_mode", s.ceil_mode());
  check_pool(o, "kernel_size", s.kernel_size());
  check_pool(o, "stride", s.stride());
  check_pool(o, "padding", s.padding());
  check_pool(o, "dilation", s.dilation());
  return wrap<Holder>(type, o, 1, s);
}

template <typename Holder, std::size_t D>
Made average_pool(const std::string& type, Options& o) {
  tn::AvgPoolOptions<D> s{o.need<torch::ExpandingArray<D>>("kernel_size")};
  o.read("stride", s.stride()).read("padding", s.padding()).read("ceil_mode", s.ceil_mode());
  o.read("count_include_pad", s.count_include_pad());
  if constexpr (D > 1) o.read("divisor_override", s.divisor_override());
  return wrap<Holder>(type, o, 1, s);
}

template <typename Holder, typename Settings, typename Size>
Made adaptive_pool(const std::string& type, Options& o) {
  Size size(0);
  size = o.need<Size>("output_size");
  return wrap<Holder>(type, o, 1, Settings(size));
}

template <typename Holder>
Made dropout(const std::string& type, Options& o) {
  tn::DropoutOptions s;
  o.read("p", s.p()).read("inplace", s.inplace());
  return wrap<Holder>(type, o, 1, s);
}

Made flatten_dimensions(const std::string& type, Options& o) {
  tn::FlattenOptions s;
  o.read("start_dim", s.start_dim()).read("end_dim", s.end_dim());
  return wrap<tn::Flatten>(type, o, 1, s);
}

Made unflatten(const std::string& type, Options& o) {
  tn::UnflattenOptions s{o.need<int64_t>("dim"), o.need<std::vector<int64_t>>("sizes")};
  return wrap<tn::Unflatten>(type, o, 1, s);
}

Made identity(const std::string& type, Options& o) {
  return wrap<tn::Identity>(type, o, 1);
}

Made upsample(const std::string& type, Options& o) {
  tn::UpsampleOptions s;
  o.read("size", s.size()).read("scale_factor", s.scale_factor()).read("mode", s.mode());
  o.read("align_corners", s.align_corners());
  return wrap<tn::Upsample>(type, o, 1, s);
}

Made pixel_shuffle(const std::string& type, Options& o) {
  return wrap<tn::PixelShuffle>(type, o, 1, tn::PixelShuffleOptions(o.need_count("upscale_factor")));
}

// LibTorch's takes the number of dimensions for granted.
class AttentionImpl : public tn::MultiheadAttentionImpl {
 public:
  using MultiheadAttentionImpl::MultiheadAttentionImpl;

  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                             const at::Tensor& key_padding_mask, bool need_weights,
                                             const at::Tensor& attn_mask, bool average_attn_weights) {
    if (query.dim() != 3 || query.size(2) != options.embed_dim()) {
      refuse("query must be [length, batch, " + std::to_string(options.embed_dim()) + "]", query);
    }
    if (key.dim() != 3 || key.size(1) != query.size(1)) {
      refuse("key must be [length, " + std::to_string(query.size(1)) + ", kdim]", key);
    }
    if (value.sizes() != key.sizes()) refuse("value must be of the key's shape " + c10::str(key.sizes()), value);
    return MultiheadAttentionImpl::forward(query, key, value, key_padding_mask, need_weights, attn_mask,
                                           average_attn_weights);
  }

 private:
  [[noreturn]] static void refuse(const std::string& what, const at::Tensor& given) {
    throw Error(ErrorCode::kInvalidArgument, "MultiheadAttention: the " + what + ", not " + c10::str(given.sizes()));
  }
};
TORCH_MODULE(Attention);

Made multihead_attention(const std::string& type, Options& o) {
  tn::MultiheadAttentionOptions s{o.need_count("embed_dim"), o.need_count("num_heads")};
  o.read("dropout", s.dropout()).read("bias", s.bias()).read("add_bias_kv", s.add_bias_kv());
  o.read("add_zero_attn", s.add_zero_attn()).read("kdim", s.kdim()).read("vdim", s.vdim());
  return wrap<Attention>(type, o, 3, s);
}

const Registered kLayers[] = {
    {"Linear", linear},
    {"Bilinear", bilinear},
    {"Identity", identity},
    {"Flatten", flatten_dimensions},
    {"Unflatten", unflatten},
    {"Conv1d", conv<tn::Conv1d, 1>},
    {"Conv2d", conv<tn::Conv2d, 2>},
    {"Conv3d", conv<tn::Conv3d, 3>},
    {"ConvTranspose1d", conv_transpose<tn::ConvTranspose1d, 1>},
    {"ConvTranspose2d", conv_transpose<tn::ConvTranspose2d, 2>},
    {"ConvTranspose3d", conv_transpose<tn::ConvTranspose3d, 3>},
    {"BatchNorm1d", batch_norm<tn::BatchNorm1d>},
    {"BatchNorm2d", batch_norm<tn::BatchNorm2d>},
    {"BatchNorm3d", batch_norm<tn::BatchNorm3d>},
    {"InstanceNorm1d", instance_norm<tn::InstanceNorm1d>},
    {"InstanceNorm2d", instance_norm<tn::InstanceNorm2d>},
    {"InstanceNorm3d", instance_norm<tn::InstanceNorm3d>},
    {"LayerNorm", layer_norm},
    {"GroupNorm", group_norm},
    {"Embedding", embedding},
    {"EmbeddingBag", embedding_bag},
    {"RNN", rnn},
    {"LSTM", lstm},
    {"GRU", gru},
    {"RNNCell", rnn_cell},
    {"LSTMCell", gated_cell<tn::LSTMCell, tn::LSTMCellOptions>},
    {"GRUCell", gated_cell<tn::GRUCell, tn::GRUCellOptions>},
    {"MultiheadAttention", multihead_attention},
    {"MaxPool1d", max_pool<tn::MaxPool1d, 1>},
    {"MaxPool2d", max_pool<tn::MaxPool2d, 2>},
    {"MaxPool3d", max_pool<tn::MaxPool3d, 3>},
    {"AvgPool1d", average_pool<tn::AvgPool1d, 1>},
    {"AvgPool2d", average_pool<tn::AvgPool2d, 2>},
    {"AvgPool3d", average_pool<tn::AvgPool3d, 3>},
    {"AdaptiveAvgPool1d", adaptive_pool<tn::AdaptiveAvgPool1d, tn::AdaptiveAvgPool1dOptions, torch::ExpandingArray<1>>},
    {"AdaptiveAvgPool2d",
     adaptive_pool<tn::AdaptiveAvgPool2d, tn::AdaptiveAvgPool2dOptions, torch::ExpandingArrayWithOptionalElem<2>>},
    {"AdaptiveAvgPool3d",
     adaptive_pool<tn::AdaptiveAvgPool3d, tn::AdaptiveAvgPool3dOptions, torch::ExpandingArrayWithOptionalElem<3>>},
    {"AdaptiveMaxPool1d", adaptive_pool<tn::AdaptiveMaxPool1d, tn::AdaptiveMaxPool1dOptions, torch::ExpandingArray<1>>},
    {"AdaptiveMaxPool2d",
     adaptive_pool<tn::AdaptiveMaxPool2d, tn::AdaptiveMaxPool2dOptions, torch::ExpandingArrayWithOptionalElem<2>>},
    {"AdaptiveMaxPool3d",
     adaptive_pool<tn::AdaptiveMaxPool3d, tn::AdaptiveMaxPool3dOptions, torch::ExpandingArrayWithOptionalElem<3>>},
    {"Dropout", dropout<tn::Dropout>},
    {"Dropout2d", dropout<tn::Dropout2d>},
    {"Dropout3d", dropout<tn::Dropout3d>},
    {"AlphaDropout", dropout<tn::AlphaDropout>},
    {"FeatureAlphaDropout", dropout<tn::FeatureAlphaDropout>},
    {"Upsample", upsample},
    {"PixelShuffle", pixel_shuffle},
};

}  // namespace

at::ArrayRef<Registered> layer_modules() {
  return kLayers;
}

}  // namespace tandem::nn
