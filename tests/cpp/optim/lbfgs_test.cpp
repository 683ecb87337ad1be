// What LBFGS and closures refuse, and what a step is without one. reference_test.cpp has the trajectories.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <stdexcept>

#include "tandem/error.h"
#include "tandem/optim.h"

namespace tandem::testing::lbfgs_test {
namespace {

using optim::make_optimizer;
using ::testing::HasSubstr;

at::Tensor parameter() {
  return torch::full({2}, 3.0, at::kDouble).set_requires_grad(true);
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

optim::Optimizer::Closure square(optim::Optimizer& optimizer, const at::Tensor& x, int& calls) {
  return [&optimizer, x, &calls] {
    ++calls;
    optimizer.zero_grad();
    const at::Tensor loss = x.square().sum();
    loss.backward();
    return loss;
  };
}

TEST(Closure, IsCalledOnceByRulesAndGradIsOn) {
  const at::Tensor x = parameter();
  const auto sgd = make_optimizer("SGD", {x}, {{"lr", 0.25}});
  int calls = 0;
  at::NoGradGuard no_grad;
  EXPECT_EQ(sgd->step(square(*sgd, x, calls)).item<double>(), 18);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(x.equal(torch::full({2}, 1.5, at::kDouble)));
  EXPECT_FALSE(at::GradMode::is_enabled());
}

TEST(Closure, IsCalledSeveralTimesByLbfgsWhichGivesTheFirstLoss) {
  const at::Tensor x = parameter();
  const auto lbfgs = make_optimizer("LBFGS", {x}, {{"line_search_fn", "strong_wolfe"}});
  int calls = 0;
  EXPECT_EQ(lbfgs->step(square(*lbfgs, x, calls)).item<double>(), 18);
  EXPECT_GT(calls, 1);
  EXPECT_LT(x.detach().abs().max().item<double>(), 1e-6);
}

TEST(Closure, ThatFailsOrGivesNoLossEndsTheStep) {
  const at::Tensor x = parameter();
  for (const char* type : {"SGD", "LBFGS"}) {
    const auto optimizer = make_optimizer(type, {x}, {});
    EXPECT_THAT(refusal([&] { optimizer->step(optim::Optimizer::Closure()); }), HasSubstr("the closure is empty"));
    EXPECT_THAT(refusal([&] { optimizer->step([] { return at::Tensor(); }); }), HasSubstr("gave nothing"));
    EXPECT_THAT(refusal([&] { optimizer->step([] { return torch::ones({2}); }); }), HasSubstr("a tensor of 2 numbers"));
    EXPECT_THROW(optimizer->step([]() -> at::Tensor { throw std::runtime_error("own"); }), std::runtime_error);
  }
  EXPECT_TRUE(x.equal(torch::full({2}, 3.0, at::kDouble)));
}

TEST(Lbfgs, SaysWhatItDoesNotTake) {
  const at::Tensor x = parameter(), y = parameter();
  const auto lbfgs = make_optimizer("LBFGS", {x}, {{"max_iter", 8}});
  EXPECT_THAT(refusal([&] { lbfgs->step(); }, ErrorCode::kUnsupported), HasSubstr("give step() a closure"));
  EXPECT_THAT(refusal([&] { lbfgs->add_group({{y}, {}}); }, ErrorCode::kUnsupported), HasSubstr("one group"));
  EXPECT_THAT(refusal([&] { lbfgs->get_option(1, "lr"); }, ErrorCode::kOutOfRange), HasSubstr("no group 1; it has 1"));
  EXPECT_THAT(refusal([&] { lbfgs->set_option({"max_iter", -1}); }), HasSubstr("'max_iter' is -1"));
  EXPECT_THAT(refusal([&] { make_optimizer("LBFGS", {x}, {{"line_search_fn", "wolfe"}}); }),
              HasSubstr("it can be none, 'strong_wolfe'"));
  EXPECT_THAT(refusal([&] { make_optimizer("LBFGS", {x}, {{"momentum", 0.5}}); }, ErrorCode::kNotFound),
              HasSubstr("tolerance_grad"));
  EXPECT_THAT(refusal([&] { make_optimizer("LBFGS", std::vector<at::Tensor>{}, {}); }), HasSubstr("at least one"));
  EXPECT_THAT(refusal([&] { make_optimizer("LBFGS", std::vector<optim::ParameterGroup>{{{x}, {}}, {{y}, {}}}, {}); }),
              HasSubstr("one group"));
  EXPECT_THAT(refusal([&] { make_optimizer("LBFGS", std::vector<at::Tensor>{x, x}, {}); }),
              HasSubstr("parameter 1 is there a second time"));
  EXPECT_THAT(
      refusal([&] { make_optimizer("LBFGS", std::vector<at::Tensor>{torch::zeros({1}, at::kComplexDouble)}, {}); }),
      HasSubstr("is complex"));
  EXPECT_EQ(lbfgs->get_option("max_eval").toInt(), 10) << "a quarter more than max_iter";
  lbfgs->set_option({"lr", 0.5});
  EXPECT_EQ(lbfgs->get_option("lr").toDouble(), 0.5);
  EXPECT_TRUE(lbfgs->get_option("line_search_fn").isNone());
}

TEST(Lbfgs, HistoryFollowsItsOption) {
  const at::Tensor x = torch::tensor({-1.2, 1.0}, at::kDouble).set_requires_grad(true);
  const auto lbfgs = make_optimizer("LBFGS", {x}, {{"lr", 0.01}, {"max_iter", 3}, {"history_size", 6}});
  const auto count = [&] {
    std::size_t found = 0;
    for (const auto& [name, tensor] : lbfgs->state()) found += name.starts_with("0.ro.");
    return found;
  };
  for (const std::int64_t size : {6, 2, 4}) {
    lbfgs->set_option({"history_size", size});
    for (int step = 0; step < 4; ++step) {
      lbfgs->step([&] {
        lbfgs->zero_grad();
        const at::Tensor loss = 100 * (x[1] - x[0].square()).square() + (1 - x[0]).square();
        loss.backward();
        return loss;
      });
    }
    EXPECT_EQ(count(), static_cast<std::size_t>(size));
  }
}

TEST(Lbfgs, WrongStateChangesNothing) {
  const at::Tensor x = parameter();
  const auto lbfgs = make_optimizer("LBFGS", {x}, {{"max_iter", 1}, {"history_size", 2}});
  EXPECT_TRUE(lbfgs->state().empty());
  int calls = 0;
  for (int step = 0; step < 4; ++step) lbfgs->step(square(*lbfgs, x, calls));
  const auto before = lbfgs->state();
  const auto with = [&](const std::string& name, const at::Tensor& tensor) {
    auto state = before;
    std::erase_if(state, [&](const auto& one) { return one.first == name; });
    if (tensor.defined()) state.emplace_back(name, tensor);
    return refusal([&] { lbfgs->load_state(state); });
  };
  EXPECT_THAT(with("0.d", {}), HasSubstr("'0.d' is missing"));
  EXPECT_THAT(with("0.d", torch::ones({3})), HasSubstr("has 3 numbers; it must have 2"));
  EXPECT_THAT(with("0.n_iter", torch::ones({3})), HasSubstr("must be a single number"));
  EXPECT_THAT(with("0.old_dirs.0", {}), HasSubstr("has gaps"));
  EXPECT_THAT(with("0.ro.2", torch::ones({})), HasSubstr("past option 'history_size', which is 2"));
  EXPECT_THAT(with("0.ro.x", torch::ones({})), HasSubstr("is unknown; there are"));
  EXPECT_THAT(with("1.d", torch::ones({2})), HasSubstr("is unknown"));
  const auto after = lbfgs->state();
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].first, before[i].first);
    EXPECT_TRUE(after[i].second.equal(before[i].second)) << after[i].first;
  }
}

}  // namespace
}  // namespace tandem::testing::lbfgs_test
