// States that Python's torch.optim saved, and what it makes of ours (reference.py).
#include "tandem/optimizer_state_dict.h"

#include <cstdlib>
#include <filesystem>

#include "cpp/weights/pt_test_values.h"
#include "tandem/optim.h"

namespace tandem::testing::optimizer_state_dict_test {
namespace {

using optim::make_optimizer;
using optim::Optimizer;
using ::testing::ElementsAre;

std::vector<at::Tensor> tensors_in(const PtValue& list) {
  std::vector<at::Tensor> tensors;
  for (const PtValue& one : as<PtList>(list).items) tensors.push_back(tensor_of(one).clone());
  return tensors;
}

struct Trained {
  explicit Trained(const std::string& name, const std::vector<at::Tensor>& values) : parameters(values) {
    for (at::Tensor& one : parameters) one.set_requires_grad(true);
    const std::vector<optim::ParameterGroup> groups{{{parameters[0], parameters[2]}, {}}, {{parameters[1]}, {}}};
    optimizer = make_optimizer(name, groups, {});
  }

  void step(const std::vector<at::Tensor>& gradients) const {
    const bool sparse = std::string(optimizer->type()) == "SparseAdam";
    // As Python's, whose groups have the first and third, and the second.
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      parameters[i].mutable_grad() = sparse ? gradients[i].to_sparse() : gradients[i].clone();
    }
    optimizer->step();
  }

  std::vector<at::Tensor> parameters;
  std::unique_ptr<Optimizer> optimizer;
};

void expect_close(const std::string& name, const std::vector<at::Tensor>& found,
                  const std::vector<at::Tensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  // Muon's iteration is one of bfloat16; numbers beside tensors ("eta", "mu_product") are float32.
  const double tolerance = name == "Muon" ? 1e-3 : 1e-7;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_LE((found[i] - expected[i]).abs().max().item<double>(), tolerance) << "parameter " << i;
  }
}

TEST(OptimizerStateDict, OfPythonGoesOn) {
  const PtValue all = load_pt(python_file("optimizers.pt"));
  EXPECT_EQ(as<PtDict>(all).items.size(), 14u);
  for (const PtItem& item : as<PtDict>(all).items) {
    const std::string& name = as<std::string>(item.key);
    SCOPED_TRACE(name);
    const Trained trained(name, tensors_in(item.value.at("before")));
    load_optimizer_state_dict(*trained.optimizer, item.value.at("state_dict"));
    EXPECT_EQ(trained.optimizer->get_option(0, "lr").toDouble(), 0.05);
    EXPECT_EQ(trained.optimizer->get_option(1, "lr").toDouble(), 0.02);
    trained.step(tensors_in(item.value.at("gradients")));
    expect_close(name, trained.parameters, tensors_in(item.value.at("after")));
  }
}

TEST(OptimizerStateDict, OfOursIsOurs) {
  const PtValue all = load_pt(python_file("optimizers.pt"));
  for (const PtItem& item : as<PtDict>(all).items) {
    const std::string& name = as<std::string>(item.key);
    SCOPED_TRACE(name);
    const auto before = tensors_in(item.value.at("before")), gradients = tensors_in(item.value.at("gradients"));
    const Trained first(name, before);
    load_optimizer_state_dict(*first.optimizer, item.value.at("state_dict"));
    first.optimizer->schedule(1)["initial_lr"] = 0.5;
    const test::TempDir dir;
    save_pt(dir / "a.pt", optimizer_state_dict(*first.optimizer));
    const PtValue saved = load_pt(dir / "a.pt");
    EXPECT_EQ(as<double>(as<PtList>(saved.at("param_groups")).items[1].at("initial_lr")), 0.5);
    const Trained second(name, tensors_in(item.value.at("before")));
    load_optimizer_state_dict(*second.optimizer, saved);
    EXPECT_EQ(second.optimizer->schedule(1).at("initial_lr"), 0.5);
    for (const std::string& option : first.optimizer->option_names()) {
      EXPECT_EQ(second.optimizer->get_option(1, option), first.optimizer->get_option(1, option)) << option;
    }
    first.step(gradients);
    second.step(gradients);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(second.parameters[i].equal(first.parameters[i]));
  }
}

