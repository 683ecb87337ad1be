// Our optimizers against LibTorch's own, step by step.
#include "tandem/optim.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include "tandem/error.h"

namespace {

using tandem::Option;
using tandem::optim::make_optimizer;

// Parameters of several layouts: dense, a dense transpose (fused kernels take it when its gradient is laid out the
// same), a strided view's leaf, channels_last against a contiguous gradient (they must not), and double.
std::vector<at::Tensor> make_parameters() {
  torch::manual_seed(3);
  std::vector<at::Tensor> made{torch::randn({5, 3}),
                               torch::randn({3, 4}).t(),
                               torch::randn({4, 6}).slice(1, 0, 6, 2),
                               torch::randn({2, 3, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast),
                               torch::randn({7}, at::kDouble),
                               torch::randn({1, 9})};
  for (auto& one : made) one.set_requires_grad(true);
  return made;
}

void set_gradients(const std::vector<at::Tensor>& parameters, int step) {
  torch::manual_seed(100 + step);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor gradient = torch::randn(parameters[i].sizes(), parameters[i].scalar_type());
    // One parameter has no gradient in every third step.
    parameters[i].mutable_grad() = i == 0 && step % 3 == 2 ? at::Tensor() : gradient;
  }
}

template <typename Theirs, typename Settings>
void agrees(const std::string& type, const std::vector<Option>& options, const Settings& settings) {
  SCOPED_TRACE(type);
  const auto ours = make_parameters(), theirs = make_parameters();
  const auto optimizer = make_optimizer(type, ours, options);
  Theirs reference(theirs, settings);
  for (int step = 0; step < 10; ++step) {
    set_gradients(ours, step);
    set_gradients(theirs, step);
    optimizer->step();
    reference.step();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_TRUE(ours[i].allclose(theirs[i], 1e-4, 1e-6)) << "step " << step << ", parameter " << i;
    }
  }
}

TEST(Optim, AgreesWithLibTorch) {
  namespace to = torch::optim;
  agrees<to::SGD>("SGD", {{"lr", 0.1}}, to::SGDOptions(0.1));
  agrees<to::SGD>("SGD", {{"lr", 0.1}, {"momentum", 0.9}, {"weight_decay", 0.01}},
                  to::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
  agrees<to::SGD>("SGD", {{"lr", 0.1}, {"momentum", 0.9}, {"nesterov", true}},
                  to::SGDOptions(0.1).momentum(0.9).nesterov(true));
  agrees<to::SGD>("SGD", {{"lr", 0.1}, {"momentum", 0.8}, {"dampening", 0.3}},
                  to::SGDOptions(0.1).momentum(0.8).dampening(0.3));
  agrees<to::Adam>("Adam", {{"lr", 0.01}}, to::AdamOptions(0.01));
  agrees<to::Adam>("Adam", {{"lr", 0.01}, {"amsgrad", true}, {"weight_decay", 0.1}},
                   to::AdamOptions(0.01).amsgrad(true).weight_decay(0.1));
  agrees<to::Adam>("Adam", {{"lr", 0.01}, {"betas", std::vector<double>{0.8, 0.95}}},
                   to::AdamOptions(0.01).betas({0.8, 0.95}));
  agrees<to::AdamW>("AdamW", {{"lr", 0.01}}, to::AdamWOptions(0.01));
  agrees<to::Adagrad>("Adagrad", {{"lr", 0.1}, {"lr_decay", 0.1}, {"initial_accumulator_value", 0.1}},
                      to::AdagradOptions(0.1).lr_decay(0.1).initial_accumulator_value(0.1));
  agrees<to::RMSprop>("RMSprop", {{"lr", 0.01}}, to::RMSpropOptions(0.01));
  agrees<to::RMSprop>("RMSprop", {{"lr", 0.01}, {"momentum", 0.9}, {"centered", true}, {"weight_decay", 0.1}},
                      to::RMSpropOptions(0.01).momentum(0.9).centered(true).weight_decay(0.1));
}

// Python's torch.optim steps view_as_real of a complex parameter, so the reference is such a parameter. LibTorch's own
// C++ classes square complex gradients instead.
template <typename Theirs, typename Settings>
void complex_agrees(const std::string& type, const std::vector<Option>& options, const Settings& settings) {
  SCOPED_TRACE(type);
  torch::manual_seed(3);
  std::vector<at::Tensor> ours{torch::randn({5, 3}, at::kComplexFloat), torch::randn({3, 4}, at::kComplexDouble).t(),
                               torch::randn({}, at::kComplexFloat),
                               torch::randn({4, 6}, at::kComplexFloat).slice(1, 0, 6, 2)};
  std::vector<at::Tensor> theirs;
  for (auto& one : ours) {
    theirs.push_back(at::view_as_real(one).clone().set_requires_grad(true));
    one.set_requires_grad(true);
  }
  auto optimizer = make_optimizer(type, ours, options);
  Theirs reference(theirs, settings);
  for (int step = 0; step < 10; ++step) {
    torch::manual_seed(100 + step);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const at::Tensor gradient = torch::randn(ours[i].sizes(), ours[i].scalar_type());
      theirs[i].mutable_grad() = at::view_as_real(gradient);
      ours[i].mutable_grad() = step == 4 ? gradient.conj_physical().conj() : gradient;  // also a lazy conjugate
    }
    optimizer->step();
    reference.step();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_TRUE(at::view_as_real(ours[i].detach()).allclose(theirs[i], 1e-4, 1e-6))
          << "step " << step << ", parameter " << i;
    }
    const auto state = optimizer->state();
    optimizer = make_optimizer(type, ours, options);
    optimizer->load_state(state);
  }
}

