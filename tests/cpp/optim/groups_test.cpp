// Groups of parameters with settings of their own, against LibTorch's.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "tandem/error.h"
#include "tandem/optim.h"

namespace tandem::testing::optim_groups_test {
namespace {

using tandem::Option;
using tandem::optim::make_optimizer;
using tandem::optim::ParameterGroup;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<at::Tensor> make_parameters() {
  torch::manual_seed(3);
  std::vector<at::Tensor> made{torch::randn({5, 3}), torch::randn({4}), torch::randn({2, 2}), torch::randn({3}),
                               torch::randn({6})};
  for (auto& one : made) one.set_requires_grad(true);
  return made;
}

void set_gradients(const std::vector<at::Tensor>& parameters, int step) {
  torch::manual_seed(100 + step);
  for (const at::Tensor& parameter : parameters) parameter.mutable_grad() = torch::randn(parameter.sizes());
}

Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorCode::kInternal, "");
}

// Three groups: two from the beginning, of which the second has settings of its own, and one that comes later; the
// second's settings change on the way.
template <typename Theirs, typename Settings>
void agrees(const std::string& type, const std::vector<Option>& options, const Settings& settings,
            const std::vector<Option>& second, const Settings& settings_of_second, const Option& changed,
            const std::function<void(Settings&)>& change) {
  SCOPED_TRACE(type);
  const auto ours = make_parameters(), theirs = make_parameters();
  const auto optimizer = make_optimizer(type, {{{ours[0], ours[1]}, {}}, {{ours[2], ours[3]}, second}}, options);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<at::Tensor>{theirs[0], theirs[1]}, std::make_unique<Settings>(settings));
  groups.emplace_back(std::vector<at::Tensor>{theirs[2], theirs[3]}, std::make_unique<Settings>(settings_of_second));
  // LibTorch's Adagrad takes no groups later, so that there the third has no gradients until then.
  groups.emplace_back(std::vector<at::Tensor>{theirs[4]}, std::make_unique<Settings>(settings_of_second));
  Theirs reference(groups, settings);
  // Anew: LibTorch 2.15 takes a setting of a group for not given where it is the class's default.
  for (std::size_t group : {1, 2}) {
    static_cast<Settings&>(reference.param_groups()[group].options()) = settings_of_second;
  }
  for (int step = 0; step < 9; ++step) {
    if (step == 3) {
      optimizer->set_option(1, changed);
      change(static_cast<Settings&>(reference.param_groups()[1].options()));
    }
    if (step == 5) optimizer->add_group({{ours[4]}, second});
    set_gradients(ours, step);
    set_gradients(theirs, step);
    if (step < 5) theirs[4].mutable_grad() = at::Tensor();
    optimizer->step();
    reference.step();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_TRUE(ours[i].allclose(theirs[i], 1e-4, 1e-6)) << "step " << step << ", parameter " << i;
    }
  }
  EXPECT_EQ(optimizer->group_count(), 3u);
  EXPECT_EQ(optimizer->parameters().size(), 5u);
}

TEST(ParameterGroups, AgreeWithLibTorch) {
  namespace to = torch::optim;
  agrees<to::SGD, to::SGDOptions>("SGD", {{"lr", 0.1}, {"momentum", 0.9}}, to::SGDOptions(0.1).momentum(0.9),
                                  {{"momentum", 0.0}, {"weight_decay", 0.1}},
                                  to::SGDOptions(0.1).momentum(0).weight_decay(0.1), {"lr", 0.5},
                                  [](to::SGDOptions& o) { o.lr(0.5); });
  agrees<to::Adam, to::AdamOptions>("Adam", {{"lr", 0.01}}, to::AdamOptions(0.01), {{"amsgrad", true}, {"lr", 0.02}},
                                    to::AdamOptions(0.02).amsgrad(true), {"betas", std::vector<double>{0.5, 0.6}},
                                    [](to::AdamOptions& o) {
                                      o.betas({0.5, 0.6});
                                    });
  agrees<to::AdamW, to::AdamWOptions>(
      "AdamW", {{"lr", 0.01}, {"weight_decay", 0.1}}, to::AdamWOptions(0.01).weight_decay(0.1), {{"weight_decay", 0.0}},
      to::AdamWOptions(0.01).weight_decay(0), {"eps", 1e-3}, [](to::AdamWOptions& o) { o.eps(1e-3); });
  agrees<to::Adagrad, to::AdagradOptions>("Adagrad", {{"lr", 0.1}}, to::AdagradOptions(0.1), {{"lr", 0.3}},
                                          to::AdagradOptions(0.3), {"lr_decay", 0.1},
                                          [](to::AdagradOptions& o) { o.lr_decay(0.1); });
  agrees<to::RMSprop, to::RMSpropOptions>(
      "RMSprop", {{"lr", 0.01}, {"momentum", 0.5}}, to::RMSpropOptions(0.01).momentum(0.5), {{"momentum", 0.0}},
      to::RMSpropOptions(0.01), {"alpha", 0.5}, [](to::RMSpropOptions& o) { o.alpha(0.5); });
}

