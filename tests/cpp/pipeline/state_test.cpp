// Checkpoints of pipelines hold the whole model, and load however it is cut.
#include <gmock/gmock.h>
#include <tandem/checkpoint.h>
#include <tandem/optim.h>
#include <tandem/pipeline_state.h>
#include <tandem/zero.h>

#include <set>

#include "cpp/comm/threads.h"
#include "cpp/pipeline/small_model.h"
#include "support/temporary_folder.h"

namespace tandem::testing::pipeline_state_test {
namespace {

using namespace pipelines;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

constexpr int kLayers = 6, kRows = 8, kSteps = 3;

struct Model {
  std::map<std::string, at::Tensor> parameters;
  std::unique_ptr<optim::Optimizer> optimizer;
};

std::unique_ptr<optim::Optimizer> optimizer_of(const std::map<std::string, at::Tensor>& parameters) {
  std::vector<at::Tensor> list;
  for (const auto& [name, tensor] : parameters) list.push_back(tensor);
  return optim::make_optimizer("Adam", list, {{"lr", 0.01}});
}

// One process, from step `begin` on.
void train_alone(const Model& model, const std::vector<Layer>& layers, int begin, int end) {
  for (int step = begin; step < end; ++step) {
    at::Tensor x = words(step, kRows, 3);
    for (const Layer& layer : layers) x = layer.forward(x);
    model.optimizer->zero_grad();
    loss_of({x}, {answers(step, kRows, 3)}).backward();
    model.optimizer->step();
  }
}

std::vector<Layer> whole_model(Model* model) {
  std::vector<Layer> layers;
  for (int i = 0; i < kLayers; ++i) {
    layers.emplace_back(i, kLayers, true);
    if (layers.back().last) layers.back().table = layers.front().table;
    for (const auto& [name, tensor] : layers.back().parameters) model->parameters.try_emplace(name, tensor);
  }
  model->optimizer = optimizer_of(model->parameters);
  return layers;
}

struct Cut {
  int ranks, stages_per_rank, replicas;
};

// The pipeline's model begins with other numbers where `loads`, and takes those of the newest checkpoint.
void train_piped(const Cut& cut, const std::string& folder, bool loads, int begin, int end,
                 const std::map<std::string, at::Tensor>& expected) {
  const Store store = hash_store();
  run_ranks(cut.ranks * cut.replicas, [&](int rank) {
    const auto world = ProcessGroup::create(options_for(rank, cut.ranks * cut.replicas, "shm"), store);
    const auto mesh = cut.replicas == 1 ? DeviceMesh::create(world, {cut.ranks}, {"pp"})
                                        : DeviceMesh::create(world, {cut.replicas, cut.ranks}, {"dp", "pp"});
    const auto& group = mesh->group("pp");
    PipelineOptions options;
    options.schedule = interleaved_schedule(cut.ranks, 4, cut.stages_per_rank);
    options.loss = loss_of;
    const int stages = options.schedule.stages();
    std::vector<PipelineStage> layers;
    Model model;
    for (int i = 0; i < kLayers; ++i) {
      std::map<std::string, at::Tensor> parameters;
      layers.push_back(stage_of(i, kLayers, true, &parameters));
    }
    // Layers in a row, as many in each stage as can be; first and last have a table each, which are tied.
    std::vector<PipelineStage> own;
    for (int stage = 0; stage < stages; ++stage) {
      if (options.schedule.rank_of_stage[stage] != group->rank()) continue;
      PipelineStage& made = own.emplace_back();
      made.index = stage;
      std::vector<decltype(made.forward)> forwards;
      for (int i = stage * kLayers / stages; i < (stage + 1) * kLayers / stages; ++i) {
        for (const auto& one : layers[i].parameters) made.parameters.push_back(one);
        for (const std::string& name : layers[i].tied) made.tied.push_back(name);
        forwards.push_back(layers[i].forward);
      }
      made.forward = [forwards](const Tensors& inputs) {
        Tensors values = inputs;
        for (const auto& forward : forwards) values = forward(values);
        return values;
      };
    }
    for (const PipelineStage& stage : own) {
      for (const auto& [name, tensor] : stage.parameters) {
        model.parameters[name + "@" + std::to_string(stage.index)] = tensor;
        const at::NoGradGuard no_grad;
        if (loads) tensor.fill_(0.5);
      }
    }
    model.optimizer = optimizer_of(model.parameters);
    Pipeline pipeline(mesh, "pp", own, options);
    CheckpointFolder checkpoints(folder, {.group = world});
    if (loads) {
      const auto last = checkpoints.load(pipeline_request(pipeline));
      ASSERT_TRUE(last);
      // No rank reads what is not of its own.
      std::set<std::string> names;
      for (const PipelineStage& stage : own) {
        for (const auto& [name, tensor] : stage.parameters) names.insert(name);
      }
      std::vector<std::string> read;
      for (const auto& [name, tensor] : last->sections.at("model")) read.push_back(name);
      EXPECT_THAT(read, UnorderedElementsAreArray(names));
      checkpoints.together([&] { load_pipeline(pipeline, *last, model.optimizer.get()); });
    }
    for (int step = begin; step < end; ++step) {
      model.optimizer->zero_grad();
      pipeline.step(group->rank() == 0 ? Tensors{words(step, kRows, 3)} : Tensors{},
                    group->rank() + 1 == group->size() ? Tensors{answers(step, kRows, 3)} : Tensors{});
      model.optimizer->step();
    }
    for (const auto& [name, tensor] : model.parameters) {
      const at::Tensor wanted = expected.at(name.substr(0, name.find('@')));
      EXPECT_LT((tensor - wanted).abs().max().item<double>(), 1e-10) << name << " of rank " << rank;
    }
    checkpoints.save(end, [&] { return pipeline_content(pipeline, model.optimizer.get()); });
    world->barrier();
  });
}

TEST(PipelineState, LoadsAtAnotherNumberOfStages) {
  const TemporaryFolder folder;
  Model alone;
  const std::vector<Layer> layers = whole_model(&alone);
  int done = 0;
  for (const Cut& cut : {Cut{2, 1, 1}, Cut{3, 1, 1}, Cut{3, 2, 1}, Cut{2, 1, 2}, Cut{1, 2, 1}}) {
    train_alone(alone, layers, done, done + kSteps);
    train_piped(cut, folder / "run", done > 0, done, done + kSteps, alone.parameters);
    done += kSteps;
  }
  // What is there is the whole model and all that its optimizer remembers, each once, under the model's names.
  const auto last = CheckpointFolder(folder / "run").load();
  std::vector<std::string> names, remembered;
  for (const auto& [name, tensor] : last->sections.at("model")) {
    names.push_back(name);
    EXPECT_LT((tensor - alone.parameters.at(name)).abs().max().item<double>(), 1e-10) << name;
  }
  std::vector<std::string> expected, expected_of_optimizer;
  for (const auto& [name, tensor] : alone.parameters) {
    expected.push_back(name);
    for (const char* what : {".step", ".exp_avg", ".exp_avg_sq"}) expected_of_optimizer.push_back(name + what);
  }
  for (const auto& [name, tensor] : last->sections.at("optimizer")) remembered.push_back(name);
  EXPECT_THAT(names, UnorderedElementsAreArray(expected));
  EXPECT_THAT(remembered, UnorderedElementsAreArray(expected_of_optimizer));
}

TEST(PipelineState, SaysWhatDoesNotFit) {
  const TemporaryFolder folder;
  const auto group = ProcessGroup::create(options_for(0, 1, "none"), hash_store());
  std::map<std::string, at::Tensor> parameters;
  PipelineOptions options;
  options.schedule = gpipe_schedule(1, 1);
  options.loss = loss_of;
  Pipeline pipeline(group, {stage_of(0, 1, false, &parameters)}, options);
  const auto optimizer = optimizer_of(parameters), other = optimizer_of({{"x", torch::ones({2}).requires_grad_(true)}});
  EXPECT_THAT(error_of([&] { pipeline_content(pipeline, other.get()); }).what(), HasSubstr("parameter 0 is of no stage"));
  const auto lbfgs = optim::make_optimizer("LBFGS", optimizer->parameters(), {});
  EXPECT_THAT(error_of([&] { pipeline_content(pipeline, lbfgs.get()); }).what(), HasSubstr("LBFGS remembers a direction"));
  CheckpointFolder checkpoints(folder / "run");
  const auto said = [&](const CheckpointContent& content) {
    checkpoints.save(1, content);
    return std::string(error_of([&] {
                         load_pipeline(pipeline, *checkpoints.load(pipeline_request(pipeline)), optimizer.get());
                       }).what());
  };
  CheckpointContent content = pipeline_content(pipeline);
  content.own["optimizer"] = {{"0.exp_avg", torch::ones({2})}};
  EXPECT_THAT(said(content), HasSubstr("'0.exp_avg', which an optimizer remembers by number"));
  content = pipeline_content(pipeline);
  content.own["model"].pop_back();
  content.own["model"][0].tensor = torch::ones({5}, torch::kDouble);
  EXPECT_THAT(said(content), ::testing::AllOf(HasSubstr("layer0.weight"), HasSubstr("table")));
}

}  // namespace
}  // namespace tandem::testing::pipeline_state_test