TEST(Optim, StepsComplexParametersAsPairsOfRealOnes) {
  namespace to = torch::optim;
  complex_agrees<to::SGD>("SGD", {{"lr", 0.1}, {"momentum", 0.9}, {"weight_decay", 0.01}},
                          to::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
  complex_agrees<to::Adam>("Adam", {{"lr", 0.01}, {"amsgrad", true}, {"weight_decay", 0.1}},
                           to::AdamOptions(0.01).amsgrad(true).weight_decay(0.1));
  complex_agrees<to::AdamW>("AdamW", {{"lr", 0.01}}, to::AdamWOptions(0.01));
  complex_agrees<to::Adagrad>("Adagrad", {{"lr", 0.1}, {"initial_accumulator_value", 0.1}},
                              to::AdagradOptions(0.1).initial_accumulator_value(0.1));
  complex_agrees<to::RMSprop>("RMSprop", {{"lr", 0.01}, {"momentum", 0.9}, {"centered", true}},
                              to::RMSpropOptions(0.01).momentum(0.9).centered(true));
  at::Tensor table = torch::ones({5, 2}, at::kComplexFloat).set_requires_grad(true);
  table.mutable_grad() = torch::eye(5, 2, at::kComplexFloat).to_sparse();
  EXPECT_THROW(make_optimizer("SGD", {table}, {})->step(), tandem::Error);
}

TEST(Optim, SparseGradients) {
  const auto embedded = [](const std::string& type) {
    at::Tensor table = torch::ones({5, 2}).set_requires_grad(true);
    torch::embedding(table, torch::tensor({1, 3, 3}), -1, false, true).sum().backward();
    EXPECT_TRUE(table.grad().is_sparse());
    make_optimizer(type, {table}, {{"lr", 1}})->step();
    return table;
  };
  const at::Tensor sgd = embedded("SGD");
  EXPECT_TRUE(sgd[0].equal(torch::ones({2})));
  EXPECT_TRUE(sgd[3].equal(torch::full({2}, -1)));
  const at::Tensor adagrad = embedded("Adagrad");
  EXPECT_TRUE(adagrad[0].equal(torch::ones({2})));
  EXPECT_TRUE(adagrad[3].allclose(torch::zeros({2}), 0, 1e-5));
  EXPECT_THROW(embedded("Adam"), tandem::Error);
}

TEST(Optim, ZeroGradDropsOrZeroesInPlaceViewsOfBucketsToo) {
  const at::Tensor bucket = torch::ones({4});
  at::Tensor a = torch::ones({2}).set_requires_grad(true), b = torch::ones({2}).set_requires_grad(true);
  a.mutable_grad() = bucket.narrow(0, 0, 2);
  b.mutable_grad() = torch::ones({2});
  const auto sgd = make_optimizer("SGD", {a, b}, {});
  sgd->zero_grad(false);
  EXPECT_TRUE(a.grad().is_alias_of(bucket));
  EXPECT_TRUE(bucket.equal(torch::tensor({0., 0., 1., 1.}, at::kFloat)));
  EXPECT_TRUE(b.grad().equal(torch::zeros({2})));
  sgd->zero_grad(true);
  EXPECT_FALSE(a.grad().defined());
  EXPECT_FALSE(b.grad().defined());
}

TEST(Optim, ChangedMomentumStartsItsBuffer) {
  at::Tensor a = torch::zeros({1}).set_requires_grad(true);
  const auto sgd = make_optimizer("SGD", {a}, {{"lr", 1}});
  a.mutable_grad() = torch::ones({1});
  sgd->step();
  EXPECT_TRUE(sgd->state().empty());
  sgd->set_option({"momentum", 0.5});
  sgd->step();
  sgd->step();
  EXPECT_FLOAT_EQ(a.item<float>(), -1 - 1 - 1.5);
}

}  // namespace
