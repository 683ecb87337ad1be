#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

template <typename Holder>
Made dropout(ModuleOptions& o) {
  tn::DropoutOptions s;
  o.read("p", s.p()).read("inplace", s.inplace());
  return wrap<Holder>(o, {"input"}, s);
}

// Whole channels of [N, C, L] or [C, L].
Made dropout1d(ModuleOptions& o) {
  tn::DropoutOptions s;
  o.read("p", s.p()).read("inplace", s.inplace());
  if (!(s.p() >= 0 && s.p() <= 1)) o.refuse("p", "must be from 0 to 1, not " + std::to_string(s.p()));
  return wrap_function(o, {"input"}, [s](tn::IdentityImpl& module, const at::Tensor& input) {
    if (input.dim() != 2 && input.dim() != 3) {
      throw Error(ErrorCode::kInvalidArgument,
                  "Dropout1d: the input must be [batch, channels, length] or [channels, length], not " +
                      c10::str(input.sizes()));
    }
    at::Tensor batch = input.dim() == 3 ? input : input.unsqueeze(0);
    batch = s.inplace() ? at::feature_dropout_(batch, s.p(), module.is_training())
                        : at::feature_dropout(batch, s.p(), module.is_training());
    return input.dim() == 3 ? batch : s.inplace() ? input : batch.squeeze(0);
  });
}

const Registered kDropouts[] = {
    {"Dropout", dropout<tn::Dropout>},           {"Dropout1d", dropout1d},
    {"Dropout2d", dropout<tn::Dropout2d>},       {"Dropout3d", dropout<tn::Dropout3d>},
    {"AlphaDropout", dropout<tn::AlphaDropout>}, {"FeatureAlphaDropout", dropout<tn::FeatureAlphaDropout>},
};

}  // namespace

at::ArrayRef<Registered> dropouts() {
  return kDropouts;
}

}  // namespace tandem::nn
