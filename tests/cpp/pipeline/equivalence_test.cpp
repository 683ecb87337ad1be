// A pipeline trains as one process does on the whole batch: every schedule, with and without replicas, in double.
#include <gmock/gmock.h>
#include <tandem/activation_checkpoint.h>

#include <mutex>
#include <optional>

#include "cpp/comm/threads.h"
#include "cpp/pipeline/small_model.h"

namespace tandem::testing::pipeline_equivalence_test {
namespace {

using namespace pipelines;

constexpr int kSteps = 20;
constexpr int kRows = 9;  // of a replica's batch: micro-batches of different sizes

struct Trained {
  std::map<std::string, at::Tensor> parameters;
  std::vector<double> losses;
};

// Sequences that are longer in every second step.
int length_of(int step) {
  return 2 + step % 2;
}

Trained train_alone(int layers, bool tied, int replicas) {
  std::vector<Layer> model;
  Trained result;
  for (int i = 0; i < layers; ++i) {
    model.emplace_back(i, layers, tied);
    if (tied && i > 0 && model.back().last) model.back().table = model.front().table;
    for (const auto& [name, tensor] : model.back().parameters) result.parameters.try_emplace(name, tensor);
  }
  for (int step = 0; step < kSteps; ++step) {
    at::Tensor x = words(step, replicas * kRows, length_of(step));
    for (const Layer& layer : model) x = layer.forward(x);
    const at::Tensor loss = loss_of({x}, {answers(step, replicas * kRows, length_of(step))});
    loss.backward();
    result.losses.push_back(loss.item<double>());
    descend(result.parameters);
  }
  return result;
}

// Its part of the batch, on the ranks that need it.
Tensors part_of(at::Tensor batch, int replica, bool here) {
  return here ? Tensors{batch.narrow(0, replica * kRows, kRows)} : Tensors{};
}

struct Case {
  const char* schedule;
  int stages_per_rank;
  int micro_batches;
};

Trained train_piped(const Case& one, const std::shared_ptr<DeviceMesh>& mesh, bool tied, int replicas) {
  const auto& group = mesh->group("pp");
  const int replica = replicas > 1 ? mesh->local_rank("dp") : 0;
  PipelineOptions options;
  options.schedule = make_pipeline_schedule(one.schedule, group->size(), one.micro_batches, one.stages_per_rank);
  options.loss = loss_of;
  options.data_parallel.bucket_cap_mb = 0.0001;  // several buckets
  const int layers = options.schedule.stages();
  Trained result;
  std::vector<PipelineStage> stages;
  for (int i = layers; i-- > 0;) {
    if (options.schedule.rank_of_stage[i] == group->rank()) stages.push_back(stage_of(i, layers, tied, &result.parameters));
  }
  Pipeline pipeline(mesh, "pp", std::move(stages), options);
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor x = words(step, replicas * kRows, length_of(step)), y = answers(step, replicas * kRows, length_of(step));
    result.losses.push_back(pipeline.step(part_of(x, replica, group->rank() == 0),
                                          part_of(y, replica, group->rank() + 1 == group->size())));
    descend(result.parameters);
  }
  return result;
}

struct Grid {
  int ranks, replicas;
  const char* backend;
  std::vector<int> micro_batches;
};

void PrintTo(const Grid& grid, std::ostream* out) {
  *out << grid.ranks << "ranks" << grid.replicas << "replicas" << grid.backend;
}

class Equivalence : public ::testing::TestWithParam<Grid> {};

TEST_P(Equivalence, OfAPipelineAndOneProcess) {
  const Grid grid = GetParam();
  const int ranks = grid.ranks, replicas = grid.replicas;
  std::map<std::pair<int, bool>, Trained> alone;
  for (const int layers : {ranks, 2 * ranks}) {
    for (const bool tied : {false, true}) alone[{layers, tied}] = train_alone(layers, tied, replicas);
  }
  const Store store = hash_store();
  run_ranks(ranks * replicas, [&](int rank) {
    const auto world = ProcessGroup::create(options_for(rank, ranks * replicas, grid.backend), store);
    const auto mesh = replicas == 1 ? DeviceMesh::create(world, {ranks}, {"pp"})
                                    : DeviceMesh::create(world, {replicas, ranks}, {"dp", "pp"});
    std::vector<Case> cases;
    for (const int micro_batches : grid.micro_batches) {
      cases.push_back({"gpipe", 1, micro_batches});
      cases.push_back({"1f1b", 1, micro_batches});
      cases.push_back({"interleaved1f1b", 2, micro_batches});
    }
    for (const Case& one : cases) {
      const bool tied = one.micro_batches % 2 == 0;
      const Trained& expected = alone.at({ranks * one.stages_per_rank, tied});
      const Trained got = train_piped(one, mesh, tied, replicas);
      const auto where = [&] { return c10::str(one.schedule, ", ", one.micro_batches, " micro-batches, rank ", rank); };
      for (int step = 0; step < kSteps; ++step) EXPECT_NEAR(got.losses[step], expected.losses[step], 1e-11) << where();
      EXPECT_GT(std::abs(got.losses.back() - got.losses.front()), 1e-3) << "nothing was learnt";
      for (const auto& [name, parameter] : got.parameters) {
        const double apart = (parameter - expected.parameters.at(name)).abs().max().item<double>();
        EXPECT_LT(apart, 1e-11) << name << ", " << where();
      }
    }
    world->barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Grids, Equivalence,
                         ::testing::Values(Grid{2, 1, "shm", {1, 2, 3, 4, 5, 6, 7, 8}}, Grid{3, 1, "shm", {1, 2, 4, 7, 8}},
                                           Grid{2, 2, "shm", {1, 3, 4, 8}}, Grid{3, 2, "shm", {2, 5, 6}},
                                           Grid{2, 2, "gloo", {4}}),
                         ::testing::PrintToStringParamName());

// A stage on each rank, over all ranks of the group.
std::unique_ptr<Pipeline> pipeline_over(const std::shared_ptr<ProcessGroup>& group, int micro_batches,
                                        std::map<std::string, at::Tensor>* parameters, PipelineOptions options = {}) {
  options.schedule = one_forward_one_backward_schedule(group->size(), micro_batches);
  options.loss = loss_of;
  std::vector<PipelineStage> stages = {stage_of(group->rank(), group->size(), false, parameters)};
  return std::make_unique<Pipeline>(group, std::move(stages), options);
}

TEST(Pipeline, EvaluatesAndGivesOutputsWithoutGradients) {
  const Store store = hash_store();
  const at::Tensor x = words(1, kRows, 3), y = answers(1, kRows, 3);
  at::Tensor whole = x;
  for (int i = 0; i < 2; ++i) whole = Layer(i, 2, false).forward(whole);
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    std::map<std::string, at::Tensor> parameters;
    const auto pipeline = pipeline_over(group, 4, &parameters);
    const bool first = rank == 0;
    EXPECT_NEAR(pipeline->evaluate(first ? Tensors{x} : Tensors{}, first ? Tensors{} : Tensors{y}),
                loss_of({whole}, {y}).item<double>(), 1e-12);
    const Tensors outputs = pipeline->forward(first ? Tensors{x} : Tensors{});
    ASSERT_EQ(outputs.size(), first ? 0 : 1);
    if (!first) {
      EXPECT_LT((outputs[0] - whole).abs().max().item<double>(), 1e-12);
    }
    for (const auto& [name, parameter] : parameters) EXPECT_FALSE(parameter.grad().defined()) << name;
    group->barrier();
  });
}

// Gradients of several steps add up, those of tied parameters too.
TEST(Pipeline, AccumulatesOverSteps) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
    std::map<std::string, at::Tensor> parameters;
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 2);
    options.loss = loss_of;
    Pipeline pipeline(group, {stage_of(rank, 2, true, &parameters)}, options);
    std::map<std::string, at::Tensor> sums;
    const auto step = [&](int number) {
      pipeline.step(rank == 0 ? Tensors{words(number, 4, 3)} : Tensors{},
                    rank == 1 ? Tensors{answers(number, 4, 3)} : Tensors{});
    };
    for (int number = 0; number < 3; ++number) {
      step(number);
      for (auto& [name, parameter] : parameters) {
        sums[name] = number == 0 ? parameter.grad().clone() : sums[name] + parameter.grad();
        parameter.mutable_grad().zero_();
      }
    }
    for (int number = 0; number < 3; ++number) step(number);
    for (auto& [name, parameter] : parameters) {
      EXPECT_LT((parameter.grad() - sums[name]).abs().max().item<double>(), 1e-12) << name;
    }
    group->barrier();
  });
}

