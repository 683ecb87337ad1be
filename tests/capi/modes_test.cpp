// Modes, thread by thread, and loss scaling.
#include <cmath>
#include <limits>
#include <thread>

#include "capi/autograd_values.h"

namespace modes_test {
namespace {

using namespace calls;
using testing::ElementsAre;

tdm_modes modes() {
  tdm_modes now = TDM_MODES_INIT;
  EXPECT_OK(tdm_get_modes(&now));
  return now;
}

bool records(const Tensor& x) {
  return tdm_tensor_requires_grad(call("aten::mul", "Scalar", {of(x), of(2)}).get()) != 0;
}

TEST(Modes, NestAndRestore) {
  LeakCheck leaks;
  const Tensor x = parameter({1}, {1});
  tdm_mode *off = nullptr, *on = nullptr, *inference = nullptr;
  ASSERT_OK(tdm_mode_enter_grad(0, &off));
  EXPECT_FALSE(records(x));
  ASSERT_OK(tdm_mode_enter_grad(1, &on));
  EXPECT_TRUE(records(x));
  ASSERT_OK(tdm_mode_enter_inference(1, &inference));
  EXPECT_FALSE(records(x));
  EXPECT_EQ(modes().inference, 1);
  EXPECT_EQ(modes().grad, 0);
  EXPECT_EQ(tdm_live_count("mode"), 3);
  ASSERT_OK(tdm_mode_exit(inference));
  EXPECT_EQ(modes().inference, 0);
  EXPECT_TRUE(records(x));
  ASSERT_OK(tdm_mode_exit(on));
  EXPECT_FALSE(records(x));
  ASSERT_OK(tdm_mode_exit(off));
  EXPECT_TRUE(records(x));
  EXPECT_OK(tdm_mode_exit(nullptr));
}

TEST(Modes, AnOuterExitEndsWhatIsInside) {
  LeakCheck leaks;
  tdm_mode *outer = nullptr, *inner = nullptr;
  ASSERT_OK(tdm_mode_enter_grad(0, &outer));
  ASSERT_OK(tdm_mode_enter_inference(1, &inner));
  ASSERT_OK(tdm_mode_exit(outer));
  EXPECT_EQ(modes().grad, 1);
  EXPECT_EQ(modes().inference, 0);
  EXPECT_REFUSED(tdm_mode_exit(inner), TDM_ERROR_INVALID_ARGUMENT, "not open on this thread");
}

// A mode that has the memory of one that ended is another mode.
TEST(Modes, AStaleHandleEndsNobodyElses) {
  LeakCheck leaks;
  for (int i = 0; i < 100; ++i) {
    tdm_mode *ended = nullptr, *open = nullptr;
    ASSERT_OK(tdm_mode_enter_grad(0, &ended));
    ASSERT_OK(tdm_mode_exit(ended));
    ASSERT_OK(tdm_mode_enter_grad(0, &open));
    EXPECT_REFUSED(tdm_mode_exit(ended), TDM_ERROR_INVALID_ARGUMENT, "not open on this thread");
    EXPECT_EQ(modes().grad, 0);
    ASSERT_OK(tdm_mode_exit(open));
  }
}

TEST(Modes, BelongToTheirThread) {
  tdm_mode* off = nullptr;
  ASSERT_OK(tdm_mode_enter_grad(0, &off));
  std::thread([&] {
    EXPECT_EQ(modes().grad, 1);
    EXPECT_REFUSED(tdm_mode_exit(off), TDM_ERROR_INVALID_ARGUMENT, "another thread entered it");
    EXPECT_EQ(modes().grad, 1);
  }).join();
  EXPECT_EQ(modes().grad, 0);
  ASSERT_OK(tdm_mode_exit(off));
}

TEST(Modes, InferenceTensorsStayOutOfGraphs) {
  const Tensor x = parameter({2}, {1});
  tdm_mode* inference = nullptr;
  ASSERT_OK(tdm_mode_enter_inference(1, &inference));
  const Tensor made = call("aten::mul", "Scalar", {of(x), of(3)});
  tdm_mode* normal = nullptr;
  ASSERT_OK(tdm_mode_enter_inference(0, &normal));
  EXPECT_TRUE(records(x));
  ASSERT_OK(tdm_mode_exit(normal));
  ASSERT_OK(tdm_mode_exit(inference));
  tdm_value result{};
  EXPECT_REFUSED(call(find("aten::mul", "Tensor"), {of(x), of(made)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "Inference tensors cannot be saved for backward");
}

TEST(Autocast, ComputesInTheDtypeAndRestoresIt) {
  LeakCheck leaks;
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2}), w = parameter({1, 0, 0, 1}, {2, 2});
  const auto dtype = [&] { return tdm_tensor_get_dtype(call("aten::matmul", "", {of(x), of(w)}).get()); };
  EXPECT_EQ(modes().autocast_cpu, -1);
  tdm_mode *outer = nullptr, *off = nullptr, *half = nullptr;
  ASSERT_OK(tdm_mode_enter_autocast(TDM_DEVICE_CPU, -1, 1, &outer));
  EXPECT_EQ(modes().autocast_cpu, TDM_DTYPE_BFLOAT16);
  EXPECT_EQ(dtype(), TDM_DTYPE_BFLOAT16);
  EXPECT_EQ(tdm_tensor_get_dtype(call("aten::linear", "", {of(x), of(w)}).get()), TDM_DTYPE_BFLOAT16);
  ASSERT_OK(tdm_mode_enter_autocast(TDM_DEVICE_CPU, -1, 0, &off));
  EXPECT_EQ(dtype(), TDM_DTYPE_FLOAT32);
  ASSERT_OK(tdm_mode_exit(off));
  // Another dtype inside: the cast of w that is cached is of the wrong one.
  ASSERT_OK(tdm_mode_enter_autocast(TDM_DEVICE_CPU, TDM_DTYPE_FLOAT16, 1, &half));
  EXPECT_EQ(dtype(), TDM_DTYPE_FLOAT16);
  ASSERT_OK(tdm_mode_exit(half));
  EXPECT_EQ(dtype(), TDM_DTYPE_BFLOAT16);
  ASSERT_OK(tdm_mode_exit(outer));
  EXPECT_EQ(dtype(), TDM_DTYPE_FLOAT32);
}

TEST(Autocast, CastsAChangedParameterAgain) {
  const Tensor x = tensor({1}, {1, 1}), w = parameter({1}, {1, 1});
  for (const float value : {1.0F, 7.0F, 9.0F}) {
    ASSERT_OK(tdm_tensor_copy_from(w.get(), &value, sizeof value));
    tdm_mode* mode = nullptr;
    ASSERT_OK(tdm_mode_enter_autocast(TDM_DEVICE_CPU, TDM_DTYPE_BFLOAT16, 1, &mode));
    const Tensor product = call("aten::mm", "", {of(x), of(w)});
    ASSERT_OK(tdm_mode_exit(mode));
    double item = 0;
    ASSERT_OK(tdm_tensor_item_double(product.get(), &item));
    EXPECT_EQ(item, value);
  }
}

TEST(Autocast, ACastMadeWithoutGradIsNotUsedWithIt) {
  const Tensor x = tensor({3}, {1, 1}), w = parameter({1}, {1, 1});
  tdm_mode *autocast = nullptr, *off = nullptr;
  ASSERT_OK(tdm_mode_enter_autocast(TDM_DEVICE_CPU, TDM_DTYPE_BFLOAT16, 1, &autocast));
  ASSERT_OK(tdm_mode_enter_grad(0, &off));
  call("aten::mm", "", {of(x), of(w)});
  ASSERT_OK(tdm_mode_exit(off));
  const Tensor product = call("aten::mm", "", {of(x), of(w)});
  ASSERT_OK(tdm_mode_exit(autocast));
  ASSERT_OK(backward(product));
  ASSERT_NE(grad(w), nullptr);
  EXPECT_THAT(floats(grad(w).get()), ElementsAre(3));
}

TEST(Autocast, SaysWhatItDoesNotTake) {
  tdm_mode* mode = nullptr;
  EXPECT_REFUSED(tdm_mode_enter_autocast(TDM_DEVICE_CPU, TDM_DTYPE_FLOAT64, 1, &mode), TDM_ERROR_INVALID_ARGUMENT,
                 "TDM_DTYPE_BFLOAT16 or TDM_DTYPE_FLOAT16");
  EXPECT_REFUSED(tdm_mode_enter_autocast(TDM_DEVICE_META, -1, 1, &mode), TDM_ERROR_INVALID_ARGUMENT,
                 "TDM_DEVICE_CPU and TDM_DEVICE_CUDA");
  EXPECT_REFUSED(tdm_mode_enter_autocast(TDM_DEVICE_CPU, -1, 1, nullptr), TDM_ERROR_INVALID_ARGUMENT, "'out'");
  std::int32_t gpus = 0;
  ASSERT_OK(tdm_cuda_device_count(&gpus));
  if (gpus == 0) {
    EXPECT_REFUSED(tdm_mode_enter_autocast(TDM_DEVICE_CUDA, -1, 1, &mode), TDM_ERROR_UNSUPPORTED, "needs a GPU");
  }
  EXPECT_EQ(mode, nullptr);
  tdm_modes unknown{};
  EXPECT_REFUSED(tdm_get_modes(&unknown), TDM_ERROR_INVALID_ARGUMENT, "struct_size");
}

TEST(Anomaly, NamesTheOperatorThatMadeANaN) {
  const auto run = [] {
    const Tensor x = parameter({0}, {1});
    const Tensor root = call("aten::sqrt", "", {of(x)});
    return backward(call("aten::mul", "Scalar", {of(root), of(0)}));
  };
  EXPECT_OK(run());
  tdm_mode* anomaly = nullptr;
  ASSERT_OK(tdm_mode_enter_anomaly(1, &anomaly));
  EXPECT_EQ(modes().anomaly, 1);
  EXPECT_REFUSED(run(), TDM_ERROR_INVALID_ARGUMENT, "SqrtBackward0' returned nan values");
  std::thread([] {
    // Another thread's end leaves it on.
    tdm_mode* other = nullptr;
    ASSERT_OK(tdm_mode_enter_anomaly(0, &other));
    ASSERT_OK(tdm_mode_exit(other));
  }).join();
  EXPECT_REFUSED(run(), TDM_ERROR_INVALID_ARGUMENT, "SqrtBackward0' returned nan values");
  ASSERT_OK(tdm_mode_exit(anomaly));
  EXPECT_EQ(modes().anomaly, 0);
  EXPECT_OK(run());
}

struct FreeScaler {
  void operator()(tdm_grad_scaler* scaler) const { tdm_grad_scaler_free(scaler); }
};
using Scaler = std::unique_ptr<tdm_grad_scaler, FreeScaler>;

Scaler scaler(double scale, std::int64_t interval) {
  tdm_grad_scaler_options options = TDM_GRAD_SCALER_OPTIONS_INIT;
  options.init_scale = scale;
  options.growth_interval = interval;
  tdm_grad_scaler* made = nullptr;
  EXPECT_OK(tdm_grad_scaler_create(&options, &made));
  return Scaler(made);
}

tdm_grad_scaler_state state(const Scaler& scaler) {
  tdm_grad_scaler_state now = TDM_GRAD_SCALER_STATE_INIT;
  EXPECT_OK(tdm_grad_scaler_get_state(scaler.get(), &now));
  return now;
}

Optimizer sgd(const Tensor& parameter) {
  tdm_tensor* parameters[] = {parameter.get()};
  const tdm_option lr = option("lr", of(0.5));
  tdm_optimizer* made = nullptr;
  EXPECT_OK(tdm_optimizer_create("SGD", parameters, 1, &lr, 1, &made));
  return Optimizer(made);
}

// One step whose unscaled gradient is `factor`.
bool step(const Scaler& scaler, const Optimizer& optimizer, const Tensor& w, float factor) {
  EXPECT_OK(tdm_optimizer_zero_grad(optimizer.get(), 1));
  tdm_tensor* scaled = nullptr;
  const Tensor loss = call("aten::mul", "Tensor", {of(w), of(tensor({factor}, {1}))});
  EXPECT_OK(tdm_grad_scaler_scale(scaler.get(), loss.get(), &scaled));
  EXPECT_OK(backward(Tensor(scaled)));
  std::int32_t stepped = -1;
  EXPECT_OK(tdm_grad_scaler_step(scaler.get(), optimizer.get(), &stepped));
  EXPECT_OK(tdm_grad_scaler_update(scaler.get(), 0));
  return stepped == 1;
}

TEST(GradScaler, StepsGrowsSkipsAndBacksOff) {
  LeakCheck leaks;
  const Scaler s = scaler(8, 2);
  const Tensor w = parameter({1}, {1});
  const Optimizer optimizer = sgd(w);
  EXPECT_TRUE(step(s, optimizer, w, 2));
  EXPECT_THAT(floats(w.get()), ElementsAre(0));  // 1 - 0.5 · 2: the scale is gone again
  EXPECT_EQ(state(s).scale, 8);
  EXPECT_EQ(state(s).growth_tracker, 1);
  EXPECT_TRUE(step(s, optimizer, w, 2));
  EXPECT_EQ(state(s).scale, 16);
  EXPECT_EQ(state(s).growth_tracker, 0);
  EXPECT_FALSE(step(s, optimizer, w, std::numeric_limits<float>::infinity()));
  EXPECT_THAT(floats(w.get()), ElementsAre(-1));
  EXPECT_EQ(state(s).scale, 8);
  EXPECT_FALSE(step(s, optimizer, w, std::nanf("")));
  EXPECT_EQ(state(s).scale, 4);
}

TEST(GradScaler, UnscalesOnceAndKeepsTheOrder) {
  const Scaler s = scaler(8, 2);
  const Tensor w = parameter({1}, {1});
  const Optimizer optimizer = sgd(w);
  EXPECT_REFUSED(tdm_grad_scaler_step(s.get(), optimizer.get(), nullptr), TDM_ERROR_INVALID_ARGUMENT,
                 "no parameter of the optimizer has a gradient");
  EXPECT_REFUSED(tdm_grad_scaler_update(s.get(), 0), TDM_ERROR_INVALID_ARGUMENT, "no optimizer was stepped");
  tdm_tensor* scaled = nullptr;
  ASSERT_OK(tdm_grad_scaler_scale(s.get(), call("aten::mul", "Scalar", {of(w), of(3)}).get(), &scaled));
  ASSERT_OK(backward(Tensor(scaled)));
  EXPECT_THAT(floats(grad(w).get()), ElementsAre(24));
  ASSERT_OK(tdm_grad_scaler_unscale(s.get(), optimizer.get()));
  EXPECT_THAT(floats(grad(w).get()), ElementsAre(3));
  EXPECT_REFUSED(tdm_grad_scaler_unscale(s.get(), optimizer.get()), TDM_ERROR_INVALID_ARGUMENT, "once a step");
  ASSERT_OK(tdm_grad_scaler_step(s.get(), optimizer.get(), nullptr));
  EXPECT_THAT(floats(w.get()), ElementsAre(-0.5));
  EXPECT_REFUSED(tdm_grad_scaler_step(s.get(), optimizer.get(), nullptr), TDM_ERROR_INVALID_ARGUMENT, "call update");
  EXPECT_REFUSED(tdm_grad_scaler_unscale(s.get(), optimizer.get()), TDM_ERROR_INVALID_ARGUMENT, "comes before step");
  ASSERT_OK(tdm_grad_scaler_update(s.get(), 32));
  EXPECT_EQ(state(s).scale, 32);
}

TEST(GradScaler, StateMovesToAnother) {
  const Scaler s = scaler(8, 5);
  const Tensor w = parameter({1}, {1});
  const Optimizer optimizer = sgd(w);
  EXPECT_TRUE(step(s, optimizer, w, 1));
  const tdm_grad_scaler_state saved = state(s);
  const Scaler other = scaler(1024, 7);
  ASSERT_OK(tdm_grad_scaler_set_state(other.get(), &saved));
  EXPECT_EQ(state(other).scale, 8);
  EXPECT_EQ(state(other).growth_tracker, 1);
  EXPECT_EQ(state(other).growth_interval, 5);
  tdm_grad_scaler_state broken = saved;
  broken.growth_factor = 1;
  EXPECT_REFUSED(tdm_grad_scaler_set_state(other.get(), &broken), TDM_ERROR_INVALID_ARGUMENT, "growth_factor");
  tdm_grad_scaler_options wrong = TDM_GRAD_SCALER_OPTIONS_INIT;
  wrong.backoff_factor = 1.5;
  tdm_grad_scaler* made = nullptr;
  EXPECT_REFUSED(tdm_grad_scaler_create(&wrong, &made), TDM_ERROR_INVALID_ARGUMENT, "backoff_factor");
  EXPECT_REFUSED(tdm_grad_scaler_step(nullptr, optimizer.get(), nullptr), TDM_ERROR_INVALID_ARGUMENT, "'scaler'");
}

TEST(GradScaler, DisabledItDoesNothing) {
  tdm_grad_scaler_options options = TDM_GRAD_SCALER_OPTIONS_INIT;
  options.enabled = 0;
  tdm_grad_scaler* made = nullptr;
  ASSERT_OK(tdm_grad_scaler_create(&options, &made));
  const Scaler s(made);
  const Tensor w = parameter({1}, {1});
  const Optimizer optimizer = sgd(w);
  EXPECT_TRUE(step(s, optimizer, w, 2));
  EXPECT_THAT(floats(w.get()), ElementsAre(0));
  EXPECT_EQ(state(s).scale, 1);
}

}  // namespace
}  // namespace modes_test
