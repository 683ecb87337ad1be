// Every scheduler against Python's, as reference.py stored them, and what they refuse.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "reference.h"
#include "tandem/error.h"
#include "tandem/lr_scheduler.h"

namespace tandem::testing::schedules_test {
namespace {

using optim::LrScheduler;
using optim::make_lr_scheduler;
using optim::make_optimizer;
using optim::Optimizer;
using optim::SchedulerState;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As in reference.py.
const std::vector<double> kRates{0.1, 0.02};
const std::vector<optim::RateFunction> kFunctions{
    [](std::int64_t epoch) { return std::pow(0.95, static_cast<double>(epoch)); },
    [](std::int64_t epoch) { return 1 / (1 + static_cast<double>(epoch) / 4); }};

double metric(int step) {
  return static_cast<double>((step * 5) % 7 + 10 - step) / 8;
}

std::shared_ptr<Optimizer> two_groups(const std::string& type = "SGD") {
  std::vector<optim::ParameterGroup> groups;
  for (const double rate : kRates) groups.push_back({{torch::zeros({1}).set_requires_grad(true)}, {{"lr", rate}}});
  return make_optimizer(type, groups, type == "SGD" ? std::vector<Option>{{"momentum", 0.9}} : std::vector<Option>{});
}

std::shared_ptr<LrScheduler> scheduler_of(const nlohmann::json& one, const std::shared_ptr<Optimizer>& optimizer) {
  const auto type = one["type"].get<std::string>();
  std::vector<std::shared_ptr<LrScheduler>> parts;
  if (one.contains("parts")) {
    for (const auto& part : one["parts"]) parts.push_back(scheduler_of(part, optimizer));
  }
  if (type == "SequentialLR") {
    return optim::make_sequential_lr(optimizer, parts, one["milestones"].get<std::vector<std::int64_t>>());
  }
  if (type == "ChainedScheduler") return optim::make_chained_scheduler(parts);
  if (type == "LambdaLR") return optim::make_lambda_lr(optimizer, kFunctions);
  if (type == "MultiplicativeLR") return optim::make_multiplicative_lr(optimizer, kFunctions);
  const std::vector<Option> options = options_of(one["options"]);
  if (one.contains("scale")) return optim::make_cyclic_lr(optimizer, options, [](double x) { return 1 / (1 + x / 8); });
  return make_lr_scheduler(type, optimizer, options);
}

std::vector<double> row_of(const Optimizer& optimizer) {
  const bool adam = optimizer.type() == std::string("Adam");
  std::vector<double> row;
  for (const char* name : {"lr", adam ? "beta1" : "momentum"}) {
    for (std::size_t group : {0, 1}) row.push_back(optimizer.get_option(group, name).toDouble());
  }
  return row;
}

nlohmann::json json_of(const at::IValue& value) {
  nlohmann::json json;
  if (value.isGenericDict()) {
    json = nlohmann::json::object();
    for (const auto& entry : value.toGenericDict()) {
      const at::IValue key = entry.key();
      json[key.isString() ? key.toStringRef() : std::to_string(key.toInt())] = json_of(entry.value());
    }
  } else if (value.isList()) {
    json = nlohmann::json::array();
    for (const at::IValue& one : value.toListRef()) json.push_back(json_of(one));
  } else if (value.isDouble()) {
    const double number = value.toDouble();
    json = std::isinf(number) ? nlohmann::json(number < 0 ? "-inf" : "inf") : nlohmann::json(number);
  } else if (value.isInt()) {
    json = value.toInt();
  } else if (value.isBool()) {
    json = value.toBool();
  } else if (value.isString()) {
    json = value.toStringRef();
  }
  return json;
}

bool near(const nlohmann::json& ours, const nlohmann::json& theirs) {
  if (ours.is_number() && theirs.is_number()) {
    const double expected = theirs.get<double>();
    return std::abs(ours.get<double>() - expected) <= 1e-10 * std::abs(expected) + 1e-15;
  }
  if (ours.type() != theirs.type() || ours.size() != theirs.size()) return false;
  if (ours.is_object()) {
    for (const auto& [name, value] : theirs.items()) {
      if (!ours.contains(name) || !near(ours[name], value)) return false;
    }
    return true;
  }
  if (ours.is_array()) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (!near(ours[i], theirs[i])) return false;
    }
    return true;
  }
  return ours == theirs;
}