// One rank has all stages, and a loss that needs no targets.
TEST(Pipeline, OfOneRankWithoutTargets) {
  const auto group = ProcessGroup::create(options_for(0, 1, "none"), hash_store());
  PipelineOptions options;
  options.schedule = interleaved_schedule(1, 2, 2);
  options.loss = [](const Tensors& outputs, const Tensors&) { return outputs[0].mean(); };
  const at::Tensor weight = torch::full({2}, 3.0, torch::kDouble).requires_grad_(true);
  PipelineStage first, second;
  first.parameters = {{"weight", weight}};
  first.forward = [&](const Tensors& inputs) { return Tensors{inputs[0] * weight}; };
  second.index = 1;
  second.forward = [](const Tensors& inputs) { return Tensors{inputs[0] * 2}; };
  Pipeline pipeline(group, {first, second}, options);
  const at::Tensor x = torch::tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}, torch::kDouble);
  EXPECT_NEAR(pipeline.step({x}), 6 * 3.5, 1e-12);
  EXPECT_TRUE(weight.grad().allclose(torch::tensor({3.0, 4.0}, torch::kDouble)));
}

// What goes to the stage before is not changed by what autograd adds to a parameter that has the same gradient.
TEST(Pipeline, GradientsUnderWayStayWhatTheyAre) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
    constexpr std::int64_t kLarge = 1 << 16;  // not sent at once
    const at::Tensor weight = torch::zeros({1, kLarge}, torch::kDouble).requires_grad_(true);
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 8);
    options.average_losses = false;
    options.loss = [](const Tensors& outputs, const Tensors&) { return outputs[0].sum(); };
    PipelineStage stage;
    stage.index = rank;
    stage.parameters = {{"weight" + std::to_string(rank), weight}};
    stage.forward = [&](const Tensors& inputs) { return Tensors{inputs[0] + weight}; };
    Pipeline pipeline(group, {stage}, options);
    pipeline.step(rank == 0 ? Tensors{torch::ones({8, kLarge}, torch::kDouble)} : Tensors{});
    EXPECT_TRUE(weight.grad().equal(torch::full({1, kLarge}, 8.0, torch::kDouble)));
    group->barrier();
  });
}

