#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

Made embedding(ModuleOptions& o) {
  tn::EmbeddingOptions s{o.need<int64_t>("num_embeddings"), o.need<int64_t>("embedding_dim")};
  o.read("padding_idx", s.padding_idx()).read("max_norm", s.max_norm()).read("norm_type", s.norm_type());
  o.read("scale_grad_by_freq", s.scale_grad_by_freq()).read("sparse", s.sparse());
  return wrap<tn::Embedding>(o, {"input"}, s);
}

Made embedding_bag(ModuleOptions& o) {
  tn::EmbeddingBagOptions s{o.need<int64_t>("num_embeddings"), o.need<int64_t>("embedding_dim")};
  o.read("max_norm", s.max_norm()).read("norm_type", s.norm_type()).read("mode", s.mode()).read("sparse", s.sparse());
  o.read("scale_grad_by_freq", s.scale_grad_by_freq()).read("include_last_offset", s.include_last_offset());
  o.read("padding_idx", s.padding_idx());
  Made made = wrap<tn::EmbeddingBag>(o, {"input", "offsets?", "per_sample_weights?"}, s);
  if (made && s.padding_idx()) {  // as of Embedding; LibTorch draws this row as well
    at::NoGradGuard no_grad;
    made->get().parameters()[0].select(0, *s.padding_idx()).zero_();
  }
  return made;
}

const Registered kEmbeddings[] = {
    {"Embedding", embedding},
    {"EmbeddingBag", embedding_bag},
};

}  // namespace

at::ArrayRef<Registered> embeddings() {
  return kEmbeddings;
}

}  // namespace tandem::nn