void step(const nlohmann::json& one, LrScheduler& scheduler, int number) {
  if (one["type"] == "ReduceLROnPlateau") {
    scheduler.step(metric(number));
  } else if (one.contains("fraction")) {
    scheduler.step_to(number * one["fraction"].get<double>());
  } else {
    scheduler.step();
  }
}

void follows(const nlohmann::json& one) {
  nlohmann::json shown = one;
  shown.erase("rates");
  shown.erase("state");
  SCOPED_TRACE(shown.dump());
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<LrScheduler> scheduler;
  const auto begin = [&] {
    optimizer = two_groups(one.value("optimizer", "SGD"));
    if (one.contains("after")) scheduler_of(one["after"], optimizer);
    scheduler = scheduler_of(one, optimizer);
  };
  begin();
  int number = 0;
  for (const auto& theirs : one["rates"]) {
    if (number > 0) {
      if (number == 13) {  // goes on from what was saved
        const SchedulerState state = scheduler->state();
        const std::vector<double> before = row_of(*optimizer);
        begin();
        scheduler->load_state(state);
        EXPECT_TRUE(near(row_of(*optimizer), before)) << nlohmann::json(row_of(*optimizer)) << nlohmann::json(before);
        EXPECT_EQ(json_of(scheduler->state()), json_of(state));
      }
      if (number == 8 && one["outside"].get<bool>()) optimizer->set_option(1, {"lr", 0.0625});
      step(one, *scheduler, number - 1);
    }
    ASSERT_TRUE(near(row_of(*optimizer), theirs))
        << "step " << number << ": " << nlohmann::json(row_of(*optimizer)) << ", not " << theirs;
    EXPECT_EQ(scheduler->last_lr()[1], optimizer->get_option(1, "lr").toDouble());
    ++number;
  }
  const nlohmann::json state = json_of(scheduler->state());
  EXPECT_TRUE(near(state, one["state"])) << state << ", not " << one["state"];
}

TEST(Schedules, AreThoseOfPython) {
  std::set<std::string> types;
  for (const auto& one : stored("schedules.json")) {
    types.insert(one["type"].get<std::string>());
    follows(one);
  }
  EXPECT_EQ(types.size(), 16u);
}

template <typename Body>
std::string refusal(const Body& body, ErrorCode code = ErrorCode::kInvalidArgument) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

std::string refused(const std::string& type, const std::vector<Option>& options,
                    ErrorCode code = ErrorCode::kInvalidArgument) {
  return refusal([&] { make_lr_scheduler(type, two_groups(), options); }, code);
}