// A stage that does not train begins alike in all replicas, too, and one changes what it is given in place.
TEST(Pipeline, FrozenStagesAndOperationsInPlace) {
  const Store store = hash_store();
  run_ranks(4, [&](int rank) {
    const auto world = ProcessGroup::create(options_for(rank, 4, "shm"), store);
    const auto mesh = DeviceMesh::create(world, {2, 2}, {"dp", "pp"});
    const int index = mesh->local_rank("pp");
    const at::Tensor weight = torch::full({2}, 3.0 + mesh->local_rank("dp"), torch::kDouble).requires_grad_(index == 0);
    const at::Tensor buffer = torch::full({2}, 1.0 + mesh->local_rank("dp"), torch::kDouble);
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 2);
    options.loss = [](const Tensors& outputs, const Tensors&) { return outputs[0].mean(); };
    PipelineStage stage;
    stage.index = index;
    stage.parameters = {{"weight" + std::to_string(index), weight}};
    stage.buffers = {{"buffer" + std::to_string(index), buffer}};
    stage.forward = [&](const Tensors& inputs) {
      return Tensors{index == 0 ? inputs[0] * weight : at::Tensor(inputs[0]).mul_(weight).add(buffer)};
    };
    Pipeline pipeline(mesh, "pp", {stage}, options);
    EXPECT_TRUE(weight.equal(torch::full({2}, 3.0, torch::kDouble))) << rank;
    EXPECT_TRUE(buffer.equal(torch::full({2}, 1.0, torch::kDouble))) << rank;
    EXPECT_NEAR(pipeline.step(index == 0 ? Tensors{torch::ones({4, 2}, torch::kDouble)} : Tensors{}), 10, 1e-12);
    if (index == 0) {
      EXPECT_TRUE(weight.grad().allclose(torch::full({2}, 1.5, torch::kDouble)));
    }
    world->barrier();
  });
}

