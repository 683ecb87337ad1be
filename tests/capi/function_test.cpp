// Functions whose derivative is the caller's.
#include <functional>

#include "capi/autograd_values.h"

namespace function_test {
namespace {

using namespace calls;
using testing::ElementsAre;
using testing::HasSubstr;

// A C++ function as a backward; counts what became of it.
struct Backward {
  std::function<tdm_error*(const tdm_function_backward&)> body;
  int* destroyed;
};

tdm_error* run_backward(void* user_data, const tdm_function_backward* call) {
  return static_cast<Backward*>(user_data)->body(*call);
}

void destroy(void* user_data) {
  auto* backward = static_cast<Backward*>(user_data);
  ++*backward->destroyed;
  delete backward;
}

// What a test records, with vectors instead of arrays.
struct Record {
  std::vector<tdm_tensor*> inputs, outputs, saved, dirty, non_differentiable;
  int materialize_grads = 1;
  const char* name = "Cube";
};

tdm_error* record(const Record& r, int* destroyed, std::function<tdm_error*(const tdm_function_backward&)> body,
                  std::vector<Tensor>* results) {
  tdm_function function = TDM_FUNCTION_INIT;
  function.name = r.name;
  function.inputs = r.inputs.data();
  function.input_count = r.inputs.size();
  function.outputs = r.outputs.data();
  function.output_count = r.outputs.size();
  function.saved = r.saved.data();
  function.saved_count = r.saved.size();
  function.dirty = r.dirty.data();
  function.dirty_count = r.dirty.size();
  function.non_differentiable = r.non_differentiable.data();
  function.non_differentiable_count = r.non_differentiable.size();
  function.materialize_grads = r.materialize_grads;
  function.backward = run_backward;
  auto owned = std::make_unique<Backward>(Backward{std::move(body), destroyed});
  function.user_data = owned.get();
  function.destroy = destroy;
  std::vector<tdm_tensor*> made(r.outputs.size());
  tdm_error* error = tdm_function_record(&function, made.data());
  if (error) return error;
  owned.release();
  for (tdm_tensor* one : made) results->emplace_back(one);
  return nullptr;
}

Tensor product(const Tensor& a, const Tensor& b) {
  return call("aten::mul", "Tensor", {of(a), of(b)});
}
Tensor product(tdm_tensor* a, tdm_tensor* b) {
  return call("aten::mul", "Tensor", {of(a), of(b)});
}
Tensor times(tdm_tensor* a, double factor) {
  return call("aten::mul", "Scalar", {of(a), of(factor)});
}

class NoGrad {
 public:
  NoGrad() { EXPECT_OK(tdm_mode_enter_grad(0, &mode_)); }
  ~NoGrad() { EXPECT_OK(tdm_mode_exit(mode_)); }

