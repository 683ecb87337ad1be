// Activation checkpoints: the same gradients as without, from tensors that were not kept.
#include <cmath>
#include <functional>

#include "capi/autograd_values.h"

namespace activation_checkpoint_test {
namespace {

using namespace calls;
using testing::ElementsAre;
using testing::HasSubstr;

using Body = std::function<Tensor(const std::vector<tdm_tensor*>& inputs)>;

struct Function {
  Body body;
  int* runs;
  int* destroyed;
};

tdm_error* recompute(void* user_data, tdm_tensor* const* inputs, std::size_t count) {
  auto* function = static_cast<Function*>(user_data);
  ++*function->runs;
  function->body({inputs, inputs + count});
  return nullptr;
}

void destroy(void* user_data) {
  auto* function = static_cast<Function*>(user_data);
  ++*function->destroyed;
  delete function;
}

// How often functions ran, in forward and backward, and how many are gone.
struct Counts {
  int runs = 0, destroyed = 0;
};

Tensor checkpointed(Counts& counts, const std::vector<tdm_tensor*>& inputs, Body body, int preserve_random = 1) {
  tdm_mode* mode = nullptr;
  EXPECT_OK(tdm_mode_enter_checkpoint(inputs.data(), inputs.size(), preserve_random, recompute,
                                      new Function{body, &counts.runs, &counts.destroyed}, destroy, &mode));
  ++counts.runs;
  Tensor result = body(inputs);
  EXPECT_OK(tdm_mode_exit(mode));
  return result;
}

Tensor sum(const Tensor& x) {
  return call("aten::sum", "", {of(x)});
}
Tensor product(tdm_tensor* a, tdm_tensor* b) {
  return call("aten::mul", "Tensor", {of(a), of(b)});
}
Tensor dropout(tdm_tensor* x) {
  return call("aten::dropout", "", {of(x), of(0.5), of(true)});
}

TEST(ActivationCheckpoint, GivesTheGradientsOfAPassWithout) {
  LeakCheck leaks;
  const std::vector<float> numbers{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8};
  std::vector<std::vector<float>> gradients, afterwards;
  Counts counts;
  for (const bool with : {false, true}) {
    ASSERT_OK(tdm_manual_seed(7));
    // The input needs no gradient; a parameter that the function captures does.
    const Tensor x = tensor(numbers, {8}), w = parameter(numbers, {8});
    const Body body = [&](const std::vector<tdm_tensor*>& inputs) {
      EXPECT_EQ(inputs.at(1), nullptr);
      const Tensor dropped = dropout(product(inputs.at(0), w.get()).get());
      return call("aten::tanh", "", {of(dropout(product(dropped.get(), w.get()).get()))});
    };
    const std::vector<tdm_tensor*> inputs{x.get(), nullptr};
    const Tensor out = with ? checkpointed(counts, inputs, body) : body(inputs);
    ASSERT_OK(backward(sum(out)));
    gradients.push_back(floats(grad(w).get()));
    // What comes after draws the same numbers too.
    afterwards.push_back(floats(dropout(tensor(numbers, {8}).get()).get()));
  }
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_THAT(gradients[0], testing::Contains(testing::Ne(0)));
  EXPECT_EQ(afterwards[0], afterwards[1]);
  EXPECT_EQ(counts.runs, 2);
  EXPECT_EQ(counts.destroyed, 1);
}

void mark(void* flag) {
  *static_cast<bool*>(flag) = true;
}

TEST(ActivationCheckpoint, KeepsNoIntermediateTensor) {
  LeakCheck leaks;
  for (const bool with : {false, true}) {
    Counts counts;
    float memory[2] = {10, 20};
    bool freed = false;
    const Tensor x = parameter({1, 2}, {2});
    // A tensor whose end can be seen, which mul saves for x's gradient.
    const Body body = [&](const std::vector<tdm_tensor*>& inputs) {
      const std::int64_t two = 2;
      tdm_tensor* blob = nullptr;
      EXPECT_OK(tdm_tensor_from_blob(memory, sizeof memory, TDM_DTYPE_FLOAT32, &two, 1, mark, &freed, &blob));
      return product(inputs.at(0), Tensor(blob).get());
    };
    const Tensor out = with ? checkpointed(counts, {x.get()}, body) : body({x.get()});
    EXPECT_EQ(freed, with);
    ASSERT_OK(backward(sum(out)));
    EXPECT_THAT(floats(grad(x).get()), ElementsAre(10, 20));
    EXPECT_TRUE(freed);
  }
}

TEST(ActivationCheckpoint, RunsAgainInTheFirstRunsModes) {
  LeakCheck leaks;
  Counts counts;
  const Tensor x = tensor({1, 2}, {1, 2}), w = parameter({3, 4}, {2, 1});
  std::vector<tdm_dtype> dtypes;
  const Body body = [&](const std::vector<tdm_tensor*>& inputs) {
    Tensor out = call("aten::mm", "", {of(inputs.at(0)), of(w)});
    dtypes.push_back(tdm_tensor_get_dtype(out.get()));
    EXPECT_EQ(tdm_tensor_requires_grad(out.get()), 1);
    return call("aten::mul", "Tensor", {of(out), of(out)});
  };
  tdm_mode* autocast = nullptr;
  ASSERT_OK(tdm_mode_enter_autocast(TDM_DEVICE_CPU, TDM_DTYPE_BFLOAT16, 1, &autocast));
  const Tensor out = checkpointed(counts, {x.get()}, body);
  ASSERT_OK(tdm_mode_exit(autocast));
  ASSERT_OK(backward(out));
  EXPECT_THAT(dtypes, ElementsAre(TDM_DTYPE_BFLOAT16, TDM_DTYPE_BFLOAT16));
  EXPECT_THAT(floats(grad(w).get()), ElementsAre(22, 44));
  tdm_modes now = TDM_MODES_INIT;
  ASSERT_OK(tdm_get_modes(&now));
  EXPECT_EQ(now.autocast_cpu, -1);
}

TEST(ActivationCheckpoint, TakesWhatPlainGraphsDo) {
  LeakCheck leaks;
  Counts counts;
  {
    const Tensor x = parameter({2}, {1});
    const Body cube = [](const std::vector<tdm_tensor*>& inputs) {
      return product(product(inputs.at(0), inputs.at(0)).get(), inputs.at(0));
    };
    const Tensor out = checkpointed(counts, {x.get()}, cube);
    // Twice over a graph that is kept, which runs the function for each.
    ASSERT_OK(backward(out, 1));
    ASSERT_OK(backward(out, 1));
    EXPECT_THAT(floats(grad(x).get()), ElementsAre(24));
    EXPECT_EQ(counts.runs, 3);
    const Tensor first = derivative(out, x, 1);
    EXPECT_THAT(floats(first.get()), ElementsAre(12));
    EXPECT_THAT(floats(derivative(first, x, 1).get()), ElementsAre(12));
    EXPECT_EQ(counts.destroyed, 0);
  }
  EXPECT_EQ(counts.destroyed, 1);
}

TEST(ActivationCheckpoint, Nests) {
  LeakCheck leaks;
  Counts outer_counts, inner_counts;
  {
    const Tensor x = parameter({0.5}, {1});
    const Body inner = [](const std::vector<tdm_tensor*>& inputs) {
      return call("aten::exp", "", {of(product(inputs.at(0), inputs.at(0)))});
    };
    const Body outer = [&](const std::vector<tdm_tensor*>& inputs) {
      const Tensor middle = product(inputs.at(0), inputs.at(0));
      return checkpointed(inner_counts, {middle.get()}, inner);
    };
    // d/dx exp(x⁴) = 4x³ · exp(x⁴)
    ASSERT_OK(backward(checkpointed(outer_counts, {x.get()}, outer)));
    EXPECT_NEAR(floats(grad(x).get())[0], 0.5 * std::exp(0.0625), 1e-6);
    EXPECT_EQ(outer_counts.runs, 2);
  }
  EXPECT_EQ(outer_counts.destroyed, 1);
  EXPECT_GE(inner_counts.runs, 2);
  EXPECT_EQ(tdm_live_count("callback"), 0);
}

TEST(ActivationCheckpoint, IsGoneWithoutAGraph) {
  LeakCheck leaks;
  Counts counts;
  const Tensor x = tensor({2}, {1});
  checkpointed(counts, {x.get()}, [](const std::vector<tdm_tensor*>& inputs) { return dropout(inputs.at(0)); });
  EXPECT_EQ(counts.runs, 1);
  EXPECT_EQ(counts.destroyed, 1);
}

TEST(ActivationCheckpoint, SaysWhatIsWrong) {
  LeakCheck leaks;
  Counts counts;
  const Tensor x = parameter({2, 3}, {2});
  const Tensor y = call("aten::mul", "Scalar", {of(x), of(1)});
  {
    // Another number of tensors, then another kind, in the second run.
    int run = 0;
    const Tensor out = checkpointed(counts, {y.get()}, [&](const std::vector<tdm_tensor*>& inputs) {
      Tensor square = product(inputs.at(0), inputs.at(0));
      return ++run == 1 ? std::move(square) : product(square.get(), inputs.at(0));
    });
    EXPECT_REFUSED(backward(sum(out)), TDM_ERROR_INVALID_ARGUMENT,
                   "saved 4 tensors instead of 2 when it was computed again; it must compute the same each time");
  }
  {
    int run = 0;
    const Tensor out = checkpointed(counts, {y.get()}, [&](const std::vector<tdm_tensor*>& inputs) {
      const Tensor wide = ++run == 1 ? tensor({1}, {1}) : tensor({1, 2}, {2});
      return product(inputs.at(0), wide.get());
    });
    EXPECT_REFUSED(backward(sum(out)), TDM_ERROR_INVALID_ARGUMENT,
                   "as number 0 a tensor that is Float of sizes [2] on cpu instead of Float of sizes [1] on cpu");
  }
  {
    const Tensor out = checkpointed(
        counts, {y.get()}, [](const std::vector<tdm_tensor*>& inputs) { return product(inputs.at(0), inputs.at(0)); });
    tdm_mode* off = nullptr;
    ASSERT_OK(tdm_mode_enter_grad(0, &off));
    call("aten::mul_", "Scalar", {of(y), of(2)});
    ASSERT_OK(tdm_mode_exit(off));
    EXPECT_REFUSED(backward(sum(out)), TDM_ERROR_INVALID_ARGUMENT, "modified by an inplace operation");
  }
  const Tensor z = call("aten::mul", "Scalar", {of(x), of(1)});
  {
    tdm_mode* mode = nullptr;
    tdm_tensor* inputs[] = {z.get()};
    const auto fail = [](void*, tdm_tensor* const*, std::size_t) {
      return tdm_error_create(TDM_ERROR_IO, nullptr, "no disk", nullptr, nullptr);
    };
    ASSERT_OK(tdm_mode_enter_checkpoint(inputs, 1, 1, fail, nullptr, nullptr, &mode));
    const Tensor out = product(z.get(), z.get());
    ASSERT_OK(tdm_mode_exit(mode));
    EXPECT_REFUSED(backward(sum(out)), TDM_ERROR_CALLBACK, "a checkpointed function failed: no disk");
  }
  tdm_mode* mode = nullptr;
  EXPECT_REFUSED(tdm_mode_enter_checkpoint(nullptr, 1, 1, recompute, nullptr, nullptr, &mode),
                 TDM_ERROR_INVALID_ARGUMENT, "'inputs' is NULL");
  EXPECT_REFUSED(tdm_mode_enter_checkpoint(nullptr, 0, 1, nullptr, nullptr, nullptr, &mode), TDM_ERROR_INVALID_ARGUMENT,
                 "'recompute' is NULL");
  EXPECT_EQ(mode, nullptr);
}

}  // namespace
}  // namespace activation_checkpoint_test