// One of the states of LBFGS that Python saved (reference.py has the same loss).
struct Lbfgs {
  explicit Lbfgs(const PtValue& from) : parameters(tensors_in(from.at("before"))) {
    for (at::Tensor& one : parameters) one.set_requires_grad(true);
    std::vector<Option> options{{"lr", 0.5}, {"max_iter", 4}, {"history_size", 3}};
    if (const auto* const search = from.at("search").get_if<std::string>()) {
      options.push_back({"line_search_fn", *search});
    }
    optimizer = make_optimizer("LBFGS", parameters, options);
  }

  void step() const {
    optimizer->step([this] {
      optimizer->zero_grad();
      const at::Tensor &first = parameters[0], &second = parameters[1];
      const at::Tensor loss = (first - 1).pow(4).sum() + second.pow(2).sum() + (first.sum() * second.sum()).pow(2) / 10;
      loss.backward();
      return loss;
    });
  }

  void expect(const PtValue& after) const {
    const auto expected = tensors_in(after);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(parameters[i].allclose(expected[i], 1e-10, 1e-12)) << "parameter " << i;
    }
  }

  std::vector<at::Tensor> parameters;
  std::unique_ptr<Optimizer> optimizer;
};

TEST(OptimizerStateDict, OfPythonsLbfgsGoesOn) {
  const PtValue all = load_pt(python_file("lbfgs.pt"));
  EXPECT_EQ(as<PtDict>(all).items.size(), 6u);
  for (const PtItem& item : as<PtDict>(all).items) {
    SCOPED_TRACE(as<std::string>(item.key));
    const Lbfgs first(item.value), second(item.value);
    load_optimizer_state_dict(*first.optimizer, item.value.at("state_dict"));
    load_optimizer_state_dict(*second.optimizer, optimizer_state_dict(*first.optimizer));
    first.step();
    first.expect(item.value.at("after"));
    second.step();
    second.expect(item.value.at("after"));
  }
}

PtValue of_sgd(const PtDict& group, const PtDict& state = {}) {
  PtDict whole = group;
  whole.items.push_back({"params", PtList{{4}}});
  return PtDict{{{"state", state}, {"param_groups", PtList{{whole}}}}};
}

class SgdState : public ::testing::Test {
 protected:
  void refused(const PtValue& dict, const std::string& why) {
    EXPECT_ERROR(load_optimizer_state_dict(*optimizer, dict), ErrorCode::kInvalidArgument, "SGD", why);
    EXPECT_EQ(optimizer->get_option(0, "lr").toDouble(), 0.1);
    EXPECT_EQ(optimizer->get_option(0, "momentum").toDouble(), 0.5);
  }

  const at::Tensor parameter = counted({2}).requires_grad_();
  const std::unique_ptr<Optimizer> optimizer =
      make_optimizer("SGD", std::vector<at::Tensor>{parameter}, {{"lr", 0.1}, {"momentum", 0.5}, {"nesterov", true}});
};

TEST_F(SgdState, TakesItsOwnNumbersAndIgnoresHowToCompute) {
  const PtDict group{
      {{"lr", counted({1}) + 0.25}, {"momentum", 0}, {"nesterov", false}, {"foreach", {}}, {"fused", true}}};
  const PtDict state{{{4, PtDict{{{"momentum_buffer", counted({2}) + 5}}}}}};
  load_optimizer_state_dict(*optimizer, of_sgd(group, state));
  EXPECT_EQ(optimizer->get_option(0, "lr").toDouble(), 0.25);
  EXPECT_FALSE(optimizer->get_option(0, "nesterov").toBool());
  ASSERT_EQ(optimizer->state().size(), 1u);
  EXPECT_EQ(optimizer->state()[0].first, "0.momentum_buffer");
  EXPECT_TRUE(optimizer->state()[0].second.equal(counted({2}) + 5));
  // PyTorch before 1.13 had None for a buffer that is not there yet.
  load_optimizer_state_dict(*optimizer, of_sgd({}, {{{4, PtDict{{{"momentum_buffer", {}}}}}}}));
  EXPECT_TRUE(optimizer->state().empty());
}