TEST(ParameterGroups, HaveSettingsOfEveryKind) {
  const auto p = make_parameters();
  const auto adam = make_optimizer("Adam", {{{p[0]}, {}}, {{p[1]}, {{"lr", 0.5}, {"amsgrad", true}}}}, {{"lr", 0.1}});
  EXPECT_EQ(adam->get_option(0, "lr").toDouble(), 0.1);
  EXPECT_EQ(adam->get_option(1, "lr").toDouble(), 0.5);
  EXPECT_FALSE(adam->get_option(0, "amsgrad").toBool());
  EXPECT_TRUE(adam->get_option(1, "amsgrad").toBool());
  EXPECT_THAT(adam->get_option("betas").toDoubleVector(), ElementsAre(0.9, 0.999));
  adam->set_option({"betas", std::vector<double>{0.1, 0.2}});
  adam->set_option(0, {"amsgrad", true});
  EXPECT_THAT(adam->get_option(1, "betas").toDoubleVector(), ElementsAre(0.1, 0.2));
  EXPECT_EQ(adam->get_option("beta2").toDouble(), 0.2);
  EXPECT_TRUE(adam->get_option("amsgrad").toBool());
  // Later groups begin with what the optimizer was made with.
  adam->set_option({"lr", 9.0});
  adam->add_group({{p[2]}, {{"eps", 0.5}}});
  EXPECT_EQ(adam->get_option(2, "lr").toDouble(), 0.1);
  EXPECT_EQ(adam->get_option(2, "eps").toDouble(), 0.5);
}

TEST(ParameterGroups, ErrorsNameTheGroupAndChangeNothing) {
  const auto p = make_parameters();
  const auto sgd =
      make_optimizer("SGD", {{{p[0]}, {{"momentum", 0.9}, {"nesterov", true}}}, {{p[1], p[2]}, {}}}, {{"lr", 0.1}});
  const Error differ = error_of([&] { sgd->get_option("momentum"); });
  EXPECT_EQ(differ.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(differ.what(), AllOf(HasSubstr("'momentum' differs between groups"), HasSubstr("(0.9, 0)")));

  // The first group could take it, the second not.
  const Error nesterov = error_of([&] { sgd->set_option({"nesterov", true}); });
  EXPECT_EQ(nesterov.code(), ErrorCode::kInvalidArgument);
  sgd->set_option(1, {"momentum", 0.5});
  const Error negative = error_of([&] { sgd->set_option(1, {"lr", -1.0}); });
  EXPECT_THAT(negative.what(), AllOf(HasSubstr("SGD, group 1"), HasSubstr("'lr'")));
  EXPECT_EQ(sgd->get_option("lr").toDouble(), 0.1);
  const Error dampening = error_of([&] { sgd->set_option({"dampening", 0.5}); });  // not with nesterov
  EXPECT_EQ(dampening.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(sgd->get_option("dampening").toDouble(), 0);

  const Error third = error_of([&] { sgd->set_option(2, {"lr", 1.0}); });
  EXPECT_EQ(third.code(), ErrorCode::kOutOfRange);
  EXPECT_THAT(third.what(), HasSubstr("no group 2; it has 2"));
  EXPECT_EQ(error_of([&] { sgd->get_option(7, "lr"); }).code(), ErrorCode::kOutOfRange);

  const Error twice = error_of([&] { sgd->add_group({{p[3], p[1]}, {}}); });
  EXPECT_THAT(twice.what(), HasSubstr("parameter 4 is there a second time"));
  const Error typo = error_of([&] { sgd->add_group({{p[3]}, {{"learning_rate", 1.0}}}); });
  EXPECT_EQ(typo.code(), ErrorCode::kNotFound);
  EXPECT_THAT(typo.what(), HasSubstr("SGD, group 2"));
  EXPECT_EQ(sgd->group_count(), 2u);
  EXPECT_EQ(sgd->parameters().size(), 3u);
  EXPECT_EQ(error_of([] { make_optimizer("SGD", std::vector<ParameterGroup>(), {}); }).code(),
            ErrorCode::kInvalidArgument);
  sgd->add_group({{p[3]}, {}});
  set_gradients(p, 0);
  sgd->step();
}

TEST(ParameterGroups, StateIsNamedByTheParametersPlaceAmongAll) {
  const auto p = make_parameters(), q = make_parameters();
  const auto make = [](const std::vector<at::Tensor>& of) {
    return make_optimizer("SGD", {{{of[0], of[1]}, {{"momentum", 0.0}}}, {{of[2]}, {}}},
                          {{"lr", 1}, {"momentum", 0.5}});
  };
  const auto first = make(p), second = make(q);
  set_gradients(p, 0);
  set_gradients(q, 0);
  first->step();
  second->step();
  ASSERT_EQ(first->state().size(), 1u);
  EXPECT_EQ(first->state()[0].first, "2.momentum_buffer");
  const auto third = make(q);
  third->load_state(first->state());
  set_gradients(p, 1);
  set_gradients(q, 1);
  first->step();
  third->step();
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_TRUE(p[i].equal(q[i])) << i;
}

}  // namespace
}  // namespace tandem::testing::optim_groups_test