TEST(Schedules, OptionsAreHeldToPythonsRanges) {
  EXPECT_THAT(refused("Cosine", {}, ErrorCode::kNotFound),
              AllOf(HasSubstr("there is no scheduler 'Cosine'"), HasSubstr("ConstantLR, CosineAnnealingLR")));
  EXPECT_THAT(refused("LambdaLR", {}, ErrorCode::kNotFound), HasSubstr("call make_lambda_lr"));
  EXPECT_THAT(refused("StepLR", {}), HasSubstr("StepLR: option 'step_size' is missing"));
  EXPECT_THAT(refused("StepLR", {{"step_size", 2}, {"gama", 1.0}}, ErrorCode::kNotFound),
              AllOf(HasSubstr("no option 'gama'"), HasSubstr("step_size, gamma")));
  EXPECT_THAT(refused("StepLR", {{"step_size", 2}, {"last_epoch", 3}}), HasSubstr("has had no scheduler"));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refused("StepLR", {{"step_size", 2}, {"last_epoch", kMost}}),
              HasSubstr("the last epoch is 9007199254740992"));
  EXPECT_THAT(refused("CosineAnnealingLR", {{"T_max", kMost}}), HasSubstr("must be at most 9007199254740992"));
  EXPECT_THAT(refused("ConstantLR", {{"factor", 1.5}}), HasSubstr("'factor' must be at least 0 and at most 1"));
  EXPECT_THAT(refused("LinearLR", {{"start_factor", 0.0}}), HasSubstr("'start_factor' must be more than 0"));
  EXPECT_THAT(refused("LinearLR", {{"end_factor", -0.5}}), HasSubstr("'end_factor'"));
  EXPECT_THAT(refused("CosineAnnealingLR", {{"T_max", 0}}), HasSubstr("'T_max' must be at least 1"));
  EXPECT_THAT(refused("CosineAnnealingWarmRestarts", {{"T_0", 2}, {"T_mult", 0}}), HasSubstr("'T_mult'"));
  EXPECT_THAT(refused("CyclicLR", {{"base_lr", 0.1}, {"max_lr", std::vector<double>{1, 2, 3}}}),
              HasSubstr("'max_lr' has 3 numbers; it must be one number or 2"));
  EXPECT_THAT(refused("CyclicLR", {{"base_lr", 0.1}, {"max_lr", 1.0}, {"mode", "square"}}),
              HasSubstr("'mode' is 'square'; it can be 'triangular'"));
  EXPECT_THAT(refused("OneCycleLR", {{"max_lr", 0.1}, {"epochs", 3}}),
              HasSubstr("'total_steps' is missing; give it, or epochs and steps_per_epoch"));
  EXPECT_THAT(refused("OneCycleLR", {{"max_lr", 0.1}, {"epochs", kMost}, {"steps_per_epoch", 2}}),
              HasSubstr("by steps_per_epoch must be at most 9007199254740992"));
  EXPECT_THAT(refused("OneCycleLR", {{"max_lr", 0.1}, {"total_steps", 9}, {"pct_start", 1.5}}),
              HasSubstr("'pct_start'"));
  EXPECT_THAT(refused("ReduceLROnPlateau", {{"factor", 1.0}}), HasSubstr("'factor' must be less than 1"));
  EXPECT_THAT(refused("ReduceLROnPlateau", {{"mode", "least"}}), HasSubstr("it can be 'min' or 'max'"));
  EXPECT_THAT(refused("SWALR", {{"swa_lr", 0.1}, {"anneal_epochs", -1}}), HasSubstr("'anneal_epochs'"));
  EXPECT_THAT(refused("SWALR", {{"swa_lr", 0.1}, {"anneal_strategy", "exp"}}),
              HasSubstr("it can be 'cos' or 'linear'"));
  const std::shared_ptr<Optimizer> adagrad = make_optimizer("Adagrad", {torch::zeros({1}).set_requires_grad(true)}, {});
  EXPECT_THAT(refusal([&] { make_lr_scheduler("OneCycleLR", adagrad, {{"max_lr", 0.1}, {"total_steps", 9}}); }),
              HasSubstr("Adagrad has neither momentum nor betas to cycle; set option 'cycle_momentum' to false"));
  EXPECT_THAT(refusal([] { make_lr_scheduler("StepLR", nullptr, {{"step_size", 1}}); }), HasSubstr("an optimizer"));
  EXPECT_THAT(refusal([] { optim::make_lambda_lr(two_groups(), {kFunctions[0], nullptr}); }), HasSubstr("is empty"));
}

TEST(Schedules, StepsThatASchedulerDoesNotTake) {
  const auto optimizer = two_groups();
  const auto by_step = make_lr_scheduler("StepLR", optimizer, {{"step_size", 1}});
  EXPECT_THAT(refusal([&] { by_step->step(0.5); }, ErrorCode::kUnsupported), HasSubstr("StepLR takes no metric"));
  EXPECT_THAT(refusal([&] { by_step->step_to(1); }, ErrorCode::kUnsupported), HasSubstr("goes by whole steps"));
  const auto plateau = make_lr_scheduler("ReduceLROnPlateau", optimizer, {});
  EXPECT_THAT(refusal([&] { plateau->step(); }, ErrorCode::kUnsupported), HasSubstr("call step(metric)"));
  const auto cycle = make_lr_scheduler("OneCycleLR", optimizer, {{"max_lr", 0.1}, {"total_steps", 2}});
  cycle->step();
  cycle->step();
  EXPECT_THAT(refusal([&] { cycle->step(); }), HasSubstr("was made for 2 steps, and steps a 3th time"));
  const auto restarts = make_lr_scheduler("CosineAnnealingWarmRestarts", optimizer, {{"T_0", 2}});
  EXPECT_THAT(refusal([&] { restarts->step_to(-1); }), HasSubstr("no epoch"));

  optimizer->add_group({{torch::zeros({1}).set_requires_grad(true)}, {}});
  const std::vector<double> before = by_step->last_lr();
  EXPECT_THAT(refusal([&] { make_lr_scheduler("LambdaLR", optimizer, {}); }, ErrorCode::kNotFound), HasSubstr("call"));
  EXPECT_THAT(refusal([&] { restarts->step(); }), HasSubstr("was made for 2 groups of parameters, but"));
  EXPECT_EQ(by_step->last_lr(), before);
}