// A stage under ActivationCheckpoint keeps nothing between forward and backward but what it was given, and its gradients are
// those of one that keeps all.
TEST(Pipeline, CheckpointsActivationsInsideStages) {
  constexpr int kMicroBatches = 4;
  std::map<bool, std::map<std::string, at::Tensor>> gradients;
  std::map<bool, int> most_kept;
  for (const bool checkpoints : {false, true}) {
    const Store store = hash_store();
    std::mutex mutex;
    run_ranks(2, [&](int rank) {
      const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
      std::map<std::string, at::Tensor> parameters;
      PipelineStage stage = stage_of(rank, 2, false, &parameters);
      std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> inner;  // an activation of each forward
      int most = 0;
      const auto compute = [&, forward = stage.forward](const Tensors& inputs) {
        Tensors outputs = forward(inputs);
        const at::Tensor gate = torch::sin(outputs[0]);
        inner.emplace_back(gate.getIntrusivePtr());
        return Tensors{outputs[0] * gate.square()};
      };
      stage.forward = [&](const Tensors& inputs) -> Tensors {
        std::optional<nn::ActivationCheckpoint> checkpoint;
        if (checkpoints && at::GradMode::is_enabled()) checkpoint.emplace([&](const Tensors& again) { compute(again); }, inputs);
        const Tensors outputs = compute(inputs);
        checkpoint.reset();
        const auto alive = std::ranges::count_if(inner, [](const auto& one) { return !one.expired(); });
        most = std::max(most, static_cast<int>(alive));
        return outputs;
      };
      PipelineOptions options;
      options.schedule = gpipe_schedule(2, kMicroBatches);
      options.loss = loss_of;
      Pipeline pipeline(group, {stage}, options);
      pipeline.step(rank == 0 ? Tensors{words(0, kRows, 3)} : Tensors{}, rank == 1 ? Tensors{answers(0, kRows, 3)} : Tensors{});
      group->barrier();
      const std::lock_guard<std::mutex> lock(mutex);
      for (const auto& [name, parameter] : parameters) gradients[checkpoints][name] = parameter.grad();
      most_kept[checkpoints] = std::max(most_kept[checkpoints], most);
    });
  }
  ASSERT_EQ(gradients[true].size(), gradients[false].size());
  for (const auto& [name, gradient] : gradients[true]) EXPECT_TRUE(gradient.equal(gradients[false][name])) << name;
  EXPECT_EQ(most_kept[false], kMicroBatches);
  EXPECT_EQ(most_kept[true], 0);
}

TEST(Pipeline, AddsLossesWhereToldTo) {
  const Store store = hash_store();
  const at::Tensor x = words(2, 8, 3), y = answers(2, 8, 3);
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    const bool first = rank == 0;
    std::map<std::string, at::Tensor> of_mean, of_sum;
    PipelineOptions adds;
    adds.average_losses = false;
    const auto mean = pipeline_over(group, 4, &of_mean), sum = pipeline_over(group, 4, &of_sum, adds);
    const Tensors inputs = first ? Tensors{x} : Tensors{}, targets = first ? Tensors{} : Tensors{y};
    EXPECT_NEAR(4 * mean->step(inputs, targets), sum->step(inputs, targets), 1e-12);
    for (const auto& [name, parameter] : of_mean) {
      EXPECT_LT((4 * parameter.grad() - of_sum[name].grad()).abs().max().item<double>(), 1e-12) << name;
    }
    group->barrier();
  });
}

