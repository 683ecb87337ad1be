#include "nn/modules/pool_options.h"
#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

// LibTorch takes the output's size with batch and channels alone, Python also without.
template <typename Implementation, std::size_t D>
at::Tensor unpool(Implementation& module, const at::Tensor& input, const at::Tensor& indices,
                  const std::optional<std::vector<int64_t>>& output_size) {
  if (!output_size || output_size->size() != D) return module.forward(input, indices, output_size);
  std::vector<int64_t> whole(2, 0);
  whole.insert(whole.end(), output_size->begin(), output_size->end());
  return module.forward(input, indices, whole);
}

template <typename Holder, std::size_t D>
Made max_unpool(ModuleOptions& o) {
  tn::MaxUnpoolOptions<D> s{need_pool_size<D>(o)};
  read_stride(o, s.stride());
  o.read("padding", s.padding());
  using Implementation = std::remove_cvref_t<decltype(*std::declval<Holder>().ptr())>;
  return wrap_with<Holder>(o, {"input", "indices", "output_size?"}, &unpool<Implementation, D>, s);
}

const Registered kUnpoolings[] = {
    {"MaxUnpool1d", max_unpool<tn::MaxUnpool1d, 1>},
    {"MaxUnpool2d", max_unpool<tn::MaxUnpool2d, 2>},
    {"MaxUnpool3d", max_unpool<tn::MaxUnpool3d, 3>},
};

}  // namespace

at::ArrayRef<Registered> unpoolings() {
  return kUnpoolings;
}

}  // namespace tandem::nn
