// Callbacks that fail, throw, or pull at what they stand on: the call that led to them says so, and all else goes on.
#include <stdexcept>
#include <thread>

#include "capi/calls.h"

namespace callbacks_test {
namespace {

using namespace calls;
using testing::HasSubstr;

int destroyed = 0;

void count_destroyed(void*) {
  ++destroyed;
}
void throw_destroyed(void*) {
  ++destroyed;
  throw std::runtime_error("from a destroy function");
}

Tensor leaf() {
  Tensor made = tensor({1, 2}, {2});
  EXPECT_OK(tdm_tensor_set_requires_grad(made.get(), 1));
  return made;
}

tdm_error* backward_of_sum(const Tensor& x) {
  const Tensor sum = call("aten::sum", "", {of(x)});
  tdm_tensor* const roots[] = {sum.get()};
  return tdm_autograd_backward(roots, nullptr, 1, 0, 0);
}

class Callbacks : public testing::Test {
 protected:
  void SetUp() override { destroyed = 0; }
  const LeakCheck leaks;
};

using Gradient = tdm_error* (*)(void*, tdm_tensor*, tdm_tensor**);

tdm_error* throws(void*, tdm_tensor*, tdm_tensor**) {
  throw std::runtime_error("a C++ exception");
}
tdm_error* throws_an_int(void*, tdm_tensor*, tdm_tensor**) {
  throw 7;
}
tdm_error* fails(void*, tdm_tensor*, tdm_tensor**) {
  return tdm_error_create(TDM_ERROR_NOT_FOUND, nullptr, "of its own", &destroyed, count_destroyed);
}
tdm_error* gives_a_module(void* user_data, tdm_tensor*, tdm_tensor** replacement) {
  *replacement = static_cast<tdm_tensor*>(user_data);
  return nullptr;
}
tdm_error* gives_freed(void*, tdm_tensor* gradient, tdm_tensor** replacement) {
  tdm_tensor_free(gradient);
  *replacement = gradient;
  return nullptr;
}

TEST_F(Callbacks, ThatThrowAreErrors) {
  const std::pair<Gradient, const char*> all[] = {
      {throws, "a tensor hook failed: a C++ exception"},
      {throws_an_int, "a tensor hook failed: it threw what is no std::exception"},
      {fails, "a tensor hook failed: of its own"}};
  for (const auto& [hook, says] : all) {
    const Tensor x = leaf();
    EXPECT_OK(tdm_tensor_register_hook(x.get(), hook, nullptr, count_destroyed, nullptr));
    EXPECT_REFUSED(backward_of_sum(x), TDM_ERROR_CALLBACK, says);
  }
  EXPECT_EQ(destroyed, 4) << "three hooks and what one attached to its error";
}

TEST_F(Callbacks, ThatGiveWhatIsNoTensor) {
  const Module linear = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  const Tensor x = leaf(), y = leaf();
  EXPECT_OK(tdm_tensor_register_hook(x.get(), gives_a_module, linear.get(), nullptr, nullptr));
  EXPECT_REFUSED(backward_of_sum(x), TDM_ERROR_INVALID_ARGUMENT,
                 "argument 'replacement' is a module handle; it takes a tensor");
  EXPECT_OK(tdm_tensor_register_hook(y.get(), gives_freed, nullptr, nullptr, nullptr));
  EXPECT_REFUSED(backward_of_sum(y), TDM_ERROR_CLOSED, "argument 'replacement' is a tensor handle that was freed");
}

TEST_F(Callbacks, WhoseDestroyThrows) {
  {
    const Tensor x = leaf();
    EXPECT_OK(tdm_tensor_register_hook(x.get(), fails, nullptr, throw_destroyed, nullptr));
  }
  EXPECT_EQ(destroyed, 1);
  float memory[] = {1};
  const std::int64_t sizes[] = {1};
  tdm_tensor* over = nullptr;
  EXPECT_OK(tdm_tensor_from_blob(memory, sizeof memory, TDM_DTYPE_FLOAT32, sizes, 1, throw_destroyed, nullptr, &over));
  tdm_tensor_free(over);
  EXPECT_EQ(destroyed, 2);
  tdm_error_free(tdm_error_create(TDM_ERROR_CALLBACK, nullptr, "text", nullptr, throw_destroyed));
  EXPECT_EQ(destroyed, 3);
}

// --------------------------------------------------------------------------------------- what they do to their caller

struct Own {
  tdm_hook* hook = nullptr;
  tdm_scope* scope = nullptr;
  tdm_mode* mode = nullptr;
  tdm_tensor* tensor = nullptr;
  int calls = 0;
};

tdm_error* removes_itself(void* user_data, tdm_tensor*, tdm_tensor**) {
  auto* own = static_cast<Own*>(user_data);
  ++own->calls;
  tdm_hook_remove(own->hook);
  tdm_hook_free(own->hook);
  tdm_hook_remove(own->hook);
  tdm_hook_free(own->hook);
  return nullptr;
}

TEST_F(Callbacks, MayFreeTheirOwnHook) {
  Own own;
  const Tensor x = leaf();
  EXPECT_OK(tdm_tensor_register_hook(x.get(), removes_itself, &own, count_destroyed, &own.hook));
  EXPECT_OK(backward_of_sum(x));
  EXPECT_OK(backward_of_sum(x));
  EXPECT_EQ(own.calls, 1);
  EXPECT_EQ(destroyed, 1);
}

tdm_error* leaves_what_is_around_it(void* user_data, tdm_tensor* gradient, tdm_tensor**) {
  auto* own = static_cast<Own*>(user_data);
  ++own->calls;
  tdm_error* error = tdm_mode_exit(own->mode);
  EXPECT_REFUSED(error, TDM_ERROR_INVALID_ARGUMENT, "argument 'mode' is not open on this thread");
  tdm_tensor_free(own->tensor);
  tdm_tensor_free(gradient);
  tdm_tensor_free(gradient);
  tdm_scope* inner = nullptr;
  EXPECT_OK(tdm_scope_enter(&inner));
  tdm_mode* mode = nullptr;
  EXPECT_OK(tdm_mode_enter_inference(1, &mode));
  return nullptr;  // and leaves both open
}

TEST_F(Callbacks, CannotLeaveTheirCallersMode) {
  Own own;
  EXPECT_OK(tdm_mode_enter_grad(1, &own.mode));
  Tensor x = leaf();
  own.tensor = x.get();
  EXPECT_OK(tdm_tensor_register_hook(x.get(), leaves_what_is_around_it, &own, nullptr, nullptr));
  EXPECT_OK(backward_of_sum(x));
  EXPECT_EQ(own.calls, 1);
  EXPECT_EQ(tdm_scope_current(), 0u);
  tdm_modes modes = TDM_MODES_INIT;
  EXPECT_OK(tdm_get_modes(&modes));
  EXPECT_EQ(modes.inference, 0);
  EXPECT_OK(tdm_mode_exit(own.mode));
  EXPECT_REFUSED(tdm_mode_exit(own.mode), TDM_ERROR_INVALID_ARGUMENT, "argument 'mode'");
}

tdm_error* leaves_the_scope(void* user_data, tdm_tensor*, tdm_tensor**) {
  tdm_scope_exit(static_cast<Own*>(user_data)->scope);
  return nullptr;
}

TEST_F(Callbacks, MayLeaveTheirCallersScope) {
  Own own;
  EXPECT_OK(tdm_scope_enter(&own.scope));
  tdm_tensor* x = leaf().release();
  EXPECT_OK(tdm_tensor_register_hook(x, leaves_the_scope, &own, nullptr, nullptr));
  tdm_value sum{};
  EXPECT_OK(call(find("aten::sum"), {of(x)}, &sum));
  EXPECT_OK(tdm_autograd_backward(&sum.as.tensor, nullptr, 1, 0, 0));
  tdm_scope_exit(own.scope);
  tdm_scope_exit(own.scope);
  EXPECT_EQ(tdm_scope_current(), 0u);
}

tdm_error* calls_backward(void* user_data, tdm_tensor*, tdm_tensor**) {
  auto* own = static_cast<Own*>(user_data);
  if (++own->calls > 1) return nullptr;
  tdm_mode* mode = nullptr;
  EXPECT_OK(tdm_mode_enter_grad(1, &mode));
  const Tensor x = leaf();
  return backward_of_sum(x);
}

TEST_F(Callbacks, MayCallBackward) {
  Own own;
  const Tensor x = leaf();
  EXPECT_OK(tdm_tensor_register_hook(x.get(), calls_backward, &own, nullptr, nullptr));
  EXPECT_OK(backward_of_sum(x));
  EXPECT_EQ(own.calls, 1);
}

// ------------------------------------------------------------------------------- functions and checkpoints of the
// caller

tdm_error* throws_backward(void*, const tdm_function_backward*) {
  throw std::runtime_error("from backward");
}
tdm_error* gives_a_scope(void* user_data, const tdm_function_backward* given) {
  given->results[0] = static_cast<tdm_tensor*>(user_data);
  return nullptr;
}

tdm_error* run_function(tdm_error* (*backward)(void*, const tdm_function_backward*), void* user_data) {
  const Tensor x = leaf(), y = tensor({3}, {1});
  tdm_tensor* const inputs[] = {x.get()};
  tdm_tensor* const outputs[] = {y.get()};
  tdm_function function = TDM_FUNCTION_INIT;
  function.name = "Odd";
  function.inputs = inputs;
  function.input_count = 1;
  function.outputs = outputs;
  function.output_count = 1;
  function.backward = backward;
  function.user_data = user_data;
  function.destroy = throw_destroyed;
  tdm_tensor* result = nullptr;
  if (tdm_error* error = tdm_function_record(&function, &result)) return error;
  const Tensor owned(result);
  return tdm_autograd_backward(&result, nullptr, 1, 0, 0);
}

TEST_F(Callbacks, OfFunctions) {
  EXPECT_REFUSED(run_function(throws_backward, nullptr), TDM_ERROR_CALLBACK,
                 "the backward of Odd failed: from backward");
  tdm_scope* scope = nullptr;
  EXPECT_OK(tdm_scope_enter(&scope));
  EXPECT_REFUSED(run_function(gives_a_scope, scope), TDM_ERROR_INVALID_ARGUMENT,
                 "argument 'results'[0] is a scope handle; it takes a tensor");
  tdm_scope_exit(scope);
  EXPECT_EQ(destroyed, 2);
}

TEST_F(Callbacks, OfFunctionsThatAreNotThere) {
  tdm_function function = TDM_FUNCTION_INIT;
  tdm_tensor* result = nullptr;
  const Tensor x = leaf();
  tdm_tensor* const one[] = {x.get()};
  function.outputs = one;
  function.output_count = 1;
  EXPECT_REFUSED(tdm_function_record(&function, &result), TDM_ERROR_INVALID_ARGUMENT, "'function->backward' is NULL");
  function.backward = throws_backward;
  function.outputs = nullptr;
  EXPECT_REFUSED(tdm_function_record(&function, &result), TDM_ERROR_INVALID_ARGUMENT, "'function->outputs' is NULL");
  function.outputs = one;
  function.output_count = 0;
  EXPECT_REFUSED(tdm_function_record(&function, &result), TDM_ERROR_INVALID_ARGUMENT, "function->output_count is 0");
  function.output_count = SIZE_MAX;
  EXPECT_REFUSED(tdm_function_record(&function, &result), TDM_ERROR_INVALID_ARGUMENT, "'function->outputs'");
}

tdm_error* throws_again(void*, tdm_tensor* const*, std::size_t) {
  throw std::runtime_error("from the second time");
}

TEST_F(Callbacks, OfCheckpoints) {
  const Tensor x = leaf();
  tdm_tensor* const inputs[] = {x.get()};
  tdm_mode* mode = nullptr;
  EXPECT_OK(tdm_mode_enter_checkpoint(inputs, 1, 1, throws_again, nullptr, throw_destroyed, &mode));
  {
    const Tensor y = call("aten::exp", "", {of(x)});
    EXPECT_OK(tdm_mode_exit(mode));
    EXPECT_REFUSED(backward_of_sum(y), TDM_ERROR_CALLBACK, "a checkpointed function failed: from the second time");
  }
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Callbacks, OnOtherThreads) {
  const Tensor x = leaf();
  EXPECT_OK(tdm_tensor_register_hook(x.get(), throws, nullptr, nullptr, nullptr));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) EXPECT_REFUSED(backward_of_sum(x), TDM_ERROR_CALLBACK, "a C++ exception");
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace callbacks_test
