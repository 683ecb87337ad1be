// Tensors from and to memory, scopes, live counts.
#include <atomic>
#include <thread>

#include "capi/calls.h"

namespace tensors_test {
namespace {

using namespace calls;
using testing::ElementsAre;

// LibTorch's numbers that tandem.h does not freeze stay inside.
TEST(Tensor, ADtypeWithoutANumberIsMinusOne) {
  const Tensor bytes = call("aten::to", "dtype", {of(tensor({1, 2}, {2})), tagged(TDM_VALUE_DTYPE, TDM_DTYPE_UINT8)});
  const Tensor quantized = call("aten::_make_per_tensor_quantized_tensor", "", {of(bytes), of(0.5), of(0)});
  EXPECT_EQ(tdm_tensor_get_dtype(quantized.get()), -1);
  EXPECT_EQ(tdm_tensor_get_dtype(bytes.get()), TDM_DTYPE_UINT8);
  EXPECT_EQ(tdm_tensor_get_device(bytes.get()).type, TDM_DEVICE_CPU);
}

// Zero is uint8, which is another thing than none.
TEST(Tensor, UnchangedIsItsOwnNumber) {
  const Module linear = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  const auto weight_dtype = [&] {
    tdm_named_tensors* list = nullptr;
    EXPECT_OK(tdm_module_named_parameters(linear.get(), &list));
    const NamedTensors owned(list);
    tdm_tensor* weight = nullptr;
    EXPECT_OK(tdm_named_tensors_get(list, 0, &weight));
    return tdm_tensor_get_dtype(Tensor(weight).get());
  };
  const tdm_device as_it_is = {TDM_UNCHANGED, -1};
  EXPECT_OK(tdm_module_to(linear.get(), as_it_is, TDM_UNCHANGED));
  EXPECT_EQ(weight_dtype(), TDM_DTYPE_FLOAT32);
  EXPECT_OK(tdm_module_to(linear.get(), as_it_is, TDM_DTYPE_FLOAT64));
  EXPECT_EQ(weight_dtype(), TDM_DTYPE_FLOAT64);
  EXPECT_OK(tdm_module_to(linear.get(), {TDM_DEVICE_CPU, -1}, TDM_UNCHANGED));
  EXPECT_EQ(weight_dtype(), TDM_DTYPE_FLOAT64);
  const tdm_comm_hook_options hook = TDM_COMM_HOOK_OPTIONS_INIT;
  EXPECT_EQ(hook.compress_dtype, TDM_UNCHANGED);
  const tdm_ddp_options ddp = TDM_DDP_OPTIONS_INIT;
  EXPECT_EQ(ddp.param_dtype, TDM_UNCHANGED);
}

TEST(Tensor, RoundTripsItsBytes) {
  const Tensor t = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_THAT(sizes(t.get()), ElementsAre(2, 3));
  EXPECT_EQ(tdm_tensor_strides(t.get())[0], 3);
  EXPECT_EQ(tdm_tensor_numel(t.get()), 6);
  EXPECT_EQ(tdm_tensor_nbytes(t.get()), 24u);
  EXPECT_EQ(tdm_tensor_storage_nbytes(t.get()), 24u);
  EXPECT_EQ(tdm_tensor_get_dtype(t.get()), TDM_DTYPE_FLOAT32);
  EXPECT_EQ(tdm_tensor_get_device(t.get()).type, TDM_DEVICE_CPU);
  EXPECT_EQ(tdm_tensor_is_leaf(t.get()), 1);
  EXPECT_EQ(tdm_tensor_is_contiguous(t.get()), 1);
  EXPECT_THAT(floats(t.get()), ElementsAre(1, 2, 3, 4, 5, 6));
  // C-contiguous whatever the strides are.
  const Tensor turned = call("aten::t", "", {of(t)});
  EXPECT_EQ(tdm_tensor_is_contiguous(turned.get()), 0);
  EXPECT_THAT(floats(turned.get()), ElementsAre(1, 4, 2, 5, 3, 6));
  const Tensor row = call("aten::select", "int", {of(t), of(0), of(1)});
  EXPECT_EQ(tdm_tensor_nbytes(row.get()), 12u);
  EXPECT_EQ(tdm_tensor_storage_nbytes(row.get()), 24u);
  const float other[] = {10, 20, 30, 40, 50, 60};
  ASSERT_OK(tdm_tensor_copy_from(turned.get(), other, sizeof other));
  EXPECT_THAT(floats(t.get()), ElementsAre(10, 30, 50, 20, 40, 60));
}

TEST(Tensor, EveryDtypeHasItsSize) {
  const struct {
    tdm_dtype dtype;
    std::size_t bytes;
  } kinds[] = {{TDM_DTYPE_UINT8, 1},     {TDM_DTYPE_INT8, 1},        {TDM_DTYPE_INT16, 2},
               {TDM_DTYPE_INT32, 4},     {TDM_DTYPE_INT64, 8},       {TDM_DTYPE_FLOAT16, 2},
               {TDM_DTYPE_FLOAT32, 4},   {TDM_DTYPE_FLOAT64, 8},     {TDM_DTYPE_BOOL, 1},
               {TDM_DTYPE_COMPLEX64, 8}, {TDM_DTYPE_COMPLEX128, 16}, {TDM_DTYPE_BFLOAT16, 2},
               {TDM_DTYPE_UINT16, 2},    {TDM_DTYPE_UINT32, 4},      {TDM_DTYPE_UINT64, 8},
               {TDM_DTYPE_COMPLEX32, 4}, {TDM_DTYPE_FLOAT8_E5M2, 1}, {TDM_DTYPE_FLOAT8_E4M3FN, 1}};
  const std::vector<unsigned char> bytes(32, 1);
  const std::int64_t two[] = {2};
  for (const auto& kind : kinds) {
    tdm_tensor* made = nullptr;
    ASSERT_OK(tdm_tensor_from_data(bytes.data(), 2 * kind.bytes, kind.dtype, two, 1, &made)) << kind.dtype;
    const Tensor owned(made);
    EXPECT_EQ(tdm_tensor_get_dtype(made), kind.dtype);
    std::vector<unsigned char> back(2 * kind.bytes);
    ASSERT_OK(tdm_tensor_copy_to(made, back.data(), back.size()));
    EXPECT_EQ(back[0], 1);
  }
}

TEST(Tensor, ScalarsAndEmptyOnes) {
  const Tensor scalar = tensor({7}, {});
  EXPECT_EQ(tdm_tensor_dim(scalar.get()), 0);
  double real = 0;
  std::int64_t whole = 0;
  ASSERT_OK(tdm_tensor_item_double(scalar.get(), &real));
  ASSERT_OK(tdm_tensor_item_int64(scalar.get(), &whole));
  EXPECT_EQ(real, 7);
  EXPECT_EQ(whole, 7);
  const Tensor half = tensor({0.5}, {});
  EXPECT_REFUSED(tdm_tensor_item_int64(half.get(), &whole), TDM_ERROR_INVALID_ARGUMENT, "no whole number");
  const Tensor many = tensor({1, 2}, {2});
  EXPECT_REFUSED(tdm_tensor_item_double(many.get(), &real), TDM_ERROR_INVALID_ARGUMENT, "2 elements");
  const std::int64_t none[] = {0, 3};
  tdm_tensor* empty = nullptr;
  ASSERT_OK(tdm_tensor_from_data(nullptr, 0, TDM_DTYPE_FLOAT32, none, 2, &empty));
  EXPECT_EQ(tdm_tensor_numel(empty), 0);
  ASSERT_OK(tdm_tensor_copy_to(empty, nullptr, 0));
  tdm_tensor_free(empty);
  tdm_string* text = nullptr;
  ASSERT_OK(tdm_tensor_to_string(many.get(), &text));
  const String owned(text);
  EXPECT_THAT(tdm_string_data(text), testing::HasSubstr("CPUFloatType{2}"));
  EXPECT_EQ(tdm_string_size(text), std::strlen(tdm_string_data(text)));
}

TEST(Tensor, RefusesWhatDoesNotFit) {
  const float data[4] = {};
  const std::int64_t two[] = {2}, negative[] = {-1}, huge[] = {INT64_MAX, INT64_MAX};
  tdm_tensor* out = nullptr;
  const auto refused = [&](tdm_error* error, const char* text) {
    EXPECT_REFUSED(error, TDM_ERROR_INVALID_ARGUMENT, text);
    EXPECT_EQ(out, nullptr);
  };
  refused(tdm_tensor_from_data(data, 4, TDM_DTYPE_FLOAT32, two, 1, &out), "takes 8 bytes");
  refused(tdm_tensor_from_data(nullptr, 8, TDM_DTYPE_FLOAT32, two, 1, &out), "'data' is NULL");
  refused(tdm_tensor_from_data(data, 8, 12345, two, 1, &out), "'dtype' is 12345");
  refused(tdm_tensor_from_data(data, 8, TDM_DTYPE_FLOAT32, nullptr, 1, &out), "'sizes' is NULL");
  refused(tdm_tensor_from_data(data, 8, TDM_DTYPE_FLOAT32, two, -1, &out), "-1 dimensions");
  refused(tdm_tensor_from_data(data, 8, TDM_DTYPE_FLOAT32, two, 1000000, &out), "1000000 dimensions");
  refused(tdm_tensor_from_data(data, 8, TDM_DTYPE_FLOAT32, negative, 1, &out), "below zero");
  refused(tdm_tensor_from_data(data, 8, TDM_DTYPE_FLOAT32, huge, 2, &out), "more elements");
  refused(tdm_tensor_from_data(data, 8, TDM_DTYPE_FLOAT32, two, 1, nullptr), "'out' is NULL");
  const Tensor t = tensor({1, 2}, {2});
  float back[2];
  refused(tdm_tensor_copy_to(t.get(), back, 4), "has 8 bytes");
  refused(tdm_tensor_copy_to(t.get(), nullptr, 8), "'destination' is NULL");
  refused(tdm_tensor_copy_to(nullptr, back, 8), "'tensor' is NULL");
  refused(tdm_tensor_copy_from(t.get(), nullptr, 8), "'source' is NULL");
  refused(tdm_tensor_copy_from(t.get(), back, 9), "has 8 bytes");
  refused(tdm_tensor_share(nullptr, &out), "'tensor' is NULL");
  refused(tdm_tensor_data(t.get(), nullptr), "'out' is NULL");
}

TEST(Tensor, GettersTakeNull) {
  EXPECT_EQ(tdm_tensor_dim(nullptr), 0);
  EXPECT_EQ(tdm_tensor_sizes(nullptr), nullptr);
  EXPECT_EQ(tdm_tensor_strides(nullptr), nullptr);
  EXPECT_EQ(tdm_tensor_numel(nullptr), 0);
  EXPECT_EQ(tdm_tensor_nbytes(nullptr), 0u);
  EXPECT_EQ(tdm_tensor_storage_nbytes(nullptr), 0u);
  EXPECT_EQ(tdm_tensor_get_dtype(nullptr), -1);
  EXPECT_EQ(tdm_tensor_get_device(nullptr).index, -1);
  EXPECT_EQ(tdm_tensor_requires_grad(nullptr), 0);
  EXPECT_EQ(tdm_tensor_is_leaf(nullptr), 0);
  EXPECT_EQ(tdm_tensor_is_contiguous(nullptr), 0);
  EXPECT_EQ(tdm_tensor_is_same(nullptr, nullptr), 0);
  EXPECT_EQ(tdm_tensor_scope_id(nullptr), 0u);
  EXPECT_EQ(tdm_scope_id(nullptr), 0u);
  EXPECT_EQ(tdm_named_tensors_size(nullptr), 0u);
  EXPECT_EQ(tdm_named_tensors_name(nullptr, 0), nullptr);
  EXPECT_STREQ(tdm_op_schema(nullptr), "");
  EXPECT_EQ(tdm_live_count(nullptr), -1);
  EXPECT_EQ(tdm_live_count("cabbage"), -1);
  tdm_tensor_free(nullptr);
  tdm_string_free(nullptr);
  tdm_named_tensors_free(nullptr);
  tdm_module_free(nullptr);
  tdm_optimizer_free(nullptr);
  tdm_value_clear(nullptr);
  tdm_scope_exit(nullptr);
  tdm_scope_keep(nullptr);
  tdm_error_free(nullptr);
}

TEST(Tensor, BlobIsSharedAndGivenBackOnce) {
  float memory[] = {1, 2};
  const std::int64_t two[] = {2};
  std::atomic<int> destroyed{0};
  tdm_tensor *first = nullptr, *second = nullptr;
  const auto destroy = [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
  ASSERT_OK(tdm_tensor_from_blob(memory, sizeof memory, TDM_DTYPE_FLOAT32, two, 1, destroy, &destroyed, &first));
  ASSERT_OK(tdm_tensor_share(first, &second));
  EXPECT_EQ(tdm_tensor_is_same(first, second), 1);
  memory[0] = 9;
  EXPECT_THAT(floats(second), ElementsAre(9, 2));
  void* data = nullptr;
  ASSERT_OK(tdm_tensor_data(second, &data));
  EXPECT_EQ(data, memory);
  tdm_tensor_free(first);
  EXPECT_EQ(destroyed, 0);
  tdm_tensor_free(second);
  EXPECT_EQ(destroyed, 1);
  EXPECT_NE(Error(tdm_tensor_from_blob(memory, 1, TDM_DTYPE_FLOAT32, two, 1, destroy, &destroyed, &first)), nullptr);
  EXPECT_EQ(destroyed, 1);
}

TEST(Tensor, UseAfterFreeIsAnError) {
  tdm_tensor* stale = tensor({1}, {1}).release();
  tdm_tensor_free(stale);
  double out = 0;
  EXPECT_REFUSED(tdm_tensor_item_double(stale, &out), TDM_ERROR_CLOSED, "freed");
  EXPECT_EQ(tdm_tensor_sizes(stale), nullptr);
  const std::int64_t before = tdm_live_count("tensor");
  tdm_tensor_free(stale);  // a second time does nothing
  EXPECT_EQ(tdm_live_count("tensor"), before);
}

TEST(Live, CountsHandlesAndBytes) {
  const LeakCheck leaks;
  const std::int64_t count = tdm_live_count("tensor"), bytes = tdm_tensor_live_bytes();
  const Tensor t = tensor(std::vector<float>(1000, 1), {1000});
  EXPECT_EQ(tdm_live_count("tensor"), count + 1);
  EXPECT_EQ(tdm_tensor_live_bytes(), bytes + 4000);
  const std::int64_t errors = tdm_live_count("error");
  Error error(tdm_tensor_item_double(nullptr, nullptr));
  EXPECT_EQ(tdm_live_count("error"), errors + 1);
  error.reset();
  EXPECT_EQ(tdm_live_count("error"), errors);
}

TEST(Live, CountsAcrossThreads) {
  const LeakCheck leaks;
  std::vector<tdm_tensor*> made(1000);
  std::thread maker([&] {
    for (auto& one : made) one = tensor({1}, {1}).release();
  });
  maker.join();
  std::thread freer([&] {
    for (auto* one : made) tdm_tensor_free(one);
  });
  freer.join();
}

TEST(Scope, FreesWhatWasMadeInIt) {
  const LeakCheck leaks;
  const Tensor outside = tensor({1}, {1});
  tdm_scope* scope = nullptr;
  ASSERT_OK(tdm_scope_enter(&scope));
  const std::int64_t before = tdm_live_count("tensor");
  tdm_tensor* inside = tensor({1}, {1}).release();
  EXPECT_EQ(tdm_tensor_scope_id(inside), tdm_scope_id(scope));
  EXPECT_NE(tdm_scope_id(scope), 0u);
  EXPECT_EQ(tdm_tensor_scope_id(outside.get()), 0u);
  for (int i = 0; i < 1000; ++i) tensor({1}, {1}).release();
  tdm_scope_exit(scope);
  EXPECT_EQ(tdm_live_count("tensor"), before);
  double out = 0;
  EXPECT_REFUSED(tdm_tensor_item_double(inside, &out), TDM_ERROR_CLOSED, "scope");
  EXPECT_OK(tdm_tensor_item_double(outside.get(), &out));
}

TEST(Scope, IdsNeverComeBack) {
  std::uint64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    tdm_scope* scope = nullptr;
    ASSERT_OK(tdm_scope_enter(&scope));
    EXPECT_NE(tdm_scope_id(scope), last);
    last = tdm_scope_id(scope);
    tdm_scope_exit(scope);
    EXPECT_EQ(tdm_scope_id(scope), 0u);
    tdm_scope_exit(scope);  // of one that ended: nothing
  }
}

TEST(Scope, KeepMovesOutwards) {
  const LeakCheck leaks;
  tdm_scope *outer = nullptr, *inner = nullptr;
  ASSERT_OK(tdm_scope_enter(&outer));
  ASSERT_OK(tdm_scope_enter(&inner));
  tdm_tensor* a = tensor({1}, {1}).release();
  tdm_tensor* b = tensor({2}, {1}).release();
  tdm_scope_keep(a);
  EXPECT_EQ(tdm_tensor_scope_id(a), tdm_scope_id(outer));
  tdm_scope_keep(b);
  tdm_scope_keep(b);
  EXPECT_EQ(tdm_tensor_scope_id(b), 0u);
  tdm_scope_exit(inner);
  EXPECT_THAT(floats(a), ElementsAre(1));
  tdm_scope_exit(outer);
  EXPECT_EQ(tdm_tensor_sizes(a), nullptr);
  EXPECT_THAT(floats(b), ElementsAre(2));
  tdm_tensor_free(b);
}

TEST(Scope, ExitEndsInnerOnesFirst) {
  const LeakCheck leaks;
  tdm_scope *outer = nullptr, *inner = nullptr;
  ASSERT_OK(tdm_scope_enter(&outer));
  tensor({1}, {1}).release();
  ASSERT_OK(tdm_scope_enter(&inner));
  tensor({1}, {1}).release();
  tdm_scope_exit(outer);
  EXPECT_EQ(tdm_scope_id(inner), 0u);
}

TEST(Scope, OtherThreadsMayFreeAndKeep) {
  const LeakCheck leaks;
  tdm_scope* scope = nullptr;
  ASSERT_OK(tdm_scope_enter(&scope));
  std::vector<tdm_tensor*> handles;
  for (int i = 0; i < 300; ++i) handles.push_back(tensor({static_cast<float>(i)}, {1}).release());
  std::thread other([&] {
    for (int i = 0; i < 300; ++i) {
      if (i % 3 == 0) tdm_tensor_free(handles[i]);
      if (i % 3 == 1) tdm_scope_keep(handles[i]);
    }
    // What another thread makes is outside this scope.
    const Tensor own = tensor({1}, {1});
    EXPECT_EQ(tdm_tensor_scope_id(own.get()), 0u);
  });
  other.join();
  tdm_scope_exit(scope);
  for (int i = 1; i < 300; i += 3) {
    EXPECT_THAT(floats(handles[i]), ElementsAre(static_cast<float>(i)));
    tdm_tensor_free(handles[i]);
  }
}

TEST(Scope, AThreadsEndEndsItsScopes) {
  const LeakCheck leaks;
  std::thread([] {
    tdm_scope* scope = nullptr;
    ASSERT_OK(tdm_scope_enter(&scope));
    tensor({1}, {1}).release();
  }).join();
}

TEST(Scope, ManyThreadsAtOnce) {
  const LeakCheck leaks;
  std::vector<std::thread> threads;
  const Tensor shared = tensor({1, 2, 3, 4}, {2, 2});
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const tdm_op* add = find("aten::add", "Tensor");
      for (int i = 0; i < 200; ++i) {
        tdm_scope* scope = nullptr;
        ASSERT_OK(tdm_scope_enter(&scope));
        const tdm_value arguments[] = {of(shared), of(shared)};
        for (int j = 0; j < 20; ++j) {
          tdm_value result;
          ASSERT_OK(tdm_op_call(add, arguments, 2, &result, 1));
        }
        tdm_scope_exit(scope);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tensors_test
