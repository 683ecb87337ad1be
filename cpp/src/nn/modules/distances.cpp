#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

Made cosine_similarity(ModuleOptions& o) {
  tn::CosineSimilarityOptions s;
  o.read("dim", s.dim()).read("eps", s.eps());
  return wrap<tn::CosineSimilarity>(o, {"x1", "x2"}, s);
}

Made pairwise_distance(ModuleOptions& o) {
  tn::PairwiseDistanceOptions s;
  o.read("p", s.p()).read("eps", s.eps()).read("keepdim", s.keepdim());
  return wrap<tn::PairwiseDistance>(o, {"x1", "x2"}, s);
}

const Registered kDistances[] = {{"CosineSimilarity", cosine_similarity}, {"PairwiseDistance", pairwise_distance}};

}  // namespace

at::ArrayRef<Registered> distances() {
  return kDistances;
}

}  // namespace tandem::nn
