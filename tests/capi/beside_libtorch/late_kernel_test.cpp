// Operators whose kernels are registered after somebody has looked the operator up.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "capi/calls.h"

namespace {

using namespace calls;
using testing::ElementsAre;

TORCH_LIBRARY(beside_late, m) {
  m.def("plus(Tensor a, Tensor b) -> Tensor");
  m.def("twice_(Tensor(a!) x) -> Tensor(a!)");
  m.def("known(Tensor a, Tensor b) -> Tensor",
        [](const at::Tensor& a, const at::Tensor& b) -> at::Tensor { return a + b; });
}

// For every dispatch key: under one for the CPU alone LibTorch's boxed fallback for autograd would come first.
torch::Library& kernels() {
  static torch::Library library(torch::Library::IMPL, "beside_late", std::nullopt, __FILE__, __LINE__);
  return library;
}

// The schema is the same as that of a kernel that takes references.
at::Tensor plus_that_takes_over(at::Tensor a, at::Tensor b) {
  const at::Tensor mine = std::move(a);
  return mine + b;
}

at::Tensor twice_by_value(at::Tensor x) {
  return x.mul_(2);
}

TEST(LateKernel, IsCalledByItsOwnSignature) {
  const tdm_op* plus = find("beside_late::plus");
  const Tensor a = tensor({1, 2}, {2}), b = tensor({10, 20}, {2});
  tdm_value result{};
  EXPECT_NE(Error(calls::call(plus, {of(a), of(b)}, &result)), nullptr) << "it has no kernel yet";
  kernels().impl("plus", plus_that_takes_over);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(floats(call("beside_late::plus", "", {of(a), of(b)}).get()), ElementsAre(11, 22));
    ASSERT_EQ(tdm_tensor_numel(a.get()), 2) << "the kernel took the caller's tensor";
  }
}

TEST(LateKernel, MayGiveItsResultInAnotherWay) {
  const tdm_op* twice = find("beside_late::twice_");
  kernels().impl("twice_", twice_by_value);
  const Tensor x = tensor({1, 2}, {2});
  tdm_value result{};
  ASSERT_OK(calls::call(twice, {of(x)}, &result));
  EXPECT_EQ(tdm_tensor_is_same(result.as.tensor, x.get()), 1);
  tdm_value_clear(&result);
  EXPECT_THAT(floats(x.get()), ElementsAre(2, 4));
}

// What unboxed calls rely on: LibTorch holds later kernels to the signature of the first.
TEST(LateKernel, CannotChangeASignatureThatIsKnown) {
  const Tensor a = tensor({1, 2}, {2}), b = tensor({10, 20}, {2});
  EXPECT_THAT(floats(call("beside_late::known", "", {of(a), of(b)}).get()), ElementsAre(11, 22));
  EXPECT_THROW(kernels().impl("known", plus_that_takes_over), c10::Error);
  EXPECT_THAT(floats(call("beside_late::known", "", {of(a), of(b)}).get()), ElementsAre(11, 22));
}

}  // namespace