TEST_F(SgdState, RefusesWhatIsNotItsOwn) {
  const auto buffer = [](const PtValue& value) { return PtDict{{{4, PtDict{{{"momentum_buffer", value}}}}}}; };
  refused(3, "no 'state'");
  refused(PtDict{{{"state", PtDict{}}}}, "no 'param_groups'");
  refused(PtDict{{{"state", PtList{}}, {"param_groups", PtList{}}}}, "'state' is no dict");
  refused(PtDict{{{"state", PtDict{}}, {"param_groups", PtList{}}}}, "0 groups of parameters, and the optimizer 1");
  refused(PtDict{{{"state", PtDict{}}, {"param_groups", PtList{{PtDict{{{"params", PtList{}}}}}}}}},
          "0 parameters, and the optimizer's has 1");
  refused(of_sgd({{{"lr", 0.7}, {"betas", PtTuple{{0.9, 0.99}}}}}), "has 'betas', which it does not know; it has lr");
  refused(of_sgd({{{"lr", 0.7}, {"momentum", -1.0}}}), "'momentum' is -1");
  refused(of_sgd({{{"lr", 0.7}}}, PtDict{{{5, PtDict{}}}}), "'state' has 5, which is of no parameter");
  refused(of_sgd({{{"lr", 0.7}}}, buffer(counted({3}))), "0.momentum_buffer");
  refused(of_sgd({{{"lr", 0.7}}}, buffer("text")), "neither a tensor nor a number");
  refused(of_sgd({{{"lr", 0.7}}}, PtDict{{{4, PtDict{{{"exp_avg", counted({2})}}}}}}), "exp_avg");
}

// For `reference.py check`.
TEST(OptimizerStateDict, FilesForPython) {
  const char* const folder = std::getenv("TANDEM_PT_FOLDER");
  if (!folder) GTEST_SKIP() << "no TANDEM_PT_FOLDER to write to";
  PtDict all;
  const PtValue python = load_pt(python_file("optimizers.pt"));
  for (const PtItem& item : as<PtDict>(python).items) {
    const Trained trained(as<std::string>(item.key), tensors_in(item.value.at("before")));
    load_optimizer_state_dict(*trained.optimizer, item.value.at("state_dict"));
    const auto list = [&] {
      PtList made;
      for (const at::Tensor& one : trained.parameters) made.items.emplace_back(one.detach().clone());
      return made;
    };
    const test::TempDir dir;
    PtDict made{{{"before", list()}}};
    save_pt(dir / "state.pt", optimizer_state_dict(*trained.optimizer));
    made.items.push_back({"state_dict", load_pt(dir / "state.pt", {.copy = true})});
    trained.step(tensors_in(item.value.at("gradients")));
    made.items.push_back({"after", list()});
    all.items.push_back({item.key, std::move(made)});
  }
  save_pt(std::string(folder) + "/optimizers.pt", all);
  PtDict lbfgs;
  const PtValue states = load_pt(python_file("lbfgs.pt"));
  for (const PtItem& item : as<PtDict>(states).items) {
    const Lbfgs trained(item.value);
    load_optimizer_state_dict(*trained.optimizer, item.value.at("state_dict"));
    const test::TempDir dir;
    save_pt(dir / "state.pt", optimizer_state_dict(*trained.optimizer));
    PtDict made{{{"search", item.value.at("search")}, {"before", item.value.at("before")}}};
    made.items.push_back({"state_dict", load_pt(dir / "state.pt", {.copy = true})});
    trained.step();
    PtList after;
    for (const at::Tensor& one : trained.parameters) after.items.emplace_back(one.detach().clone());
    made.items.push_back({"after", std::move(after)});
    lbfgs.items.push_back({item.key, std::move(made)});
  }
  save_pt(std::string(folder) + "/lbfgs.pt", lbfgs);
}

}  // namespace
}  // namespace tandem::testing::optimizer_state_dict_test