TEST(Schedules, ComposedOnesSayWhichPartIsWrong) {
  const auto optimizer = two_groups();
  const auto make = [&](const std::string& type) {
    return make_lr_scheduler(type, optimizer,
                             type == "StepLR" ? std::vector<Option>{{"step_size", 1}} : std::vector<Option>{});
  };
  const auto first = make("StepLR"), plateau = make("ReduceLROnPlateau");
  const auto foreign = make_lr_scheduler("StepLR", two_groups(), {{"step_size", 1}});
  EXPECT_THAT(refusal([&] { optim::make_sequential_lr(optimizer, {}, {}); }), HasSubstr("at least one scheduler"));
  EXPECT_THAT(refusal([&] { optim::make_chained_scheduler({}); }), HasSubstr("at least one scheduler"));
  EXPECT_THAT(refusal([&] { optim::make_sequential_lr(optimizer, {first, first}, {1, 2}); }),
              HasSubstr("2 schedulers and 2 milestones"));
  EXPECT_THAT(
      refusal([&] { optim::make_sequential_lr(optimizer, {first}, {}, std::numeric_limits<std::int64_t>::max()); }),
      HasSubstr("the last epoch is 9007199254740992"));
  EXPECT_THAT(refusal([&] { optim::make_sequential_lr(optimizer, {first, first, first}, {5, 2}); }),
              HasSubstr("must ascend"));
  EXPECT_THAT(refusal([&] { optim::make_chained_scheduler({first, plateau}); }),
              HasSubstr("scheduler 1 is a ReduceLROnPlateau"));
  EXPECT_THAT(refusal([&] { optim::make_chained_scheduler({first, foreign}); }), HasSubstr("of another optimizer"));
  const auto chained = optim::make_chained_scheduler({first});
  EXPECT_THAT(refusal([&] { optim::make_sequential_lr(optimizer, {first, chained}, {3}); }),
              HasSubstr("scheduler 1 is a ChainedScheduler, which can only be the first"));
}

// Each in a state of which all before it could be read.
TEST(Schedules, WrongNumbersOfOtherStatesAreRefused) {
  const auto refused_in = [](const std::string& type, const std::vector<Option>& options, const std::string& name,
                             const at::IValue& value) {
    const auto optimizer = two_groups();
    std::shared_ptr<LrScheduler> scheduler = make_lr_scheduler(type, optimizer, options);
    const bool plateau = type == "ReduceLROnPlateau";
    if (!plateau) scheduler = optim::make_sequential_lr(optimizer, {scheduler}, {});
    const nlohmann::json before = json_of(scheduler->state());
    SchedulerState state = scheduler->state().copy();
    if (plateau) {
      state.insert_or_assign(name, value);
    } else {
      const auto part = state.at("_schedulers").toListRef()[0].toGenericDict().copy();
      part.insert_or_assign("_last_lr", std::vector<double>{0.5, 0.5});
      part.insert_or_assign(name, value);
      c10::impl::GenericList parts(c10::AnyType::get());
      parts.push_back(part);
      state.insert_or_assign("_schedulers", parts);
    }
    const std::string why = refusal([&] { scheduler->load_state(state); });
    EXPECT_EQ(json_of(scheduler->state()), before);
    return why;
  };
  EXPECT_THAT(refused_in("CosineAnnealingLR", {{"T_max", 5}}, "T_max", 0), HasSubstr("'T_max' must be at least 1"));
  EXPECT_THAT(refused_in("CosineAnnealingWarmRestarts", {{"T_0", 5}}, "T_i", 0), HasSubstr("'T_i'"));
  EXPECT_THAT(refused_in("CosineAnnealingWarmRestarts", {{"T_0", 5}}, "T_mult", -1), HasSubstr("'T_mult'"));
  EXPECT_THAT(refused_in("SWALR", {{"swa_lr", 0.1}}, "_anneal_strategy", "exp"), HasSubstr("'_anneal_strategy'"));
  EXPECT_THAT(refused_in("ReduceLROnPlateau", {}, "mode", "least"), HasSubstr("state 'mode' is 'least'"));
  EXPECT_THAT(refused_in("ReduceLROnPlateau", {}, "threshold_mode", "far"), HasSubstr("'threshold_mode'"));
}

