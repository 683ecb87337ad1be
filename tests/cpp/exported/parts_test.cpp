// A program in parts computes, and trains, what the whole one does.
#include <gmock/gmock.h>

#include <set>

#include "cpp/data/expect_error.h"
#include "cpp/exported/archives.h"
#include "cpp/exported/programs.h"
#include "support/temporary_folder.h"

namespace tandem::testing::exported_parts_test {
namespace {

// Through the parts, each cut off from the graph of the one before, and back.
at::Tensor through(const std::vector<std::unique_ptr<nn::Module>>& parts, const Values& inputs, const at::Tensor& wanted) {
  std::vector<std::vector<at::Tensor>> given, made;
  Values values = inputs;
  for (const auto& part : parts) {
    std::vector<at::Tensor> leaves;
    for (at::IValue& value : values) {
      at::Tensor tensor = value.toTensor();
      if (tensor.defined() && !given.empty() && tensor.requires_grad()) {
        tensor = tensor.detach().requires_grad_(true);
      }
      leaves.push_back(tensor);
      // What a stage is given, another part has another copy of.
      value = tensor.defined() ? at::IValue(tensor.clone()) : at::IValue(tensor);
    }
    given.push_back(leaves);
    values = part->forward(values);
    made.emplace_back();
    for (const at::IValue& value : values) made.back().push_back(value.toTensor());
  }
  const at::Tensor output = made.back().front();
  at::Tensor loss = (output - wanted).square().mean();
  loss.backward();
  for (std::size_t i = parts.size() - 1; i-- > 0;) {
    std::vector<at::Tensor> roots, gradients;
    for (std::size_t k = 0; k < made[i].size(); ++k) {
      const at::Tensor& leaf = given[i + 1][k];
      if (!leaf.defined() || !leaf.requires_grad() || !leaf.grad().defined()) continue;
      roots.push_back(made[i][k]);
      gradients.push_back(leaf.grad());
    }
    if (!roots.empty()) torch::autograd::backward(roots, gradients);
  }
  return output.detach();
}

class Parts : public ::testing::TestWithParam<std::string> {};

TEST_P(Parts, ComputeWhatTheWholeProgramDoes) {
  const std::string& name = GetParam();
  const auto whole = ExportedProgram::load(archive(name)), cut = ExportedProgram::load(archive(name));
  // In two or a few, and wherever it can be.
  std::size_t before = 0;
  for (const std::size_t least : {2, 100000}) {
    const auto parts = cut->parts(least);
    EXPECT_GE(parts.size(), std::min<std::size_t>(least, 5));
    EXPECT_GE(parts.size(), before);
    before = parts.size();
    const Values inputs = example(name);
    at::Tensor output = whole->forward(inputs)[0].toTensor();
    const at::Tensor wanted = pattern(output.sizes(), 5).to(output.scalar_type());
    (output - wanted).square().mean().backward();
    EXPECT_TRUE(through(parts, inputs, wanted).allclose(output.detach(), 0, 1e-12)) << least;
    // All of the state is in some part, and what forward changes was changed alike.
    const auto state = state_of(*whole);
    std::set<std::string> seen;
    for (const auto& part : parts) {
      for (const auto& item : part->get().named_parameters()) {
        seen.insert(item.key());
        const at::Tensor gradient = whole->get().named_parameters()[item.key()].grad();
        ASSERT_EQ(gradient.defined(), item.value().grad().defined()) << item.key();
        EXPECT_TRUE(!gradient.defined() || item.value().grad().allclose(gradient, 1e-9, 1e-12)) << item.key();
      }
      for (const auto& item : part->get().named_buffers()) {
        seen.insert(item.key());
        EXPECT_TRUE(item.value().allclose(state.at(item.key()), 0, 1e-12)) << item.key();
      }
    }
    for (const auto& item : whole->get().named_parameters()) EXPECT_TRUE(seen.contains(item.key())) << item.key();
    for (const auto& item : whole->get().named_buffers()) EXPECT_TRUE(seen.contains(item.key())) << item.key();
    for (const ExportedProgram* one : {whole.get(), cut.get()}) {
      for (at::Tensor parameter : one->get().parameters()) parameter.mutable_grad() = at::Tensor();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Parts, ::testing::Values("mlp", "cnn", "transformer", "resnet18"));

TEST(ExportedParts, OfProgramsThatHaveNone) {
  EXPECT_ERROR(ExportedProgram::load(archive("cnn"), {.other_mode = archive("cnn_eval")})->parts(2), ErrorCode::kUnsupported,
               "archive of the other mode");
  EXPECT_ERROR(ExportedProgram::load(archive("functional"))->parts(2), ErrorCode::kUnsupported, "changes its input");
  const auto parts = ExportedProgram::load(archive("mlp"))->parts(2);
  EXPECT_ERROR(parts.back()->forward({}), ErrorCode::kInvalidArgument, "takes 1 tensors of the part before it, not 0");
  EXPECT_ERROR(parts.front()->clone(), ErrorCode::kUnsupported, "is not copied");
}

// The last stage's loss trains what the program gives of its own, and so is that a parameter of the last part: on two ranks
// each has a part of the gradient, which pipelines add.
TEST(ExportedParts, TheLastHasWhatTheProgramGives) {
  const TemporaryFolder folder;
  rewrite_json(archive("mlp"), folder / "mlp.pt2", "models/model.json", [](nlohmann::json& model) {
    nlohmann::json& module = model["graph_module"];
    const nlohmann::json bias = {{"as_tensor", {{"name", "p_layers_0_bias"}}}};
    module["graph"]["outputs"].push_back(bias);
    module["signature"]["output_specs"].push_back({{"user_output", {{"arg", bias}}}});
    nlohmann::json spec = nlohmann::json::parse(module["module_call_graph"][0]["signature"]["out_spec"].get<std::string>());
    spec[1] = {{"type", "builtins.tuple"}, {"context", "null"}, {"children_spec", {spec[1], spec[1]}}};
    module["module_call_graph"][0]["signature"]["out_spec"] = spec.dump();
  });
  const auto whole = ExportedProgram::load(folder / "mlp.pt2");
  const auto loss_of = [](const at::Tensor& output, const at::Tensor& bias) {
    return output.square().mean() + bias.square().sum();
  };
  const std::string name = "layers.0.bias";
  const auto outputs = whole->forward(example("mlp"));
  loss_of(outputs[0].toTensor(), outputs[1].toTensor()).backward();
  const auto ranks = {ExportedProgram::load(folder / "mlp.pt2"), ExportedProgram::load(folder / "mlp.pt2")};
  const auto first = (*ranks.begin())->parts(2), last = (*std::next(ranks.begin()))->parts(2);
  EXPECT_TRUE(first[0]->get().named_parameters().contains(name));
  EXPECT_FALSE(last[1]->get().named_parameters().contains(name));
  ASSERT_TRUE(last.back()->get().named_parameters().contains(name));
  Values values = example("mlp");
  for (std::size_t i = 0; i + 1 < first.size(); ++i) values = first[i]->forward(values);
  const at::Tensor crossing = values[0].toTensor(), leaf = crossing.detach().requires_grad_(true);
  values = last.back()->forward({leaf});
  loss_of(values[0].toTensor(), values[1].toTensor()).backward();
  crossing.backward(leaf.grad());
  const at::Tensor sum = first[0]->get().named_parameters()[name].grad() + last.back()->get().named_parameters()[name].grad();
  EXPECT_TRUE(sum.allclose(whole->get().named_parameters()[name].grad(), 1e-9, 1e-12));
}

// Statistics that a norm changes as it trains are in one part, though its schema does not say that it changes them.
TEST(ExportedParts, ANormThatIsCalledTwiceIsInOne) {
  const TemporaryFolder folder;
  rewrite_json(archive("cnn"), folder / "cnn.pt2", "models/model.json", [](nlohmann::json& model) {
    nlohmann::json& graph = model["graph_module"]["graph"];
    nlohmann::json& nodes = graph["nodes"];
    nlohmann::json again = nodes[2];
    again["inputs"][0]["arg"]["as_tensor"]["name"] = "batch_norm";
    again["outputs"][0]["as_tensor"]["name"] = "again";
    nodes[3]["inputs"][0]["arg"]["as_tensor"]["name"] = "again";
    nodes.insert(nodes.begin() + 3, again);
    graph["tensor_values"]["again"] = graph["tensor_values"]["batch_norm"];
  });
  for (const char* name : {"norm.running_mean", "norm.running_var"}) {
    int parts = 0;
    for (const auto& part : ExportedProgram::load(folder / "cnn.pt2")->parts(100)) {
      parts += part->get().named_buffers().contains(name);
    }
    EXPECT_EQ(parts, 1) << name;
  }
}

}  // namespace
}  // namespace tandem::testing::exported_parts_test
