// Schedulers, averages of weights and closures through the C ABI; tests/cpp/optim compares them with Python's.
#include <array>
#include <cmath>
#include <map>

#include "capi/calls.h"

namespace schedules_test {
namespace {

using namespace calls;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

Tensor parameter(float value) {
  Tensor made = tensor({value, value}, {2});
  EXPECT_OK(tdm_tensor_set_requires_grad(made.get(), 1));
  return made;
}

// Of two groups, whose rates are 0.5 and 0.25.
Optimizer two_groups(const Tensor& first, const Tensor& second) {
  const tdm_option lr = option("lr", of(0.5)), own = option("lr", of(0.25));
  tdm_tensor* const parameters[] = {first.get(), second.get()};
  tdm_optimizer* made = nullptr;
  EXPECT_OK(tdm_optimizer_create("SGD", parameters, 1, &lr, 1, &made));
  EXPECT_OK(tdm_optimizer_add_group(made, parameters + 1, 1, &own, 1));
  return Optimizer(made);
}

Scheduler scheduler(const char* type, const Optimizer& optimizer, const std::vector<tdm_option>& options) {
  tdm_lr_scheduler* made = nullptr;
  EXPECT_OK(tdm_lr_scheduler_create(type, optimizer.get(), options.data(), options.size(), &made));
  return Scheduler(made);
}

std::vector<double> last_lr(const Scheduler& scheduler) {
  tdm_value rates{};
  EXPECT_OK(tdm_lr_scheduler_last_lr(scheduler.get(), &rates));
  EXPECT_EQ(rates.tag, TDM_VALUE_DOUBLE_LIST);
  const auto* first = static_cast<const double*>(rates.as.list.data);
  std::vector<double> list(first, first + rates.as.list.size);
  tdm_value_clear(&rates);
  return list;
}

class Schedules : public testing::Test {
 protected:
  const LeakCheck leaks;
  const Tensor first = parameter(1), second = parameter(1);
  const Optimizer optimizer = two_groups(first, second);
};

TEST_F(Schedules, StepByOptionsAndHoldTheOptimizer) {
  Optimizer own = two_groups(first, second);
  const Scheduler step = scheduler("StepLR", own, {option("step_size", of(2)), option("gamma", of(0.5))});
  own.reset();
  for (const double rate : {0.5, 0.25, 0.25, 0.125}) {
    ASSERT_OK(tdm_lr_scheduler_step(step.get()));
    EXPECT_THAT(last_lr(step), ElementsAre(DoubleEq(rate), DoubleEq(rate / 2)));
  }
  EXPECT_REFUSED(tdm_lr_scheduler_step_metric(step.get(), 1), TDM_ERROR_UNSUPPORTED, "takes no metric");
  EXPECT_REFUSED(tdm_lr_scheduler_step_to(step.get(), 1), TDM_ERROR_UNSUPPORTED, "CosineAnnealingWarmRestarts");

  const Scheduler plateau = scheduler("ReduceLROnPlateau", optimizer, {option("patience", of(0))});
  EXPECT_REFUSED(tdm_lr_scheduler_step(plateau.get()), TDM_ERROR_UNSUPPORTED, "metric");
  ASSERT_OK(tdm_lr_scheduler_step_metric(plateau.get(), 1));
  ASSERT_OK(tdm_lr_scheduler_step_metric(plateau.get(), 2));
  EXPECT_THAT(last_lr(plateau), ElementsAre(DoubleEq(0.05), DoubleEq(0.025)));

  tdm_lr_scheduler* none = nullptr;
  EXPECT_REFUSED(tdm_lr_scheduler_create("Step", optimizer.get(), nullptr, 0, &none), TDM_ERROR_NOT_FOUND, "StepLR");
  EXPECT_REFUSED(tdm_lr_scheduler_create("StepLR", optimizer.get(), nullptr, 0, &none), TDM_ERROR_INVALID_ARGUMENT,
                 "'step_size' is missing");
  EXPECT_EQ(none, nullptr);
}

struct Factors {
  int destroyed = 0;
  double fails_at = -1;
  std::vector<double> asked;
};

tdm_error* factor(void* user_data, std::int64_t group, double at, double* factor) {
  auto* factors = static_cast<Factors*>(user_data);
  if (at == factors->fails_at) return tdm_error_create(TDM_ERROR_CALLBACK, nullptr, "not today", nullptr, nullptr);
  if (group == 0) factors->asked.push_back(at);
  *factor = 1 / (at + static_cast<double>(group) + 1);
  return nullptr;
}

void count(void* user_data) {
  ++static_cast<Factors*>(user_data)->destroyed;
}

TEST_F(Schedules, AskFunctionsOfTheProgram) {
  Factors factors;
  tdm_lr_scheduler* made = nullptr;
  EXPECT_REFUSED(
      tdm_lr_scheduler_create_with_function("StepLR", optimizer.get(), nullptr, 0, factor, &factors, count, &made),
      TDM_ERROR_NOT_FOUND, "LambdaLR, MultiplicativeLR, CyclicLR");
  EXPECT_EQ(factors.destroyed, 0) << "after an error the pointer is the caller's";
  ASSERT_OK(
      tdm_lr_scheduler_create_with_function("LambdaLR", optimizer.get(), nullptr, 0, factor, &factors, count, &made));
  {
    const Scheduler lambda(made);
    EXPECT_THAT(last_lr(lambda), ElementsAre(DoubleEq(0.5), DoubleEq(0.125)));
    ASSERT_OK(tdm_lr_scheduler_step(lambda.get()));
    factors.fails_at = 2;
    for (int i = 0; i < 2; ++i) {
      EXPECT_REFUSED(tdm_lr_scheduler_step(lambda.get()), TDM_ERROR_CALLBACK,
                     "a function of learning rates failed: not today");
    }
    EXPECT_THAT(last_lr(lambda), ElementsAre(DoubleEq(0.25), DoubleEq(0.25 / 3)));
    factors.fails_at = -1;
    ASSERT_OK(tdm_lr_scheduler_step(lambda.get()));
    EXPECT_THAT(factors.asked, ElementsAre(0, 1, 2)) << "a step that failed is no step";
  }
  EXPECT_EQ(factors.destroyed, 1);
}

TEST_F(Schedules, ScaleCyclesByAFunction) {
  Factors factors;
  const std::vector<tdm_option> options{option("base_lr", of(0.1)), option("max_lr", of(1.1)),
                                        option("step_size_up", of(1)), option("cycle_momentum", of(false))};
  tdm_lr_scheduler* made = nullptr;
  ASSERT_OK(tdm_lr_scheduler_create_with_function("CyclicLR", optimizer.get(), options.data(), options.size(), factor,
                                                  &factors, count, &made));
  const Scheduler cyclic(made);
  ASSERT_OK(tdm_lr_scheduler_step(cyclic.get()));
  EXPECT_THAT(last_lr(cyclic), ElementsAre(DoubleEq(0.6), DoubleEq(0.6)));
}

TEST_F(Schedules, AreMadeOfOthers) {
  const Scheduler warmup =
      scheduler("ConstantLR", optimizer, {option("factor", of(0.5)), option("total_iters", of(9))});
  const Scheduler decay = scheduler("ExponentialLR", optimizer, {option("gamma", of(0.1))});
  tdm_lr_scheduler* parts[] = {warmup.get(), decay.get()};
  const std::int64_t milestones[] = {2};
  tdm_lr_scheduler* made = nullptr;
  EXPECT_REFUSED(tdm_lr_scheduler_create_sequential(optimizer.get(), parts, 2, nullptr, 0, -1, &made),
                 TDM_ERROR_INVALID_ARGUMENT, "2 schedulers and 0 milestones");
  ASSERT_OK(tdm_lr_scheduler_create_sequential(optimizer.get(), parts, 2, milestones, 1, -1, &made));
  const Scheduler sequential(made);
  for (const double rate : {0.25, 0.5, 0.05}) {
    ASSERT_OK(tdm_lr_scheduler_step(sequential.get()));
    EXPECT_THAT(last_lr(sequential), ElementsAre(DoubleEq(rate), DoubleEq(rate / 2)));
  }
  const Optimizer other = two_groups(first, second);
  const Scheduler half = scheduler("ExponentialLR", other, {option("gamma", of(0.5))});
  const Scheduler third = scheduler("ExponentialLR", other, {option("gamma", of(0.25))});
  tdm_lr_scheduler* both[] = {half.get(), third.get()};
  ASSERT_OK(tdm_lr_scheduler_create_chained(both, 2, &made));
  const Scheduler chained(made);
  ASSERT_OK(tdm_lr_scheduler_step(chained.get()));
  EXPECT_THAT(last_lr(chained), ElementsAre(DoubleEq(0.5 / 8), DoubleEq(0.25 / 8)));
  both[1] = nullptr;
  EXPECT_REFUSED(tdm_lr_scheduler_create_chained(both, 2, &made), TDM_ERROR_INVALID_ARGUMENT, "schedulers[1]");
}

// Lists of schedulers, and Python's dictionaries with numbers as keys.
TEST_F(Schedules, StatesAreDicts) {
  const auto make = [](const Optimizer& of_this) {
    const std::vector<std::int64_t> milestones{1, 1, 3};
    const Scheduler steps = scheduler("MultiStepLR", of_this, {option("milestones", ints(milestones))});
    const Scheduler slow = scheduler("ExponentialLR", of_this, {option("gamma", of(0.5))});
    tdm_lr_scheduler* parts[] = {steps.get(), slow.get()};
    tdm_lr_scheduler* made = nullptr;
    EXPECT_OK(tdm_lr_scheduler_create_chained(parts, 2, &made));
    return Scheduler(made);
  };
  const Scheduler whole = make(optimizer);
  ASSERT_OK(tdm_lr_scheduler_step(whole.get()));
  ASSERT_OK(tdm_lr_scheduler_step(whole.get()));
  tdm_value state{};
  ASSERT_OK(tdm_lr_scheduler_state(whole.get(), &state));
  ASSERT_EQ(state.tag, TDM_VALUE_DICT);
  const auto member = [](const tdm_value& dict, const std::string& name) {
    const auto* const each = static_cast<const tdm_value*>(dict.as.list.data);
    for (std::size_t i = 0; i + 1 < dict.as.list.size; i += 2) {
      if (each[i].tag == TDM_VALUE_STRING && name == each[i].as.string.data) return each[i + 1];
    }
    ADD_FAILURE() << "no " << name;
    return tdm_value{};
  };
  const tdm_value parts = member(state, "_schedulers");
  ASSERT_EQ(parts.tag, TDM_VALUE_LIST);
  const tdm_value milestones = member(static_cast<const tdm_value*>(parts.as.list.data)[0], "milestones");
  ASSERT_EQ(milestones.tag, TDM_VALUE_DICT);
  ASSERT_EQ(milestones.as.list.size, 4U);
  constexpr std::array<std::int64_t, 4> kTwiceAndOnce{1, 2, 3, 1};  // as Python has them, numbers are keys, too
  for (std::size_t i = 0; i < kTwiceAndOnce.size(); ++i) {
    const tdm_value& one = static_cast<const tdm_value*>(milestones.as.list.data)[i];
    EXPECT_EQ(one.tag, TDM_VALUE_INT) << i;
    EXPECT_EQ(one.as.integer, kTwiceAndOnce[i]) << i;
  }

  const Optimizer other = two_groups(first, second);
  const Scheduler again = make(other);
  ASSERT_OK(tdm_lr_scheduler_load_state(again.get(), &state));
  EXPECT_EQ(last_lr(again), last_lr(whole));
  ASSERT_OK(tdm_lr_scheduler_step(whole.get()));
  ASSERT_OK(tdm_lr_scheduler_step(again.get()));
  EXPECT_EQ(last_lr(again), last_lr(whole));
  EXPECT_THAT(last_lr(whole), ElementsAre(DoubleEq(0.5 * 0.001 / 8), DoubleEq(0.25 * 0.001 / 8)));

  tdm_value text = of("state");
  EXPECT_REFUSED(tdm_lr_scheduler_load_state(again.get(), &text), TDM_ERROR_INVALID_ARGUMENT, "must be a dict");
  auto* items = static_cast<tdm_value*>(const_cast<void*>(state.as.list.data));
  --state.as.list.size;
  EXPECT_REFUSED(tdm_lr_scheduler_load_state(again.get(), &state), TDM_ERROR_INVALID_ARGUMENT, "has no value");
  state.as.list.size -= 1;
  EXPECT_REFUSED(tdm_lr_scheduler_load_state(again.get(), &state), TDM_ERROR_INVALID_ARGUMENT, "is missing");
  state.as.list.size += 2;
  EXPECT_EQ(items[0].tag, TDM_VALUE_STRING);
  tdm_value_clear(&state);
}

std::map<std::string, std::vector<float>> state_of(const Averages& averages) {
  tdm_named_tensors* list = nullptr;
  EXPECT_OK(tdm_averaged_parameters_state(averages.get(), &list));
  const NamedTensors owned(list);
  std::map<std::string, std::vector<float>> state;
  for (std::size_t i = 0; i < tdm_named_tensors_size(list); ++i) {
    tdm_tensor* one = nullptr;
    EXPECT_OK(tdm_named_tensors_get(list, i, &one));
    const Tensor held(one);
    if (tdm_tensor_get_dtype(one) == TDM_DTYPE_FLOAT32) state[tdm_named_tensors_name(list, i)] = floats(one);
  }
  return state;
}

void set(const Tensor& tensor, float value) {
  const float values[] = {value, value};
  ASSERT_OK(tdm_tensor_copy_from(tensor.get(), values, sizeof values));
}

TEST(Averages, AreOfWeightsAndSwap) {
  const LeakCheck leaks;
  const Tensor weight = parameter(1), buffer = tensor({5, 5}, {2});
  tdm_tensor *const weights[] = {weight.get()}, *const buffers[] = {buffer.get()};
  tdm_averaged_parameters_options options = TDM_AVERAGED_PARAMETERS_OPTIONS_INIT;
  options.averaging = TDM_AVERAGING_EMA;
  options.decay = 0.75;
  tdm_averaged_parameters* made = nullptr;
  ASSERT_OK(tdm_averaged_parameters_create(weights, 1, buffers, 1, &options, &made));
  const Averages ema(made);
  ASSERT_OK(tdm_averaged_parameters_update(ema.get()));
  set(weight, 3);
  set(buffer, 7);
  ASSERT_OK(tdm_averaged_parameters_update(ema.get()));
  EXPECT_THAT(state_of(ema)["parameter.0"], ElementsAre(1.5, 1.5));
  EXPECT_THAT(state_of(ema)["buffer.0"], ElementsAre(7, 7));
  ASSERT_OK(tdm_averaged_parameters_swap(ema.get()));
  EXPECT_THAT(floats(weight.get()), ElementsAre(1.5, 1.5));
  ASSERT_OK(tdm_averaged_parameters_swap(ema.get()));
  EXPECT_THAT(floats(weight.get()), ElementsAre(3, 3));

  ASSERT_OK(tdm_averaged_parameters_create(weights, 1, nullptr, 0, nullptr, &made));
  const Averages swa(made);
  const std::int64_t updates = 3;
  tdm_tensor* number = nullptr;
  ASSERT_OK(tdm_tensor_from_data(&updates, sizeof updates, TDM_DTYPE_INT64, nullptr, 0, &number));
  const Tensor owned(number), before = tensor({1, 1}, {2});
  const char* names[] = {"n_averaged", "parameter.0"};
  tdm_tensor* state[] = {number, before.get()};
  EXPECT_REFUSED(tdm_averaged_parameters_load_state(swa.get(), names, state, 1), TDM_ERROR_INVALID_ARGUMENT,
                 "'parameter.0' is missing");
  ASSERT_OK(tdm_averaged_parameters_load_state(swa.get(), names, state, 2));
  ASSERT_OK(tdm_averaged_parameters_update(swa.get()));
  EXPECT_THAT(state_of(swa)["parameter.0"], ElementsAre(1.5, 1.5)) << "the mean of 1, 1, 1 and 3";

  options.averaging = 2;
  EXPECT_REFUSED(tdm_averaged_parameters_create(weights, 1, nullptr, 0, &options, &made), TDM_ERROR_INVALID_ARGUMENT,
                 "options->averaging is 2");
  options = TDM_AVERAGED_PARAMETERS_OPTIONS_INIT;
  options.decay = 2;
  options.averaging = TDM_AVERAGING_EMA;
  EXPECT_REFUSED(tdm_averaged_parameters_create(weights, 1, nullptr, 0, &options, &made), TDM_ERROR_INVALID_ARGUMENT,
                 "decay is 2");
}

struct Problem {
  tdm_optimizer* optimizer;
  tdm_tensor* x;
  int calls = 0, fails_at = 0, destroyed = 0;
};

// (x - 2)^2, summed.
tdm_error* distance(void* user_data, tdm_tensor** loss) {
  auto* problem = static_cast<Problem*>(user_data);
  if (++problem->calls == problem->fails_at) {
    return tdm_error_create(TDM_ERROR_CALLBACK, nullptr, "enough", nullptr, nullptr);
  }
  EXPECT_OK(tdm_optimizer_zero_grad(problem->optimizer, 1));
  tdm_value difference = of(call("aten::sub", "Scalar", {of(problem->x), of(2)}).release());
  tdm_value square = of(call("aten::pow", "Tensor_Scalar", {difference, of(2)}).release());
  tdm_tensor* root = call("aten::sum", "", {square}).release();
  EXPECT_OK(tdm_autograd_backward(&root, nullptr, 1, 0, 0));
  *loss = root;
  return nullptr;
}

void count_destroyed(void* user_data) {
  ++static_cast<Problem*>(user_data)->destroyed;
}

TEST(Closure, OfLbfgsIsCalledUntilItConverges) {
  const LeakCheck leaks;
  const Tensor x = parameter(0);
  tdm_tensor* const parameters[] = {x.get()};
  const tdm_option search = option("line_search_fn", of("strong_wolfe"));
  tdm_optimizer* made = nullptr;
  ASSERT_OK(tdm_optimizer_create("LBFGS", parameters, 1, &search, 1, &made));
  const Optimizer lbfgs(made);
  EXPECT_REFUSED(tdm_optimizer_step(made), TDM_ERROR_UNSUPPORTED, "closure");
  Problem problem{made, x.get()};
  problem.fails_at = 2;
  EXPECT_REFUSED(tdm_optimizer_step_closure(made, distance, &problem, count_destroyed, nullptr), TDM_ERROR_CALLBACK,
                 "a closure failed: enough");
  EXPECT_EQ(problem.destroyed, 0);
  set(x, 0);
  problem.fails_at = 0;
  tdm_tensor* loss = nullptr;
  ASSERT_OK(tdm_optimizer_step_closure(made, distance, &problem, count_destroyed, &loss));
  EXPECT_EQ(problem.destroyed, 1);
  EXPECT_THAT(floats(Tensor(loss).get()), ElementsAre(8)) << "of the first call";
  for (const float number : floats(x.get())) EXPECT_NEAR(number, 2, 1e-3);
}

TEST(BatchNorm, StatisticsCanBeMeansOverAllBatches) {
  const LeakCheck leaks;
  const Module norm = module("BatchNorm1d", {option("num_features", of(1)), option("momentum", of(0.25))});
  const tdm_value none = tagged(TDM_VALUE_NONE);
  tdm_value before{};
  ASSERT_OK(tdm_module_set_batch_norm_momentum(norm.get(), &none, &before));
  EXPECT_EQ(before.as.real, 0.25);
  for (const float value : {1.f, 3.f, 8.f}) forward(norm, {of(tensor({value - 1, value + 1}, {2, 1}))});
  tdm_named_tensors* list = nullptr;
  ASSERT_OK(tdm_module_named_buffers(norm.get(), &list));
  const NamedTensors buffers(list);
  tdm_tensor* mean = nullptr;
  ASSERT_OK(tdm_named_tensors_get(list, 0, &mean));
  EXPECT_STREQ(tdm_named_tensors_name(list, 0), "running_mean");
  EXPECT_THAT(floats(Tensor(mean).get()), ElementsAre(testing::FloatEq(4)));
  ASSERT_OK(tdm_module_set_batch_norm_momentum(norm.get(), &before, &before));
  EXPECT_EQ(before.tag, TDM_VALUE_NONE);
  const tdm_value much = of(2.0);
  EXPECT_REFUSED(tdm_module_set_batch_norm_momentum(norm.get(), &much, nullptr), TDM_ERROR_INVALID_ARGUMENT,
                 "from 0 to 1");
  const Module linear = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  EXPECT_REFUSED(tdm_module_set_batch_norm_momentum(linear.get(), &none, nullptr), TDM_ERROR_UNSUPPORTED,
                 "is no BatchNorm1d");
}

}  // namespace
}  // namespace schedules_test
