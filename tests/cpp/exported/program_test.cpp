// Exported programs give what Python's give, are trained as Python's are, and are saved for Python.
#include <dlfcn.h>

#include <cstdlib>
#include <set>

#include "cpp/comm/threads.h"
#include "cpp/data/expect_error.h"
#include "cpp/exported/archives.h"
#include "cpp/exported/programs.h"
#include "support/rank_processes.h"
#include "support/temporary_folder.h"
#include "tandem/ddp.h"
#include "tandem/optim.h"

namespace tandem::testing {
namespace {

constexpr int kRanks = 2, kSteps = 20;

class Archives : public ::testing::TestWithParam<std::string> {};

TEST_P(Archives, GivePythonsOutputsAndState) {
  const std::string& name = GetParam();
  const auto& reference = references()[name];
  const auto program = ExportedProgram::load(archive(name));
  program->to(test_device(), std::nullopt);
  const std::string base = name.substr(0, name.find("_eval"));
  const Values inputs = on_device(example(base));  // which a program may change
  expect_values(program->forward(inputs), reference["outputs"], name);
  expect_values(program->forward(inputs), reference["again"], name + " again");
  const auto state = state_of(*program);
  ASSERT_EQ(state.size(), reference["state"].size());
  for (const auto& [key, digest] : reference["state"].items()) {
    ASSERT_TRUE(state.count(key)) << key;
    expect_digest(state.at(key), digest, 1e-12, name + ": " + key);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Archives,
                         ::testing::Values("mlp", "mlp_eval", "cnn", "cnn_eval", "lstm", "lstm_eval", "transformer",
                                           "transformer_eval", "resnet18", "decoder", "decoder_eval", "regions",
                                           "functional", "sizes"));

TEST(CustomOperators, AreThereOnceTheirLibraryIs) {
  EXPECT_ERROR(ExportedProgram::load(archive("custom")), ErrorCode::kUnsupported, "tandem_test.scaled", "load the library");
  ASSERT_NE(dlopen(EXTENSION, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  expect_values(ExportedProgram::load(archive("custom"))->forward(example("custom")), references()["custom"]["outputs"],
                "custom");
}

at::Tensor first_of(const Values& outputs) {
  return outputs[0].isTensor() ? outputs[0].toTensor() : outputs[0].toGenericDict().at("logits").toTensor();
}

class Trained : public ::testing::TestWithParam<std::string> {};

TEST_P(Trained, EqualsPythonsDistributedDataParallel) {
  const std::string& name = GetParam();
  const char* save_to = std::getenv("EXPORTED_ARCHIVES");
  if (ran_in_processes(kRanks)) return;
  run_ranks_of_test(kRanks, [&](const std::shared_ptr<ProcessGroup>& group) {
    const auto program = ExportedProgram::load(archive(name));
    program->to(test_device(), std::nullopt);
    torch::nn::Module& module = program->get();
    module.train();
    std::vector<std::string> names;
    std::vector<at::Tensor> parameters;
    for (const auto& item : module.named_parameters()) {
      names.push_back(item.key());
      parameters.push_back(item.value());
    }
    DataParallelReducer ddp(group, parameters, names, module.buffers());
    const auto sgd = optim::make_optimizer("SGD", parameters, {{"lr", 0.05}, {"momentum", 0.9}});
    for (int step = 0; step < kSteps; ++step) {
      ddp.prepare_forward(module.is_training());
      std::vector<at::Tensor> outputs = {first_of(program->forward(on_device(batch_of(name, group->rank(), step))))};
      ddp.prepare_backward(outputs);
      sgd->zero_grad();
      (outputs[0] - on_device(pattern(outputs[0].sizes(), 500 + step))).square().mean().backward();
      sgd->step();
    }
    if (group->rank() != 0) return;
    const auto state = state_of(*program);
    for (const auto& [key, digest] : references()[name]["trained"].items()) {
      ASSERT_TRUE(state.count(key)) << key;
      expect_digest(state.at(key), digest, 1e-9, name + ": " + key);
    }
    if (save_to) program->save(std::string(save_to) + "/" + name + ".pt2");
  });
}

INSTANTIATE_TEST_SUITE_P(All, Trained,
                         ::testing::Values("mlp", "cnn", "lstm", "transformer", "resnet18", "decoder"));

TEST(Modes, ChangeBetweenTwoArchivesOfOneModel) {
  const auto program = ExportedProgram::load(archive("cnn"), {.other_mode = archive("cnn_eval")});
  EXPECT_EQ(program->mode(), ExportedMode::kTraining);
  EXPECT_TRUE(program->get().is_training());
  const at::Tensor mean = program->get().named_buffers()["norm.running_mean"];
  program->get().train(false);
  EXPECT_EQ(program->mode(), ExportedMode::kEvaluation);
  expect_values(program->forward(example("cnn")), references()["cnn_eval"]["outputs"], "evaluation");
  EXPECT_EQ(mean.abs().sum().item<double>(), 0);
  program->get().train();
  expect_values(program->forward(example("cnn")), references()["cnn"]["outputs"], "training");
  EXPECT_NE(mean.abs().sum().item<double>(), 0);
  // What training has changed, evaluation sees.
  program->get().train(false);
  const at::Tensor after = program->forward(example("cnn"))[0].toTensor();
  EXPECT_FALSE(at::allclose(after, ExportedProgram::load(archive("cnn_eval"))->forward(example("cnn"))[0].toTensor()));
}

TEST(Modes, ThatAnArchiveDoesNotHaveAreErrors) {
  const auto trains = ExportedProgram::load(archive("cnn"));
  trains->get().train();
  const Error error = error_of([&] { trains->get().train(false); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_NE(std::string(error.what()).find("cnn.pt2 was exported in training mode"), std::string::npos) << error.what();
  EXPECT_TRUE(trains->get().is_training());
  const auto evaluates = ExportedProgram::load(archive("cnn_eval"));
  EXPECT_FALSE(evaluates->get().is_training());
  EXPECT_EQ(error_of([&] { evaluates->get().train(); }).code(), ErrorCode::kUnsupported);
  const auto either = ExportedProgram::load(archive("mlp"));
  either->get().train(false);
  either->get().train();
}

// Graphs of dropout by other means, or of none, have no flag of it: the first is the one that trains.
TEST(Modes, ChangeWhereGraphsDoNotTell) {
  const TemporaryFolder folder;
  rewrite_json(archive("mlp_eval"), folder / "eval.pt2", "models/model.json", [](nlohmann::json& model) {
    model["graph_module"]["graph"]["nodes"][1]["target"] = "torch.ops.aten.tanh.default";
  });
  const auto program = ExportedProgram::load(archive("mlp"), {.other_mode = folder / "eval.pt2"});
  const auto first = [&] { return program->forward(example("mlp"))[0].toTensor(); };
  const at::Tensor trains = first();
  program->get().train(false);
  EXPECT_FALSE(at::allclose(first(), trains));
  program->get().train();
  EXPECT_TRUE(at::equal(first(), trains));
  EXPECT_EQ(error_of([] { ExportedProgram::load(archive("cnn"), {.other_mode = archive("cnn")}); }).code(),
            ErrorCode::kInvalidArgument);
}

TEST(Sizes, AreComputedAsPythonDoes) {
  const TemporaryFolder folder;
  const std::map<std::string, std::int64_t> wanted = {{"and_", 4 & 2}, {"or_", 4 | 2}, {"lshift", 4 << 2},
                                                      {"rshift", 4 >> 2}, {"mod", 4 % 2}, {"pow", 16}};
  for (const auto& [name, result] : wanted) {
    rewrite_json(archive("regions"), folder / "sizes.pt2", "models/model.json", [&](nlohmann::json& model) {
      for (auto& node : model["graph_module"]["graph"]["nodes"]) {
        if (node["target"] == "_operator.floordiv") node["target"] = "_operator." + name;
      }
    });
    const auto outputs = ExportedProgram::load(folder / "sizes.pt2")->forward(example("regions"));
    EXPECT_EQ(outputs[2].toInt(), result + 3) << name;
  }
}

TEST(Modes, OfTwoModelsAreRefused) {
  const Error error = error_of([] { ExportedProgram::load(archive("cnn"), {.other_mode = archive("mlp_eval")}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(std::string(error.what()).find("it has no 'conv.bias'"), std::string::npos) << error.what();
}

TEST(Tied, ParametersAreOneUnderTwoNames) {
  const auto program = ExportedProgram::load(archive("decoder"));
  const auto& tied = program->tied();
  ASSERT_EQ(tied.size(), 1u);
  const auto parameters = program->get().named_parameters();
  EXPECT_EQ(parameters.find(tied[0].first), nullptr);
  ASSERT_NE(parameters.find(tied[0].second), nullptr);
  EXPECT_EQ((std::set<std::string>{tied[0].first, tied[0].second}),
            (std::set<std::string>{"lm_head.weight", "model.embed_tokens.weight"}));
}

TEST(Copies, HaveTensorsOfTheirOwn) {
  const auto program = ExportedProgram::load(archive("decoder"));
  const auto copy = program->clone();
  expect_values(copy->forward(example("decoder")), references()["decoder"]["outputs"], "copy");
  at::NoGradGuard no_grad;
  for (at::Tensor& parameter : copy->get().parameters()) {
    EXPECT_TRUE(parameter.requires_grad());
    parameter.zero_();
  }
  expect_values(program->forward(example("decoder")), references()["decoder"]["outputs"], "original");
  EXPECT_EQ(copy->forward(example("decoder"))[0].toGenericDict().at("logits").toTensor().abs().sum().item<double>(), 0);
}

TEST(Dtypes, OfTheModelMayChangeWhereItsGraphAllows) {
  const auto program = ExportedProgram::load(archive("mlp"));
  program->to(std::nullopt, at::kFloat);
  const at::Tensor out = program->forward({pattern({4, 6}, 1).to(at::kFloat)})[0].toTensor();
  EXPECT_EQ(out.scalar_type(), at::kFloat);
  expect_digest(out, references()["mlp"]["outputs"][0]["tensor"], 1e-5, "float");
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { program->save(folder / "mlp.pt2"); }).code(), ErrorCode::kUnsupported);
  EXPECT_FALSE(std::filesystem::exists(folder / "mlp.pt2"));
}

TEST(Saved, ArchivesHoldThePresentTensors) {
  const TemporaryFolder folder;
  const auto program = ExportedProgram::load(archive("functional"));
  program->forward(example("functional"));  // changes buffers
  {
    at::NoGradGuard no_grad;
    for (at::Tensor& parameter : program->get().parameters()) parameter.add_(0.25);
  }
  program->save(folder / "new.pt2");
  const auto loaded = ExportedProgram::load(folder / "new.pt2");
  const auto before = state_of(*program), after = state_of(*loaded);
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [name, tensor] : before) EXPECT_TRUE(at::equal(tensor, after.at(name))) << name;
  EXPECT_TRUE(at::equal(program->forward(example("functional"))[0].toTensor(),
                        loaded->forward(example("functional"))[0].toTensor()));
}

TEST(Mutations, OfInputsReachThem) {
  const auto program = ExportedProgram::load(archive("functional"));
  Values inputs = example("functional");
  program->forward(inputs);
  EXPECT_TRUE(at::equal(inputs[1].toTensor(), example("functional")[1].toTensor() * 2));
}

TEST(Inputs, AreListed) {
  const auto inputs = ExportedProgram::load(archive("regions"))->inputs();
  std::vector<std::string> shown;
  for (const auto& input : inputs) shown.push_back(input.name + ": " + input.description);
  ASSERT_EQ(shown.size(), 5u);
  EXPECT_EQ(shown[0].substr(0, 10), "x: Double[");
  EXPECT_EQ(shown[1], "count: 3");
  EXPECT_EQ(shown[2], "name: 'sum'");
  EXPECT_EQ(shown[3], "options_weights_0: Double[3, 3]");
}

TEST(Threads, CallOneProgramAtOnce) {
  const auto program = ExportedProgram::load(archive("decoder_eval"));
  run_ranks(4, [&](int) {
    for (int i = 0; i < 5; ++i) {
      expect_values(program->forward(example("decoder")), references()["decoder_eval"]["outputs"], "thread");
    }
  });
}

}  // namespace
}  // namespace tandem::testing
