// A module of Python's as a torch::nn module.
#include <nlohmann/json.hpp>

#include <fstream>
#include <thread>

#include "cpp/jit/files.h"
#include "tandem/runtime.h"

namespace tandem::testing::jit_module_test {
namespace {

using test::expect_close;
using test::jit_expected;
using test::jit_file;
using ::testing::ElementsAre;

at::Tensor first_input() {
  return jit_expected("inputs")[0][0];
}

std::vector<std::string> keys(const torch::OrderedDict<std::string, at::Tensor>& dict) {
  return dict.keys();
}

TEST(ScriptModule, GivesWhatPythonGives) {
  const at::NoGradGuard no_grad;
  for (const char* name : {"mlp", "norm", "tied"}) {
    const auto module = jit::load(jit_file(std::string(name) + ".pt"));
    module->eval();
    expect_close(module->forward(first_input()).toTensor(), jit_expected(std::string(name) + ".eval"), name);
    module->train();
    expect_close(module->forward(first_input()).toTensor(), jit_expected(std::string(name) + ".train"), name);
  }
  expect_close(jit::load(jit_file("traced.pt"))->forward(first_input()).toTensor(), jit_expected("mlp.eval"));
}

TEST(ScriptModule, NamesAreThoseOfPython) {
  const auto module = jit::load(jit_file("buffers.pt"));
  const auto names = nlohmann::json::parse(std::ifstream(jit_file("buffers.json")));
  EXPECT_EQ(keys(module->named_parameters()), names["parameters"].get<std::vector<std::string>>());
  EXPECT_EQ(keys(module->named_buffers()), names["buffers"].get<std::vector<std::string>>());
  EXPECT_TRUE(module->named_parameters()["same.weight"].is_same(module->named_parameters()["inner.one.weight"]));
  expect_close(module->forward(at::ones({1, 2}, at::kDouble)).toTensor().detach(), jit_expected("buffers.eval"));
}

TEST(ScriptModule, TrainReachesTheScript) {
  const auto module = jit::load(jit_file("norm.pt"));
  const auto norm = std::dynamic_pointer_cast<jit::ScriptModule>(module->named_children()["norm"]);
  ASSERT_TRUE(norm);
  EXPECT_TRUE(module->is_training() && norm->is_training());
  module->eval();
  EXPECT_FALSE(module->is_training() || norm->is_training());
  const at::Tensor mean = module->named_buffers()["norm.running_mean"], before = mean.clone();
  module->forward(first_input());
  expect_close(mean, before);
  module->train();
  module->forward(first_input());
  EXPECT_FALSE(at::equal(mean, before));
}

TEST(ScriptModule, BuffersThatAMethodAssignsStayTheSameTensor) {
  const auto module = jit::load(jit_file("norm.pt"));
  const at::Tensor calls = module->named_buffers()["calls"];
  for (int i = 1; i <= 3; ++i) {
    module->forward(first_input());
    EXPECT_EQ(calls.item<std::int64_t>(), i);
  }
  {
    const c10::InferenceMode inference;
    module->eval();
    module->forward(first_input());
  }
  EXPECT_EQ(calls.item<std::int64_t>(), 4);
  calls.zero_();  // no inference tensor
  module->forward(first_input());
  EXPECT_EQ(calls.item<std::int64_t>(), 1);
}

// In the order of the buffers: the script's own, and what those who have them see.
at::Tensor buffers_of(const jit::ScriptModule& module) {
  const auto buffers = module.named_buffers();
  return at::stack({buffers["last"], buffers["older"], buffers["scale"]});
}

class Assigning : public ::testing::TestWithParam<std::string> {};

TEST_P(Assigning, GivesAndLeavesWhatPythonDoes) {
  const auto module = jit::load(jit_file("assigning.pt"));
  const auto buffers = module->named_buffers();
  buffers["last"].fill_(5);
  buffers["older"].fill_(7);
  std::vector<at::Tensor> given, left;
  for (const double x : {1.0, 2.0, 3.0}) {
    given.push_back(module->call(GetParam(), {at::scalar_tensor(x, at::kDouble)}).toTensor());
    left.push_back(buffers_of(*module));
    EXPECT_TRUE(module->named_buffers()["last"].is_same(buffers["last"]));
  }
  // Given tensors are looked at after the last call: none may have become another's value.
  expect_close(at::stack(given).detach(), jit_expected("assigning." + GetParam()));
  expect_close(at::stack(left), jit_expected("assigning." + GetParam() + ".buffers"));
  if (GetParam() != "scaled") return;
  given[0].backward();
  expect_close(module->named_parameters()["weight"].grad(), jit_expected("assigning.scaled.gradient"));
}

INSTANTIATE_TEST_SUITE_P(Methods, Assigning, ::testing::Values("forward", "exchange", "shift", "scaled"));

TEST(ScriptModule, KeepsWhatAMethodAssignedBeforeItFailed) {
  const auto module = jit::load(jit_file("assigning.pt"));
  const at::Tensor last = module->named_buffers()["last"], good = at::ones({}, at::kDouble);
  EXPECT_ERROR(module->call("count", {-good}), ErrorCode::kInvalidArgument, "an element is negative");
  EXPECT_EQ(last.item<double>(), 1);
  last.fill_(100);  // as a checkpoint that is loaded does
  EXPECT_EQ(module->call("count", {good}).toTensor().item<double>(), 101);
  EXPECT_EQ(last.item<double>(), 101);
}

TEST(ScriptModule, SeesTensorsThatWereLoadedOrMoved) {
  const auto module = jit::load(jit_file("mlp.pt"));
  {
    const at::NoGradGuard no_grad;
    for (const auto& parameter : module->parameters()) parameter.zero_();
    module->named_parameters()["layers.2.bias"].fill_(3);
  }
  EXPECT_TRUE(at::equal(module->forward(first_input()).toTensor(), at::full({3, 3}, 3, at::kDouble)));
  module->to(at::kFloat);
  const at::Tensor output = module->forward(first_input().to(at::kFloat)).toTensor();
  EXPECT_TRUE(at::equal(output, at::full({3, 3}, 3, at::kFloat)));
  const auto norm = jit::load(jit_file("norm.pt"));
  norm->to(at::kFloat);
  EXPECT_EQ(norm->forward(first_input().to(at::kFloat)).toTensor().scalar_type(), at::kFloat);
}

TEST(ScriptModule, TiedParametersAreOne) {
  const auto module = jit::load(jit_file("tied.pt"));
  const auto parameters = module->named_parameters();
  EXPECT_TRUE(parameters["first.weight"].is_same(parameters["second.weight"]));
  const auto again = jit::load_bytes([&] {
    static std::string bytes;
    bytes = module->save_bytes();
    return std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }());
  EXPECT_TRUE(again->named_parameters()["first.weight"].is_same(again->named_parameters()["second.weight"]));
  const auto copy = module->clone();
  EXPECT_TRUE(copy->named_parameters()["first.weight"].is_same(copy->named_parameters()["second.weight"]));
}

TEST(ScriptModule, FrozenModulesHaveNoParameters) {
  const auto module = jit::load(jit_file("frozen.pt"));
  EXPECT_TRUE(module->parameters().empty());
  expect_close(module->forward(first_input()).toTensor(), jit_expected("norm.eval"));
  module->train();  // changes nothing
  expect_close(module->forward(first_input()).toTensor(), jit_expected("norm.eval"));
}

TEST(ScriptModule, AClonesTensorsAreItsOwn) {
  const auto module = jit::load(jit_file("norm.pt"));
  module->parameters()[0].set_requires_grad(false);
  const auto copy = std::dynamic_pointer_cast<jit::ScriptModule>(module->clone());
  ASSERT_TRUE(copy);
  EXPECT_EQ(keys(copy->named_parameters()), keys(module->named_parameters()));
  const auto parameters = copy->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_TRUE(parameters[i].is_leaf());
    EXPECT_EQ(parameters[i].requires_grad(), i != 0);
  }
  copy->forward(first_input()).toTensor().sum().backward();
  EXPECT_TRUE(parameters[1].grad().defined());
  EXPECT_FALSE(module->parameters()[1].grad().defined());
  EXPECT_EQ(module->named_buffers()["calls"].item<std::int64_t>(), 0);
  EXPECT_EQ(copy->named_buffers()["calls"].item<std::int64_t>(), 1);
}

TEST(ScriptModule, ThreadsCallOneModule) {
  const auto module = jit::load(jit_file("mlp.pt"));
  module->eval();
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (std::size_t i = 0; i < good.size(); ++i) {
    threads.emplace_back([&, i] {
      const at::NoGradGuard no_grad;
      for (int call = 0; call < 50; ++call) {
        good[i] += at::allclose(module->forward(first_input()).toTensor(), jit_expected("mlp.eval"), 1e-10, 1e-12);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(good, ::testing::Each(50));
}

TEST(ScriptModule, IsSavedWhole) {
  const test::TempDir dir;
  const auto module = jit::load(jit_file("norm.pt"));
  for (int i = 0; i < 3; ++i) module->forward(first_input());
  module->eval();
  module->save(dir / "again.pt");
  EXPECT_THAT(dir.names(), ElementsAre("again.pt"));
  const auto again = jit::load(dir / "again.pt");
  EXPECT_FALSE(again->is_training());
  EXPECT_EQ(again->named_buffers()["calls"].item<std::int64_t>(), 3);
  expect_close(again->forward(first_input()).toTensor(), module->forward(first_input()).toTensor());
  EXPECT_ERROR(module->save(dir / "missing/a.pt"), ErrorCode::kNotFound, "missing/a.pt");
}

}  // namespace
}  // namespace tandem::testing::jit_module_test
