// What rules take and refuse, and what their state is worth when settings change on the way.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <limits>

#include "tandem/error.h"
#include "tandem/optim.h"

namespace tandem::testing::optim_rules_test {
namespace {

using optim::make_optimizer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Tensor parameter(at::IntArrayRef sizes = {2, 3}) {
  return torch::ones(sizes).set_requires_grad(true);
}

std::string refusal(const std::string& type, const std::vector<Option>& options,
                    ErrorCode code = ErrorCode::kInvalidArgument, const at::Tensor& of = parameter()) {
  try {
    make_optimizer(type, {of}, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(OptimRules, SettingsAreHeldToPythonsRanges) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal("Adadelta", {{"rho", 1.5}}), HasSubstr("'rho' is 1.5; it must be at least 0 and at most 1"));
  EXPECT_THAT(refusal("Adamax", {{"betas", std::vector<double>{0.5, 1.0}}}),
              HasSubstr("'beta2' is 1; it must be at least 0 and less than 1"));
  EXPECT_THAT(refusal("NAdam", {{"momentum_decay", -1.0}}), HasSubstr("'momentum_decay'"));
  EXPECT_THAT(refusal("RAdam", {{"eps", -1.0}}), HasSubstr("'eps' is -1; it must be at least 0"));
  EXPECT_THAT(refusal("ASGD", {{"lambd", nan}}), HasSubstr("'lambd' is nan; it must be finite"));
  EXPECT_THAT(refusal("Rprop", {{"etas", std::vector<double>{0.5, 1.0}}}),
              HasSubstr("'etaplus' is 1; it must be more than 1"));
  EXPECT_THAT(refusal("Rprop", {{"etas", std::vector<double>{0.0, 1.2}}}), HasSubstr("'etaminus'"));
  EXPECT_THAT(refusal("Rprop", {{"step_sizes", std::vector<double>{1}}}), HasSubstr("must be two numbers"));
  EXPECT_THAT(refusal("SparseAdam", {{"lr", 0.0}}), HasSubstr("'lr' is 0; it must be more than 0"));
  EXPECT_THAT(refusal("SparseAdam", {{"eps", 0.0}}), HasSubstr("'eps'"));
  EXPECT_THAT(refusal("Adafactor", {{"beta2_decay", 0.1}}), HasSubstr("it must be at most 0"));
  EXPECT_THAT(refusal("Adafactor", {{"d", 0.5}}), HasSubstr("it must be at least 1"));
  EXPECT_THAT(refusal("Adafactor", {{"eps1", -1.0}}), HasSubstr("'eps1'"));
  EXPECT_THAT(refusal("Adafactor", {{"eps1", nan}}), HasSubstr("'eps1' is nan"));
  EXPECT_THAT(refusal("Muon", {{"ns_steps", 100}}), HasSubstr("it must be at least 0 and at most 99"));
  EXPECT_THAT(refusal("Muon", {{"ns_steps", 1.5}}), HasSubstr("must be an integer"));
  EXPECT_THAT(refusal("Muon", {{"ns_coefficients", std::vector<double>{1, 2}}}), HasSubstr("must be three numbers"));
  EXPECT_THAT(refusal("Muon", {{"adjust_lr_fn", "adam"}}),
              HasSubstr("is 'adam'; it can be none, 'original', 'match_rms_adamw'"));
  EXPECT_EQ(refusal("SGD", {{"momentum", 0.5}, {"dampening", -0.5}}), "no error");
  EXPECT_EQ(refusal("ASGD", {{"alpha", -1.0}, {"t0", -5.0}}), "no error");

  // AdamW is decoupled always; Python's has no such option.
  EXPECT_THAT(refusal("AdamW", {{"decoupled_weight_decay", false}}, ErrorCode::kNotFound),
              HasSubstr("AdamW has no option 'decoupled_weight_decay'"));
  EXPECT_THAT(refusal("Rmsprop", {}, ErrorCode::kNotFound),
              AllOf(HasSubstr("there is no optimizer 'Rmsprop'"), HasSubstr("Muon, NAdam, RAdam, RMSprop, Rprop")));
}

TEST(OptimRules, ParametersThatARuleCannotStepAreRefused) {
  const auto refused = [](const std::string& type, const at::Tensor& of) {
    return refusal(type, {}, ErrorCode::kInvalidArgument, of);
  };
  const at::Tensor complex = torch::ones({2}, at::kComplexFloat).set_requires_grad(true);
  EXPECT_THAT(refused("Muon", parameter({4})), HasSubstr("parameter 0 has 1 dimensions; Muon takes matrices"));
  EXPECT_THAT(refused("SparseAdam", complex), HasSubstr("is complex"));
  EXPECT_THAT(refused("Adafactor", complex), HasSubstr("is complex"));
  const at::Tensor sparse = torch::eye(2).to_sparse().set_requires_grad(true);
  EXPECT_THAT(refused("SparseAdam", sparse), HasSubstr("takes dense parameters with sparse gradients"));

  at::Tensor dense = parameter();
  const auto adam = make_optimizer("SparseAdam", {dense}, {});
  dense.mutable_grad() = torch::ones({2, 3});
  EXPECT_THROW(adam->step(), Error);
  const auto muon = make_optimizer("Muon", {dense}, {});
  EXPECT_THROW(muon->add_group({{parameter({3})}, {}}), Error);
  EXPECT_EQ(muon->group_count(), 1u);
}

TEST(OptimRules, GradientsWithoutRowsChangeNothing) {
  const at::Tensor weight = parameter();
  const auto adam = make_optimizer("SparseAdam", {weight}, {{"lr", 1.0}});
  weight.mutable_grad() = at::sparse_coo_tensor(torch::zeros({1, 0}, at::kLong), torch::zeros({0, 3}), {2, 3});
  adam->step();
  EXPECT_TRUE(weight.equal(torch::ones({2, 3})));
  adam->set_option({"lr", 0.0});  // where schedules may end, though it may not begin there
  adam->step();
  EXPECT_THROW(adam->set_option({"lr", -1.0}), Error);
}

TEST(OptimRules, OptionsOfEveryKindAreRead) {
  const auto muon = make_optimizer("Muon", {parameter()}, {});
  EXPECT_TRUE(muon->get_option("adjust_lr_fn").isNone());
  EXPECT_EQ(muon->get_option("ns_steps").toInt(), 5);
  EXPECT_THAT(muon->get_option("ns_coefficients").toDoubleVector(), ElementsAre(3.4445, -4.775, 2.0315));
  muon->set_option({"adjust_lr_fn", "match_rms_adamw"});
  muon->set_option({"ns_b", -4.0});
  EXPECT_EQ(muon->get_option("adjust_lr_fn").toStringRef(), "match_rms_adamw");
  EXPECT_THAT(muon->get_option("ns_coefficients").toDoubleVector(), ElementsAre(3.4445, -4.0, 2.0315));
  muon->set_option({"adjust_lr_fn", at::IValue()});
  EXPECT_TRUE(muon->get_option("adjust_lr_fn").isNone());

  const auto adafactor = make_optimizer("Adafactor", {parameter()}, {});
  EXPECT_TRUE(adafactor->get_option("eps1").isNone());
  EXPECT_TRUE(adafactor->get_option("eps").toTupleRef().elements()[0].isNone());
  adafactor->set_option({"eps", std::vector<double>{0.5, 0.25}});
  EXPECT_THAT(adafactor->get_option("eps").toDoubleVector(), ElementsAre(0.5, 0.25));
  adafactor->set_option({"eps1", at::IValue()});
  EXPECT_TRUE(adafactor->get_option("eps1").isNone());
  try {
    adafactor->get_option("momentum");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("it has lr, beta2_decay, eps1, eps2, d, weight_decay, maximize, eps"));
  }
}

// The state of a factored second moment has sizes of its own.
TEST(OptimRules, StateIsHeldToTheSizesOfItsSlot) {
  at::Tensor weight = parameter({4, 2, 3});
  weight.mutable_grad() = torch::ones({4, 2, 3});
  const auto adafactor = make_optimizer("Adafactor", {weight}, {});
  adafactor->step();
  auto state = adafactor->state();
  ASSERT_EQ(state.size(), 3u);
  EXPECT_EQ(state[0].first, "0.row_var");
  EXPECT_EQ(state[0].second.sizes(), at::IntArrayRef({4, 2, 1}));
  EXPECT_EQ(state[1].second.sizes(), at::IntArrayRef({4, 1, 3}));
  state[0].second = torch::ones({4, 2, 3});
  try {
    adafactor->load_state(state);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'0.row_var' has sizes [4, 2, 3]"), HasSubstr("it has [4, 2, 1]")));
  }
  const auto asgd = make_optimizer("ASGD", {parameter()}, {});
  EXPECT_THROW(asgd->load_state({{"0.eta", torch::ones({2})}}), Error);
  try {
    asgd->load_state({{"0.momentum_buffer", torch::ones({2})}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("there are ax, eta, mu, step"));
  }
}

// Parameters of one group that have gone through different numbers keep their own, though kernels take them together.
TEST(OptimRules, ScalarsAreEachParametersOwn) {
  const auto run = [](bool together) {
    std::vector<at::Tensor> p{parameter(), parameter()};
    std::vector<std::unique_ptr<optim::Optimizer>> optimizers;
    const std::vector<Option> options{{"lr", 0.1}, {"momentum_decay", 0.5}};
    if (together) {
      optimizers.push_back(make_optimizer("NAdam", p, options));
    } else {
      for (const at::Tensor& one : p) optimizers.push_back(make_optimizer("NAdam", {one}, options));
    }
    for (int step = 0; step < 6; ++step) {
      if (step == 2) {
        for (const auto& optimizer : optimizers) optimizer->set_option({"beta1", 0.5});
      }
      p[0].mutable_grad() = step < 4 ? torch::full({2, 3}, 0.5) : at::Tensor();
      p[1].mutable_grad() = step >= 2 ? torch::full({2, 3}, -0.25) : at::Tensor();
      for (const auto& optimizer : optimizers) optimizer->step();
    }
    p[0].mutable_grad() = p[1].grad();  // both have had four steps, with other rates
    for (const auto& optimizer : optimizers) optimizer->step();
    return p;
  };
  const auto ours = run(true), apart = run(false);
  EXPECT_TRUE(ours[0].equal(apart[0]));
  EXPECT_TRUE(ours[1].equal(apart[1]));
}

}  // namespace
}  // namespace tandem::testing::optim_rules_test