// Masks and the like go along, tensors without elements too, and outputs that nobody uses get no gradient.
TEST(Pipeline, PassesTensorsOfAnyKind) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    PipelineOptions options;
    options.schedule = gpipe_schedule(2, 2);
    options.loss = [](const Tensors& outputs, const Tensors&) { return outputs[0].sum(); };
    options.average_losses = false;
    const at::Tensor weight = torch::full({2}, 3.0, torch::kDouble).requires_grad_(true);
    PipelineStage stage;
    stage.index = rank;
    stage.parameters = {{"weight" + std::to_string(rank), weight}};
    stage.forward = [&](const Tensors& inputs) -> Tensors {
      if (rank == 0) {
        return {inputs[0] * weight, inputs[0] > 1, torch::empty({0, 3}), inputs[0] + weight, at::Tensor()};
      }
      EXPECT_EQ(inputs.size(), 5);
      EXPECT_TRUE(inputs[0].requires_grad());
      EXPECT_EQ(inputs[1].scalar_type(), torch::kBool);
      EXPECT_EQ(inputs[2].sizes(), at::IntArrayRef({0, 3}));
      EXPECT_FALSE(inputs[4].defined());
      return {(inputs[0] * inputs[1]).mul(weight)};
    };
    Pipeline pipeline(group, {stage}, options);
    const at::Tensor x = torch::tensor({{1.0, 2.0}, {3.0, 4.0}}, torch::kDouble);
    EXPECT_EQ(pipeline.step(rank == 0 ? Tensors{x} : Tensors{}), 9 * (2 + 3 + 4));
    EXPECT_TRUE(weight.grad().equal(torch::tensor({3.0 * 3, 3.0 * (2 + 4)}, torch::kDouble)));
    group->barrier();
  });
}

TEST(DeviceMesh, HasGroupsAlongItsDimensions) {
  const Store store = hash_store();
  run_ranks(6, [&](int rank) {
    const auto world = ProcessGroup::create(options_for(rank, 6), store);
    const auto mesh = DeviceMesh::create(world, {3, 1, 2}, {"dp", "one", "tp"});
    EXPECT_EQ(mesh->size(), 6);
    EXPECT_EQ(mesh->size("dp"), 3);
    EXPECT_THAT(mesh->coordinate(), ::testing::ElementsAre(rank / 2, 0, rank % 2));
    EXPECT_THAT(mesh->group("dp")->global_ranks(), ::testing::ElementsAre(rank % 2, 2 + rank % 2, 4 + rank % 2));
    EXPECT_THAT(mesh->group("tp")->global_ranks(), ::testing::ElementsAre(rank / 2 * 2, rank / 2 * 2 + 1));
    EXPECT_EQ(mesh->group("one")->size(), 1);
    EXPECT_EQ(mesh->local_rank("dp"), mesh->group("dp")->rank());

    const auto row = mesh->submesh({"tp"});
    EXPECT_EQ(row->group("tp"), mesh->group("tp"));
    EXPECT_THAT(row->ranks(), ::testing::ElementsAre(rank / 2 * 2, rank / 2 * 2 + 1));
    EXPECT_THAT(error_of([&] { row->group("dp"); }).what(), ::testing::HasSubstr("it has 'tp'"));
    EXPECT_EQ(error_of([&] { mesh->submesh({"tp", "dp"}); }).code(), ErrorCode::kInvalidArgument);

    const auto flat = mesh->flatten("all");
    EXPECT_THAT(flat->group("all")->global_ranks(), ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
    const auto column = mesh->submesh({"dp", "one"})->flatten("column");
    EXPECT_THAT(column->group("column")->global_ranks(), ::testing::ElementsAre(rank % 2, 2 + rank % 2, 4 + rank % 2));
    EXPECT_EQ(column->ranks(), column->submesh({"column"})->ranks());

    EXPECT_THAT(error_of([&] { DeviceMesh::create(world, {2, 2}, {"a", "b"}); }).what(),
                ::testing::HasSubstr("2 x 2 ('a', 'b') does not have the 6 ranks"));
    EXPECT_THAT(error_of([&] { DeviceMesh::create(world, {2, 3}, {"a", "a"}); }).what(), ::testing::HasSubstr("named 'a'"));
    const std::int64_t second = rank == 4 ? 2 : 3;
    EXPECT_THAT(error_of([&] { DeviceMesh::create(world, {2, second}, {"a", "b"}); }).what(),
                ::testing::HasSubstr("rank 4 makes a device mesh of 2 x 2"));
    EXPECT_THAT(error_of([&] { DeviceMesh::create(world, {2, 3}, {"a", rank == 4 ? "c" : "b"}); }).what(),
                ::testing::HasSubstr("rank 4 makes a device mesh of 2 x 3 ('a', 'c')"));
    world->barrier();
  });
}

}  // namespace
}  // namespace tandem::testing::pipeline_equivalence_test
