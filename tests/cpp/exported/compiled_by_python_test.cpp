// Packages that AOTInductor itself made give what Python's programs gave: run by compile_with_python.py.
#include <ATen/record_function.h>

#include <cstdlib>

#include "cpp/exported/programs.h"
#include "tandem/error.h"

namespace tandem::testing {
namespace {

std::string package(const std::string& name) {
  const char* folder = std::getenv("COMPILED_PACKAGES");
  return folder ? std::string(folder) + "/" + name + ".pt2" : "";
}

thread_local int operators_called = 0;

std::unique_ptr<at::ObserverContext> count_operator(const at::RecordFunction&) {
  ++operators_called;
  return nullptr;
}

Values run_counting(ExportedProgram& program, const Values& inputs, int* operators) {
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(count_operator).scopes({at::RecordScope::FUNCTION}));
  operators_called = 0;
  Values outputs = program.forward(inputs);
  *operators = operators_called;
  at::removeCallback(handle);
  return outputs;
}

class CompiledByPython : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (package("").empty()) GTEST_SKIP() << "run by compile_with_python.py, where Python has torch";
  }
};

TEST_P(CompiledByPython, GivesPythonsOutputsAndState) {
  const std::string& name = GetParam();
  const auto& reference = references()[name];
  const std::string base = name.substr(0, name.find("_eval"));
  const auto program = ExportedProgram::load(archive(name), {.compiled = package(name)});
  const at::NoGradGuard no_grad;
  int compiled = 0, by_graph = 0;
  const Values inputs = example(base);
  expect_values(run_counting(*program, inputs, &compiled), reference["outputs"], name);
  expect_values(program->forward(inputs), reference["again"], name + " again");
  for (const auto& [key, digest] : reference["state"].items()) {
    expect_digest(state_of(*program).at(key), digest, 1e-12, name + ": " + key);
  }
  run_counting(*ExportedProgram::load(archive(name)), example(base), &by_graph);
  EXPECT_LT(compiled, by_graph);
  // Other weights and sizes.
  for (at::Tensor& parameter : program->get().parameters()) parameter.mul_(1.25);
  for (at::Tensor& buffer : program->get().buffers()) {
    if (buffer.is_floating_point()) buffer.add_(0.25);
  }
  const auto graph = ExportedProgram::load(archive(name));
  const auto wanted = state_of(*program);
  for (auto& [key, tensor] : state_of(*graph)) tensor.copy_(wanted.at(key));
  const auto inputs_now = [&] { return base == "regions" || base == "functional" ? example(base) : batch_of(base, 0, 1); };
  const Values given = leaves(program->forward(inputs_now())), expected = leaves(graph->forward(inputs_now()));
  ASSERT_EQ(given.size(), expected.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].isTensor()) continue;
    const at::Tensor &one = given[i].toTensor(), &other = expected[i].toTensor();
    const double tolerance = one.scalar_type() == at::kBFloat16 ? 1e-2 : 1e-9;
    EXPECT_TRUE(torch::allclose(one, other, tolerance, tolerance)) << name << ", output " << i;
  }
  // Inputs of other strides.
  Values transposed;
  for (const at::IValue& input : inputs_now()) {
    const bool turns = input.isTensor() && input.toTensor().dim() >= 2;
    transposed.push_back(turns ? input.toTensor().transpose(0, 1).contiguous().transpose(0, 1) : input);
  }
  const Values again = leaves(program->forward(transposed)), same = leaves(graph->forward(inputs_now()));
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (!again[i].isTensor()) continue;
    const at::Tensor &one = again[i].toTensor(), &other = same[i].toTensor();
    const double tolerance = one.scalar_type() == at::kBFloat16 ? 1e-2 : 1e-9;
    EXPECT_TRUE(torch::allclose(one, other, tolerance, tolerance)) << name << ", other strides, output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, CompiledByPython,
                         ::testing::Values("resnet18", "transformer_eval", "cnn", "functional", "decoder_eval", "regions"));

TEST(CompiledByPythonInTraining, IsNotTakenForEvaluation) {
  if (package("").empty()) GTEST_SKIP() << "run by compile_with_python.py, where Python has torch";
  const auto program =
      ExportedProgram::load(archive("cnn"), {.other_mode = archive("cnn_eval"), .compiled = package("cnn")});
  program->get().eval();
  const at::NoGradGuard no_grad;
  expect_values(program->forward(example("cnn")), references()["cnn_eval"]["outputs"], "evaluation");
  for (const auto& [key, digest] : references()["cnn_eval"]["state"].items()) {
    expect_digest(state_of(*program).at(key), digest, 1e-12, key);
  }
  program->get().train();
  int compiled = 0, by_graph = 0;
  expect_values(run_counting(*program, example("cnn"), &compiled), references()["cnn"]["outputs"], "training");
  run_counting(*ExportedProgram::load(archive("cnn")), example("cnn"), &by_graph);
  EXPECT_LT(compiled, by_graph);
}

TEST(CompiledByPythonAndGone, LeavesNoWeightsBehind) {
  if (package("").empty()) GTEST_SKIP() << "run by compile_with_python.py, where Python has torch";
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> weights;
  {
    const at::NoGradGuard no_grad;
    const auto program = ExportedProgram::load(archive("resnet18"), {.compiled = package("resnet18")});
    program->forward(example("resnet18"));
    for (const at::Tensor& parameter : program->get().parameters()) {
      weights.emplace_back(parameter.storage().getWeakStorageImpl());
    }
    program->forward(example("resnet18"));
    program->get().parameters()[0].set_data(program->get().parameters()[0].clone());
    program->forward(example("resnet18"));
  }
  ASSERT_GT(weights.size(), 10u);
  for (const auto& weight : weights) EXPECT_TRUE(weight.expired());
}

TEST(CompiledByPythonInPlace, IsSeenByAutogradAndSharesNoMemory) {
  if (package("").empty()) GTEST_SKIP() << "run by compile_with_python.py, where Python has torch";
  const auto program = ExportedProgram::load(archive("functional"), {.compiled = package("functional")});
  const auto graph = ExportedProgram::load(archive("functional"));
  const at::NoGradGuard no_grad;
  // It doubles its second input.
  const at::Tensor one = pattern({4, 3}, 1), other = pattern({4, 3}, 1);
  const at::Tensor given = program->forward({one, one})[0].toTensor(), wanted = graph->forward({other, other})[0].toTensor();
  EXPECT_TRUE(torch::allclose(given, wanted, 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(one, other, 1e-12, 1e-12));
  const at::Tensor y = pattern({4, 3}, 2), mean = program->get().named_buffers()["norm.running_mean"];
  const auto before = y._version(), before_mean = mean._version();
  int compiled = 0, by_graph = 0;
  run_counting(*program, {one, y}, &compiled);
  run_counting(*graph, {other, pattern({4, 3}, 2)}, &by_graph);
  EXPECT_LT(compiled, by_graph);
  EXPECT_GT(y._version(), before);
  EXPECT_GT(mean._version(), before_mean);
}

TEST(CompiledByPythonsDefaults, HaveWeightsInTheirCode) {
  if (package("").empty()) GTEST_SKIP() << "run by compile_with_python.py, where Python has torch";
  try {
    ExportedProgram::load(archive("mlp_eval"), {.compiled = package("mlp_eval")});
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("may have values of weights in its code"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tandem::testing