 private:
  tdm_mode* mode_ = nullptr;
};

// x³, whose backward is 3x² · g from the saved input.
Tensor cube(const Tensor& x, int* destroyed) {
  Tensor y;
  {
    const NoGrad no_grad;
    y = product(product(x, x), x);
  }
  std::vector<Tensor> results;
  Record r;
  r.inputs = {x.get()};
  r.outputs = {y.get()};
  r.saved = {x.get()};
  EXPECT_OK(record(
      r, destroyed,
      [](const tdm_function_backward& call) {
        EXPECT_EQ(call.gradient_count, 1u);
        EXPECT_EQ(call.saved_count, 1u);
        EXPECT_EQ(call.input_count, 1u);
        const Tensor square = product(call.saved[0], call.saved[0]);
        const Tensor slope = times(square.get(), 3);
        call.results[0] = product(slope.get(), call.gradients[0]).release();
        return nullptr;
      },
      &results));
  return std::move(results.at(0));
}

TEST(Function, BackwardIsTheCallers) {
  LeakCheck leaks;
  int destroyed = 0;
  {
    const Tensor x = parameter({2, 3}, {2});
    const Tensor y = cube(x, &destroyed);
    EXPECT_EQ(tdm_tensor_requires_grad(y.get()), 1);
    EXPECT_EQ(tdm_tensor_is_leaf(y.get()), 0);
    EXPECT_EQ(tdm_live_count("callback"), 1);
    ASSERT_OK(backward(call("aten::sum", "", {of(y)})));
    EXPECT_THAT(floats(grad(x).get()), ElementsAre(12, 27));
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Function, HasDerivativesOfHigherOrder) {
  LeakCheck leaks;
  int destroyed = 0;
  {
    const Tensor x = parameter({2}, {1});
    const Tensor first = derivative(cube(x, &destroyed), x, 1);
    EXPECT_THAT(floats(first.get()), ElementsAre(12));
    const Tensor second = derivative(first, x, 1);
    EXPECT_THAT(floats(second.get()), ElementsAre(12));
    EXPECT_THAT(floats(derivative(second, x).get()), ElementsAre(6));
  }
  EXPECT_EQ(destroyed, 1);
}

// exp, which saves its own output: no cycle keeps it.
TEST(Function, ASavedOutputIsFreed) {
  LeakCheck leaks;
  int destroyed = 0;
  {
    const Tensor x = parameter({0}, {1});
    Tensor y;
    {
      const NoGrad no_grad;
      y = call("aten::exp", "", {of(x)});
    }
    std::vector<Tensor> results;
    Record r;
    r.inputs = {x.get()};
    r.outputs = r.saved = {y.get()};
    ASSERT_OK(record(
        r, &destroyed,
        [](const tdm_function_backward& call) {
          call.results[0] = product(call.saved[0], call.gradients[0]).release();
          return nullptr;
        },
        &results));
    EXPECT_EQ(tdm_tensor_is_same(results[0].get(), y.get()), 1);
    // Twice: the saved output has its graph in backward.
    const Tensor first = derivative(results[0], x, 1);
    EXPECT_THAT(floats(derivative(first, x).get()), ElementsAre(1));
  }
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(tdm_live_count("callback"), 0);
}

TEST(Function, GivesZerosOrNothingForMissingGradients) {
  LeakCheck leaks;
  int destroyed = 0;
  for (const int materialize : {1, 0}) {
    const Tensor x = parameter({5}, {1});
    Tensor a, b;
    {
      const NoGrad no_grad;
      a = times(x.get(), 2);
      b = times(x.get(), 3);
    }
    std::vector<Tensor> results;
    Record r;
    r.inputs = {x.get(), nullptr};
    r.outputs = {a.get(), b.get()};
    r.materialize_grads = materialize;
    bool called = false;
    ASSERT_OK(record(
        r, &destroyed,
        [&](const tdm_function_backward& call) {
          called = true;
          EXPECT_EQ(call.gradient_count, 2u);
          EXPECT_EQ(call.gradients[1] != nullptr, materialize == 1);
          if (call.gradients[1]) {
            EXPECT_THAT(floats(call.gradients[1]), ElementsAre(0));
          }
          EXPECT_EQ(call.input_count, 2u);
          EXPECT_EQ(call.needs_input_grad[0], 1);
          EXPECT_EQ(call.needs_input_grad[1], 0);
          call.results[0] = times(call.gradients[0], 2).release();
          return nullptr;
        },
        &results));
    ASSERT_OK(backward(results[0]));
    EXPECT_TRUE(called);
    EXPECT_THAT(floats(grad(x).get()), ElementsAre(2));
  }
  EXPECT_EQ(destroyed, 2);
}

TEST(Function, MarksOutputsAndInputs) {
  LeakCheck leaks;
  int destroyed = 0;
  const Tensor x = parameter({5}, {1});
  const Tensor y = times(x.get(), 2);  // no leaf: may be changed in place
  Tensor sign;
  {
    const NoGrad no_grad;
    call("aten::mul_", "Scalar", {of(y), of(10)});
    sign = call("aten::sign", "", {of(y)});
  }
  std::vector<Tensor> results;
  Record r;
  r.inputs = r.dirty = {y.get()};
  r.outputs = {y.get(), sign.get()};
  r.non_differentiable = {sign.get()};
  ASSERT_OK(record(
      r, &destroyed,
      [](const tdm_function_backward& call) {
        call.results[0] = times(call.gradients[0], 10).release();
        return nullptr;
      },
      &results));
  EXPECT_EQ(tdm_tensor_requires_grad(results[1].get()), 0);
  EXPECT_EQ(tdm_tensor_is_same(results[0].get(), y.get()), 1);
  EXPECT_THAT(floats(y.get()), ElementsAre(100));
  ASSERT_OK(backward(y));
  EXPECT_THAT(floats(grad(x).get()), ElementsAre(20));
}

TEST(Function, AnInputMayBeAnOutput) {
  int destroyed = 0;
  const Tensor x = parameter({5}, {1});
  std::vector<Tensor> results;
  Record r;
  r.inputs = r.outputs = {x.get()};
  ASSERT_OK(record(
      r, &destroyed,
      [](const tdm_function_backward& call) {
        call.results[0] = times(call.gradients[0], -1).release();
        return nullptr;
      },
      &results));
  EXPECT_EQ(tdm_tensor_is_same(results[0].get(), x.get()), 0);
  ASSERT_OK(backward(results[0]));
  EXPECT_THAT(floats(grad(x).get()), ElementsAre(-1));
}

TEST(Function, IsNotRecordedWithoutNeed) {
  LeakCheck leaks;
  int destroyed = 0;
  const Tensor plain = tensor({2}, {1});
  EXPECT_EQ(tdm_tensor_requires_grad(cube(plain, &destroyed).get()), 0);
  EXPECT_EQ(destroyed, 1);
  const Tensor x = parameter({2}, {1});
  const NoGrad no_grad;
  EXPECT_EQ(tdm_tensor_requires_grad(cube(x, &destroyed).get()), 0);
  EXPECT_EQ(destroyed, 2);
}

TEST(Function, SaysWhatIsWrongInBackward) {
  LeakCheck leaks;
  int destroyed = 0;
  const Tensor x = parameter({2}, {1}), wide = parameter({2, 3}, {2});
  const auto failing = [&](std::function<tdm_error*(const tdm_function_backward&)> body) {
    const Tensor y = tensor({1}, {1});
    std::vector<Tensor> results;
    Record r;
    r.inputs = {wide.get()};
    r.outputs = {y.get()};
    EXPECT_OK(record(r, &destroyed, std::move(body), &results));
    return backward(results.at(0));
  };
  EXPECT_REFUSED(failing([](const tdm_function_backward&) {
                   return tdm_error_create(TDM_ERROR_IO, nullptr, "no disk", nullptr, nullptr);
                 }),
                 TDM_ERROR_CALLBACK, "the backward of Cube failed: no disk");
  EXPECT_REFUSED(failing([](const tdm_function_backward& call) {
                   call.results[0] = tensor({1, 2, 3}, {3}).release();
                   return nullptr;
                 }),
                 TDM_ERROR_INVALID_ARGUMENT, "Function CubeBackward returned an invalid gradient at index 0");
  EXPECT_REFUSED(failing([](const tdm_function_backward& call) {
                   call.results[0] = call.gradients[0];
                   tdm_tensor_free(call.gradients[0]);
                   return nullptr;
                 }),
                 TDM_ERROR_CLOSED, "'results'[0]");
  {
    const Tensor y = cube(x, &destroyed);
    ASSERT_OK(backward(y));
    EXPECT_REFUSED(backward(y), TDM_ERROR_INVALID_ARGUMENT, "second time");
  }
  {
    const Tensor z = times(x.get(), 1);
    const Tensor y = cube(z, &destroyed);
    {
      const NoGrad no_grad;
      call("aten::mul_", "Scalar", {of(z), of(10)});
    }
    EXPECT_REFUSED(backward(y), TDM_ERROR_INVALID_ARGUMENT, "modified by an inplace operation");
  }
  EXPECT_EQ(destroyed, 5);
}

TEST(Function, SaysWhatItDoesNotTake) {
  LeakCheck leaks;
  int destroyed = 0;
  const Tensor x = parameter({2}, {1}), y = tensor({4}, {1});
  const auto refuse = [&](const Record& r, const char* text) {
    std::vector<Tensor> results;
    EXPECT_REFUSED(record(
                       r, &destroyed, [](const tdm_function_backward&) { return nullptr; }, &results),
                   TDM_ERROR_INVALID_ARGUMENT, text);
    EXPECT_TRUE(results.empty());
  };
  Record r;
  r.inputs = {x.get()};
  refuse(r, "output_count is 0");
  r.outputs = {nullptr};
  refuse(r, "'function->outputs'[0] is NULL");
  r.outputs = {y.get()};
  r.dirty = {y.get()};
  refuse(r, "function->dirty[0] is not one of function->inputs");
  r.dirty = {x.get()};
  refuse(r, "function->dirty[0] is not one of function->outputs");
  r.dirty = {};
  r.non_differentiable = {x.get()};
  refuse(r, "function->non_differentiable[0] is not one of function->outputs");
  // A leaf that requires grad cannot be changed in place.
  r.non_differentiable = {};
  r.dirty = r.outputs = {x.get()};
  refuse(r, "leaf Variable that requires grad");
  tdm_tensor* result = nullptr;
  tdm_function function = TDM_FUNCTION_INIT;
  EXPECT_REFUSED(tdm_function_record(&function, &result), TDM_ERROR_INVALID_ARGUMENT, "backward' is NULL");
  EXPECT_REFUSED(tdm_function_record(nullptr, &result), TDM_ERROR_INVALID_ARGUMENT, "'function' is NULL");
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(tdm_live_count("callback"), 0);
}

}  // namespace
}  // namespace function_test