TEST(Schedules, CyclesThatGrowHaveALongest) {
  const auto optimizer = two_groups();
  const auto restarts =
      make_lr_scheduler("CosineAnnealingWarmRestarts", optimizer, {{"T_0", 1}, {"T_mult", std::int64_t{1} << 40}});
  for (int step = 0; step < 3; ++step) restarts->step();
  const SchedulerState state = restarts->state();
  state.insert_or_assign("T_cur", state.at("T_i").toInt() - 1);
  restarts->load_state(state);
  restarts->step();
  EXPECT_EQ(restarts->state().at("T_i").toInt(), std::int64_t{1} << 53);
  EXPECT_THAT(refusal([&] { restarts->step_to(1e300); }), HasSubstr("no epoch"));
}

TEST(Schedules, AFunctionThatFailsInASequenceIsNoStep) {
  const auto optimizer = two_groups();
  bool fails = false;
  const auto lambda = optim::make_lambda_lr(optimizer, {[&](std::int64_t epoch) {
                                              if (fails) throw Error(ErrorCode::kCallback, "not today");
                                              return 1 / static_cast<double>(epoch + 1);
                                            }});
  const auto constant = make_lr_scheduler("ConstantLR", optimizer, {});
  const auto sequence = optim::make_sequential_lr(optimizer, {constant, lambda}, {1});
  for (const double rate : {0.1, 0.05, 0.1 / 3}) {
    fails = true;
    refusal([&] { sequence->step(); }, ErrorCode::kCallback);
    fails = false;
    sequence->step();
    EXPECT_DOUBLE_EQ(sequence->last_lr()[0], rate);
  }
}

TEST(Schedules, WrongStateChangesNothing) {
  const auto optimizer = two_groups();
  const auto make = [&] { return make_lr_scheduler("StepLR", optimizer, {{"step_size", 2}}); };
  const auto scheduler = make();
  scheduler->step();
  scheduler->step();
  const nlohmann::json before = json_of(scheduler->state());
  const auto load_with = [&](const std::string& name, const at::IValue& value) {
    const SchedulerState state = scheduler->state();
    state.insert_or_assign("last_epoch", 9);
    state.insert_or_assign(name, value);
    return refusal([&] { scheduler->load_state(state); });
  };
  EXPECT_THAT(load_with("gama", 1.0), AllOf(HasSubstr("'gama' is unknown"), HasSubstr("gamma")));
  EXPECT_THAT(load_with("gamma", "a"), HasSubstr("StepLR: state 'gamma' is no number"));
  EXPECT_THAT(load_with("step_size", 1.5), HasSubstr("'step_size' is no whole number"));
  EXPECT_THAT(load_with("base_lrs", std::vector<double>{1}),
              HasSubstr("has 1 numbers, but the optimizer has 2 groups"));
  const SchedulerState without = scheduler->state();
  std::ignore = without.erase("gamma");
  EXPECT_THAT(refusal([&] { scheduler->load_state(without); }), HasSubstr("'gamma' is missing"));
  EXPECT_EQ(json_of(scheduler->state()), before);

  // What would end the process, or never end.
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THAT(load_with("step_size", 0), HasSubstr("'step_size' must be at least 1, not 0"));
  EXPECT_THAT(load_with("step_size", infinite), HasSubstr("is no whole number"));
  EXPECT_THAT(load_with("last_epoch", std::numeric_limits<std::int64_t>::max()), HasSubstr("is beyond 2^53"));
  EXPECT_THAT(load_with("_last_lr", std::vector<double>{0.1, -1}), HasSubstr("group 1: option 'lr'"));
  EXPECT_EQ(json_of(scheduler->state()), before);
  EXPECT_EQ(row_of(*optimizer)[0], 0.1 * 0.1);

  // What other versions of Python's torch write: whole numbers as such, and "verbose".
  const SchedulerState other = scheduler->state();
  other.insert_or_assign("gamma", 1);
  other.insert_or_assign("verbose", false);
  std::ignore = other.erase("_is_initial");
  scheduler->load_state(other);
  EXPECT_EQ(json_of(scheduler->state())["gamma"], 1.0);
  EXPECT_THAT(scheduler->last_lr(), ElementsAre(::testing::DoubleEq(0.1 * 0.1), ::testing::DoubleEq(0.02 * 0.1)));
}

}  // namespace
}  // namespace tandem::testing::schedules_test
