// Hooks: what they are given, what they may give, and how long they live.
#include <functional>
#include <thread>

#include "capi/autograd_values.h"

namespace hooks_test {
namespace {

using namespace calls;
using testing::ElementsAre;

// A C++ function as a callback; counts what became of it.
struct Function {
  std::function<tdm_error*(tdm_tensor*, tdm_tensor**)> body;
  int* destroyed;
};

tdm_error* on_gradient(void* user_data, tdm_tensor* gradient, tdm_tensor** replacement) {
  return static_cast<Function*>(user_data)->body(gradient, replacement);
}

tdm_error* on_tensor(void* user_data, tdm_tensor* tensor) {
  return static_cast<Function*>(user_data)->body(tensor, nullptr);
}

void destroy(void* user_data) {
  auto* function = static_cast<Function*>(user_data);
  ++*function->destroyed;
  delete function;
}

Hook hook(const Tensor& tensor, int* destroyed, std::function<tdm_error*(tdm_tensor*, tdm_tensor**)> body) {
  tdm_hook* made = nullptr;
  EXPECT_OK(
      tdm_tensor_register_hook(tensor.get(), on_gradient, new Function{std::move(body), destroyed}, destroy, &made));
  return Hook(made);
}

Hook after_accumulation(const Tensor& tensor, int* destroyed, std::function<tdm_error*(tdm_tensor*)> body) {
  tdm_hook* made = nullptr;
  EXPECT_OK(tdm_tensor_register_post_accumulate_grad_hook(
      tensor.get(), on_tensor, new Function{[body](tdm_tensor* t, tdm_tensor**) { return body(t); }, destroyed},
      destroy, &made));
  return Hook(made);
}

Tensor twice(const Tensor& x) {
  return call("aten::mul", "Scalar", {of(x), of(2)});
}

TEST(Hooks, SeeGradientsAndReplaceThem) {
  LeakCheck leaks;
  int destroyed = 0;
  std::vector<float> seen;
  {
    const Tensor x = parameter({1, 2}, {2});
    const Tensor y = twice(x);
    const Hook on_leaf = hook(x, &destroyed, [&](tdm_tensor* gradient, tdm_tensor**) {
      seen = floats(gradient);
      return nullptr;
    });
    const Hook on_result = hook(y, &destroyed, [&](tdm_tensor* gradient, tdm_tensor** replacement) {
      *replacement = call("aten::mul", "Scalar", {of(gradient), of(10)}).release();
      return nullptr;
    });
    EXPECT_EQ(tdm_live_count("callback"), 2);
    ASSERT_OK(backward(call("aten::sum", "", {of(y)})));
    EXPECT_THAT(seen, ElementsAre(20, 20));
    EXPECT_THAT(floats(grad(x).get()), ElementsAre(20, 20));
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 2);
  EXPECT_EQ(tdm_live_count("callback"), 0);
}

TEST(Hooks, AreCalledInOrderUntilRemoved) {
  LeakCheck leaks;
  int destroyed = 0;
  std::string calls;
  const Tensor x = parameter({1}, {1});
  const auto letter = [&](char c) {
    return [&calls, c](tdm_tensor*, tdm_tensor**) {
      calls += c;
      return nullptr;
    };
  };
  const Hook a = hook(x, &destroyed, letter('a')), b = hook(x, &destroyed, letter('b')),
             c = hook(x, &destroyed, letter('c'));
  ASSERT_OK(backward(twice(x)));
  EXPECT_EQ(calls, "abc");
  tdm_hook_remove(b.get());
  EXPECT_EQ(destroyed, 1);
  tdm_hook_remove(b.get());
  EXPECT_EQ(destroyed, 1);
  ASSERT_OK(backward(twice(x)));
  EXPECT_EQ(calls, "abcac");
  const Hook d = hook(x, &destroyed, letter('d'));
  ASSERT_OK(backward(twice(x)));
  EXPECT_EQ(calls, "abcacacd");
  // The handle alone does not hold the hook.
  tdm_hook* unheld = nullptr;
  ASSERT_OK(tdm_tensor_register_hook(x.get(), on_gradient, new Function{letter('e'), &destroyed}, destroy, &unheld));
  tdm_hook_free(unheld);
  ASSERT_OK(backward(twice(x)));
  EXPECT_EQ(calls, "abcacacdacde");
  tdm_hook_remove(nullptr);
  tdm_hook_free(nullptr);
}

TEST(Hooks, MayRemoveThemselves) {
  LeakCheck leaks;
  int destroyed = 0, calls = 0;
  const Tensor x = parameter({1}, {1});
  Hook once;
  once = hook(x, &destroyed, [&](tdm_tensor*, tdm_tensor**) {
    ++calls;
    tdm_hook_remove(once.get());
    EXPECT_EQ(destroyed, 0);  // it still runs
    return nullptr;
  });
  ASSERT_OK(backward(twice(x)));
  EXPECT_EQ(destroyed, 1);
  ASSERT_OK(backward(twice(x)));
  EXPECT_EQ(calls, 1);
}

TEST(Hooks, OutliveTheHandleButNotTheTensor) {
  LeakCheck leaks;
  int destroyed = 0;
  Hook late;
  tdm_scope* scope = nullptr;
  ASSERT_OK(tdm_scope_enter(&scope));
  {
    Tensor x = parameter({1}, {1});
    late = hook(x, &destroyed, [](tdm_tensor*, tdm_tensor**) { return nullptr; });
    x.release();  // the scope's
  }
  EXPECT_EQ(destroyed, 0);
  tdm_scope_exit(scope);
  EXPECT_EQ(destroyed, 1);
  tdm_hook_remove(late.get());
  EXPECT_EQ(destroyed, 1);
}

TEST(Hooks, RunInAScopeOfTheirOwn) {
  LeakCheck leaks;
  int destroyed = 0;
  tdm_tensor *kept = nullptr, *lost = nullptr;
  const Tensor x = parameter({3}, {1});
  const Hook one = hook(x, &destroyed, [&](tdm_tensor* gradient, tdm_tensor**) {
    EXPECT_EQ(tdm_tensor_scope_id(gradient), tdm_scope_current());
    EXPECT_NE(tdm_scope_current(), 0u);
    lost = call("aten::mul", "Scalar", {of(gradient), of(2)}).release();
    kept = call("aten::mul", "Scalar", {of(gradient), of(3)}).release();
    tdm_scope_keep(kept);
    tdm_mode* left_open = nullptr;
    return tdm_mode_enter_inference(1, &left_open);
  });
  ASSERT_OK(backward(twice(x)));
  EXPECT_EQ(tdm_scope_current(), 0u);
  const Tensor owned(kept);
  EXPECT_THAT(floats(kept), ElementsAre(6));
  tdm_tensor* again = nullptr;
  EXPECT_REFUSED(tdm_tensor_share(lost, &again), TDM_ERROR_CLOSED, "freed");
  tdm_modes now = TDM_MODES_INIT;
  ASSERT_OK(tdm_get_modes(&now));
  EXPECT_EQ(now.inference, 0);
}

TEST(Hooks, CannotLeaveTheirCallersModes) {
  int destroyed = 0;
  const Tensor x = parameter({3}, {1});
  const Tensor y = twice(x);
  tdm_mode* outer = nullptr;
  const Hook one = hook(x, &destroyed, [&](tdm_tensor*, tdm_tensor**) { return tdm_mode_exit(outer); });
  ASSERT_OK(tdm_mode_enter_grad(0, &outer));
  EXPECT_REFUSED(backward(y), TDM_ERROR_CALLBACK, "not open on this thread");
  ASSERT_OK(tdm_mode_exit(outer));
}

TEST(Hooks, RecordOnlyForCreateGraph) {
  int destroyed = 0;
  std::vector<std::int32_t> recorded;
  const Tensor x = parameter({3}, {1});
  const Hook one = hook(x, &destroyed, [&](tdm_tensor*, tdm_tensor**) {
    recorded.push_back(tdm_tensor_requires_grad(twice(parameter({1}, {1})).get()));
    return nullptr;
  });
  ASSERT_OK(backward(twice(x)));
  ASSERT_OK(backward(call("aten::mul", "Tensor", {of(x), of(x)}), 0, 1));
  EXPECT_THAT(recorded, ElementsAre(0, 1));
  ASSERT_OK(tdm_tensor_set_grad(x.get(), nullptr));  // its graph leads back to x
}

struct Cause {
  int freed = 0;
};
void free_cause(void* cause) {
  ++static_cast<Cause*>(cause)->freed;
}
void free_other(void*) {}

TEST(Hooks, AnErrorEndsBackward) {
  LeakCheck leaks;
  int destroyed = 0;
  Cause cause;
  const Tensor x = parameter({3}, {1});
  const Hook one = hook(x, &destroyed, [&](tdm_tensor*, tdm_tensor**) {
    return tdm_error_create(TDM_ERROR_PEER_LOST, "all_reduce", "rank 1 is gone", &cause, free_cause);
  });
  tdm_error* error = backward(twice(x));
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(tdm_error_get_code(error), TDM_ERROR_CALLBACK);
  EXPECT_STREQ(tdm_error_operation(error), "tdm_autograd_backward");
  EXPECT_STREQ(tdm_error_message(error), "a tensor hook failed: all_reduce: rank 1 is gone");
  EXPECT_EQ(tdm_error_user_data(error, free_cause), &cause);
  EXPECT_EQ(tdm_error_user_data(error, free_other), nullptr);
  EXPECT_EQ(cause.freed, 0);
  tdm_error_free(error);
  EXPECT_EQ(cause.freed, 1);
  EXPECT_EQ(grad(x), nullptr);
  tdm_hook_remove(one.get());
  EXPECT_OK(backward(twice(x)));
}

TEST(Hooks, ErrorsOfTheirOwnCallsGoThrough) {
  int destroyed = 0;
  const Tensor x = parameter({3}, {1});
  const Hook one = hook(x, &destroyed, [&](tdm_tensor* gradient, tdm_tensor**) {
    const Tensor other = tensor({1, 2}, {2}), third = tensor({1, 2, 3}, {3});
    tdm_value result{};
    (void)gradient;
    return call(find("aten::add", "Tensor"), {of(other), of(third)}, &result);
  });
  const std::string text = message(backward(twice(x)), TDM_ERROR_CALLBACK);
  EXPECT_THAT(text,
              testing::HasSubstr("a tensor hook failed: tdm_op_call: aten::add.Tensor: The size of tensor a (2)"));
}

TEST(Hooks, AReplacementMustFit) {
  int destroyed = 0;
  const Tensor x = parameter({3}, {1});
  tdm_tensor* freed = nullptr;
  const Hook one = hook(x, &destroyed, [&](tdm_tensor*, tdm_tensor** replacement) {
    *replacement = tensor({1, 2}, {2}).release();
    return nullptr;
  });
  EXPECT_THAT(message(backward(twice(x)), TDM_ERROR_INVALID_ARGUMENT), testing::HasSubstr("size"));
  tdm_hook_remove(one.get());
  const Hook two = hook(x, &destroyed, [&](tdm_tensor* gradient, tdm_tensor** replacement) {
    freed = gradient;
    tdm_tensor_free(gradient);
    *replacement = gradient;
    return nullptr;
  });
  EXPECT_REFUSED(backward(twice(x)), TDM_ERROR_CLOSED, "'replacement'");
}

TEST(Hooks, AfterAccumulationSeeTheGradient) {
  LeakCheck leaks;
  int destroyed = 0;
  {
    const Tensor x = parameter({1, 2}, {2});
    std::vector<float> seen;
    const Hook one = after_accumulation(x, &destroyed, [&](tdm_tensor* tensor) {
      EXPECT_EQ(tdm_tensor_is_same(tensor, x.get()), 1);
      tdm_tensor* gradient = nullptr;
      if (tdm_error* error = tdm_tensor_grad(tensor, &gradient)) return error;
      seen = floats(gradient);
      return tdm_tensor_set_grad(tensor, nullptr);
    });
    const Hook two = after_accumulation(x, &destroyed, [&](tdm_tensor* tensor) {
      tdm_tensor* gradient = nullptr;
      EXPECT_OK(tdm_tensor_grad(tensor, &gradient));
      EXPECT_EQ(gradient, nullptr);
      return nullptr;
    });
    ASSERT_OK(backward(call("aten::sum", "", {of(twice(x))})));
    EXPECT_THAT(seen, ElementsAre(2, 2));
    tdm_hook_remove(one.get());
    EXPECT_EQ(destroyed, 1);
    tdm_hook_remove(two.get());
    ASSERT_OK(backward(call("aten::sum", "", {of(twice(x))})));
    EXPECT_THAT(floats(grad(x).get()), ElementsAre(2, 2));
    const Hook three = after_accumulation(
        x, &destroyed, [](tdm_tensor*) { return tdm_error_create(TDM_ERROR_IO, "", "no", nullptr, nullptr); });
    EXPECT_REFUSED(backward(call("aten::sum", "", {of(twice(x))})), TDM_ERROR_CALLBACK,
                   "a post-accumulate-grad hook failed: no");
  }
  EXPECT_EQ(destroyed, 3);
}

TEST(Hooks, RegisteringSaysWhatItDoesNotTake) {
  LeakCheck leaks;
  int destroyed = 0;
  const Tensor plain = tensor({1}, {1}), x = parameter({1}, {1});
  const Tensor y = twice(x);
  Function function{[](tdm_tensor*, tdm_tensor**) { return nullptr; }, &destroyed};
  tdm_hook* made = nullptr;
  EXPECT_REFUSED(tdm_tensor_register_hook(plain.get(), on_gradient, &function, destroy, &made),
                 TDM_ERROR_INVALID_ARGUMENT, "does not require grad");
  EXPECT_REFUSED(tdm_tensor_register_hook(x.get(), nullptr, &function, destroy, &made), TDM_ERROR_INVALID_ARGUMENT,
                 "'hook' is NULL");
  EXPECT_REFUSED(tdm_tensor_register_hook(nullptr, on_gradient, &function, destroy, &made), TDM_ERROR_INVALID_ARGUMENT,
                 "'tensor'");
  EXPECT_REFUSED(tdm_tensor_register_post_accumulate_grad_hook(y.get(), on_tensor, &function, destroy, &made),
                 TDM_ERROR_INVALID_ARGUMENT, "no leaf");
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(tdm_live_count("callback"), 0);
}

// Each thread with a graph of its own; the parameter, and its hook, are shared.
TEST(Hooks, AreCalledFromManyThreads) {
  LeakCheck leaks;
  int destroyed = 0;
  std::atomic<int> calls{0};
  const Tensor x = parameter({1}, {1});
  const Hook one = hook(x, &destroyed, [&](tdm_tensor* gradient, tdm_tensor**) {
    calls += static_cast<int>(floats(gradient)[0]);
    return nullptr;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < 50; ++step) {
        const Tensor y = twice(x);
        const Tensor derived = derivative(y, x);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(calls, 4 * 50 * 2);
}

}  // namespace
}  // namespace hooks_test
