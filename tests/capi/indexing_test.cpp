// x[...] and x[...] = value. Python's own results are compared in Go (go/indexing_test.go); here is what only C sees.
#include "capi/calls.h"

namespace indexing_test {
namespace {

using namespace calls;
using testing::ElementsAre;

tdm_index at(std::int64_t place) {
  tdm_index index = TDM_INDEX_INIT;
  index.kind = TDM_INDEX_INTEGER;
  index.start = place;
  return index;
}

tdm_index slice(std::int64_t start, std::int64_t stop, std::int64_t step = 1) {
  tdm_index index = TDM_INDEX_INIT;
  index.start = start;
  index.stop = stop;
  index.step = step;
  return index;
}

tdm_index by(const Tensor& tensor) {
  tdm_index index = TDM_INDEX_INIT;
  index.kind = TDM_INDEX_TENSOR;
  index.tensor = tensor.get();
  return index;
}

tdm_error* get(const Tensor& x, const std::vector<tdm_index>& indices, tdm_tensor** out) {
  return tdm_tensor_index(x.get(), indices.data(), indices.size(), out);
}

Tensor get(const Tensor& x, const std::vector<tdm_index>& indices) {
  tdm_tensor* out = nullptr;
  EXPECT_OK(get(x, indices, &out));
  return Tensor(out);
}

tdm_error* put(const Tensor& x, const std::vector<tdm_index>& indices, const tdm_value& value) {
  return tdm_tensor_index_put(x.get(), indices.data(), indices.size(), &value);
}

TEST(Indexing, BasicIndicesGiveViews) {
  const Tensor x = tensor({0, 1, 2, 3, 4, 5}, {2, 3});
  const Tensor column = get(x, {TDM_INDEX_INIT, at(-1)});
  EXPECT_THAT(floats(column.get()), ElementsAre(2, 5));
  ASSERT_OK(put(column, {}, of(7.0)));
  EXPECT_THAT(floats(x.get()), ElementsAre(0, 1, 7, 3, 4, 7));
  EXPECT_THAT(floats(get(x, {at(0), slice(0, INT64_MAX, 2)}).get()), ElementsAre(0, 7));
  EXPECT_THAT(floats(get(x, {at(1), slice(INT64_MIN, INT64_MAX)}).get()), ElementsAre(3, 4, 7));
  EXPECT_THAT(sizes(get(x, {}).get()), ElementsAre(2, 3));
}

TEST(Indexing, TensorsPickAndMask) {
  const Tensor x = tensor({0, 1, 2, 3, 4, 5}, {2, 3});
  const Tensor rows = call("aten::to", "dtype", {of(tensor({1, 0, 1}, {3})), tagged(TDM_VALUE_DTYPE, TDM_DTYPE_INT64)});
  EXPECT_THAT(floats(get(x, {by(rows), at(0)}).get()), ElementsAre(3, 0, 3));
  const Tensor mask = call("aten::gt", "Scalar", {of(x), of(3)});
  EXPECT_THAT(floats(get(x, {by(mask)}).get()), ElementsAre(4, 5));
  ASSERT_OK(put(x, {by(mask)}, of(tensor({-1}, {1}))));
  EXPECT_THAT(floats(x.get()), ElementsAre(0, 1, 2, 3, -1, -1));
}

TEST(Indexing, RefusesWithTheCause) {
  const Tensor x = tensor({0, 1, 2, 3, 4, 5}, {2, 3});
  tdm_tensor* out = nullptr;
  EXPECT_REFUSED(get(x, {TDM_INDEX_INIT, at(3)}, &out), TDM_ERROR_OUT_OF_RANGE,
                 "index 3 is out of bounds for dimension 1 with size 3");
  EXPECT_REFUSED(get(x, {at(0), at(0), at(0)}, &out), TDM_ERROR_OUT_OF_RANGE, "too many indices");
  EXPECT_REFUSED(get(x, {slice(0, 2, -1)}, &out), TDM_ERROR_INVALID_ARGUMENT, "step is -1");
  EXPECT_REFUSED(get(x, {by(Tensor())}, &out), TDM_ERROR_INVALID_ARGUMENT, "'indices[0].tensor'");
  EXPECT_REFUSED(get(x, {by(x)}, &out), TDM_ERROR_OUT_OF_RANGE, "long");
  tdm_index unknown = TDM_INDEX_INIT;
  unknown.kind = 77;
  EXPECT_REFUSED(get(x, {at(0), unknown}, &out), TDM_ERROR_INVALID_ARGUMENT, "'indices'[1] has the kind 77");
  EXPECT_REFUSED(tdm_tensor_index(x.get(), nullptr, 1, &out), TDM_ERROR_INVALID_ARGUMENT, "'indices' is NULL");
  EXPECT_REFUSED(tdm_tensor_index(nullptr, nullptr, 0, &out), TDM_ERROR_INVALID_ARGUMENT, "'tensor' is NULL");
  EXPECT_REFUSED(tdm_tensor_index(x.get(), nullptr, 0, nullptr), TDM_ERROR_INVALID_ARGUMENT, "'out' is NULL");
  EXPECT_REFUSED(tdm_tensor_index_put(x.get(), nullptr, 0, nullptr), TDM_ERROR_INVALID_ARGUMENT, "'value' is NULL");
  EXPECT_REFUSED(put(x, {at(0)}, of("text")), TDM_ERROR_INVALID_ARGUMENT, "a tensor or a number, not a string");
  EXPECT_REFUSED(put(x, {at(0)}, of(tensor({1, 2}, {2}))), TDM_ERROR_INVALID_ARGUMENT, "must match the existing size");
  const Tensor bytes = call("aten::to", "dtype", {of(x), tagged(TDM_VALUE_DTYPE, TDM_DTYPE_UINT8)});
  EXPECT_REFUSED(put(bytes, {at(0)}, of(300)), TDM_ERROR_INVALID_ARGUMENT, "without overflow");
  EXPECT_EQ(out, nullptr);
  EXPECT_THAT(floats(x.get()), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Tensor, SaysItsLayoutAndWhatRecordedIt) {
  const Tensor x = tensor({0, 1, 2, 0}, {2, 2});
  EXPECT_EQ(tdm_tensor_get_layout(x.get()), TDM_LAYOUT_STRIDED);
  EXPECT_EQ(tdm_tensor_get_layout(call("aten::to_sparse", "", {of(x)}).get()), TDM_LAYOUT_SPARSE);
  EXPECT_EQ(tdm_tensor_get_layout(call("aten::to_sparse_csc", "", {of(x)}).get()), TDM_LAYOUT_SPARSE_CSC);
  EXPECT_EQ(tdm_tensor_get_layout(nullptr), -1);
  tdm_string* name = nullptr;
  ASSERT_OK(tdm_tensor_grad_fn_name(x.get(), &name));
  EXPECT_EQ(name, nullptr);
  ASSERT_OK(tdm_tensor_set_requires_grad(x.get(), 1));
  ASSERT_OK(tdm_tensor_grad_fn_name(call("aten::mul", "Tensor", {of(x), of(x)}).get(), &name));
  EXPECT_STREQ(tdm_string_data(String(name).get()), "MulBackward0");
}

}  // namespace
}  // namespace indexing_test
