// What goes around and beside DistributedDataParallel, on two ranks that share a GPU, against one process that has the
// whole batch on it, in double.
#include <torch/torch.h>

#include "cpp/pipeline/small_model.h"
#include "gpu/two_ranks.h"
#include "tandem/ddp.h"
#include "tandem/device_mesh.h"
#include "tandem/differentiable_collectives.h"
#include "tandem/optim.h"
#include "tandem/pipeline.h"
#include "tandem/sync_batch_norm.h"
#include "tandem/zero.h"

namespace tandem::testing::two_ranks::training {
namespace {

constexpr int kSteps = 10, kRows = 32;

// --- what a rank does

void say_distance(double distance) {
  say(distance < 1e-9 ? "as one process" : "distance " + std::to_string(distance));
}

// The same numbers whoever makes it.
template <typename Holder>
Holder numbered(Holder module, at::ScalarType dtype = torch::kDouble) {
  torch::NoGradGuard no_grad;
  int i = 0;
  for (auto& parameter : module->parameters()) {
    parameter.copy_(torch::linspace(-0.3, 0.3, parameter.numel()).view_as(parameter).roll(++i));
  }
  module->to(kGpu, dtype);
  return module;
}

double distance_of(const torch::nn::Module& one, const torch::nn::Module& other) {
  double distance = 0;
  const auto mine = one.parameters(), theirs = other.parameters();
  for (std::size_t i = 0; i < mine.size(); ++i) {
    distance = std::max(distance, (mine[i] - theirs[i].to(mine[i].dtype())).abs().max().item<double>());
  }
  for (const auto& item : one.named_buffers()) {
    if (!item.value().is_floating_point()) continue;
    const at::Tensor theirs_too = other.named_buffers()[item.key()];
    distance = std::max(distance, (item.value() - theirs_too).abs().max().item<double>());
  }
  return distance;
}

torch::nn::Sequential mlp() {
  return torch::nn::Sequential(torch::nn::Linear(20, 100), torch::nn::Tanh(), torch::nn::Linear(100, 10));
}

at::Tensor batch_of(int step, int rows = kRows) {
  const at::Tensor numbers = torch::arange(rows * 20, torch::TensorOptions(torch::kDouble).device(kGpu));
  return torch::sin(numbers * 0.7 + step).view({rows, 20});
}

// One step of one process and of this rank's half.
template <typename Model, typename Optimizer>
void step_of(Model&& forward, Optimizer& optimizer, const at::Tensor& batch) {
  optimizer.zero_grad();
  forward(batch).square().mean().backward();
  optimizer.step();
}

int zero(const std::string& type) {
  const auto group = group_on_gpu();
  auto net = numbered(mlp()), alone = numbered(mlp());
  DistributedDataParallel<torch::nn::Sequential> ddp(net, group);
  ZeroRedundancyOptimizer optimizer(group, type, net->parameters(), {{"lr", 0.01}});
  const auto optimizer_alone = optim::make_optimizer(type, alone->parameters(), {{"lr", 0.01}});
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor batch = batch_of(step);
    step_of([&](const at::Tensor& x) { return ddp.forward(x); }, optimizer, batch.chunk(2)[group->rank()]);
    step_of([&](const at::Tensor& x) { return alone->forward(x); }, *optimizer_alone, batch);
  }
  say_distance(distance_of(*net, *alone));
  optimizer.consolidate_state(0);
  std::map<std::string, at::Tensor> whole;
  if (group->rank() == 0) {
    for (const auto& [name, tensor] : optimizer.state()) whole.emplace(name, tensor.to(kGpu));
    double distance = 0;
    for (const auto& [name, tensor] : optimizer_alone->state()) {
      if (const auto found = whole.find(name); found != whole.end()) {
        distance = std::max(distance, (found->second - tensor.to(kGpu)).abs().max().item<double>());
      }
    }
    say(whole.size() != optimizer_alone->state().size() || distance > 1e-9 ? "another state" : "its state");
  } else {
    say("its state");
  }
  return 0;
}

int batch_norm() {
  const auto group = group_on_gpu();
  const auto options = torch::nn::BatchNormOptions(100);
  torch::nn::Sequential net(torch::nn::Linear(20, 100), SyncBatchNorm(options, group), torch::nn::Linear(100, 10));
  torch::nn::Sequential alone(torch::nn::Linear(20, 100), torch::nn::BatchNorm1d(options), torch::nn::Linear(100, 10));
  numbered(net), numbered(alone);
  DistributedDataParallel<torch::nn::Sequential> ddp(net, group);
  const auto optimizer = optim::make_optimizer("SGD", net->parameters(), {{"lr", 0.05}});
  const auto optimizer_alone = optim::make_optimizer("SGD", alone->parameters(), {{"lr", 0.05}});
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor batch = batch_of(step);
    step_of([&](const at::Tensor& x) { return ddp.forward(x); }, *optimizer, batch.chunk(2)[group->rank()]);
    step_of([&](const at::Tensor& x) { return alone->forward(x); }, *optimizer_alone, batch);
  }
  say_distance(distance_of(*net, *alone));
  return 0;
}

// Gradients of two backward passes count as one step's.
int accumulation() {
  const auto group = group_on_gpu();
  auto net = numbered(mlp()), alone = numbered(mlp());
  DataParallelOptions options;
  options.gradient_as_bucket_view = true;
  options.bucket_cap_mb = 0.005;
  DistributedDataParallel<torch::nn::Sequential> ddp(net, group, options);
  const auto optimizer = optim::make_optimizer("AdamW", net->parameters(), {{"lr", 0.01}});
  const auto optimizer_alone = optim::make_optimizer("AdamW", alone->parameters(), {{"lr", 0.01}});
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor batch = batch_of(step);
    const auto parts = batch.chunk(2)[group->rank()].chunk(2);
    optimizer->zero_grad();
    {
      const auto no_sync = ddp.no_sync();
      (ddp.forward(parts[0]).square().mean() / 2).backward();
    }
    (ddp.forward(parts[1]).square().mean() / 2).backward();
    optimizer->step();
    step_of([&](const at::Tensor& x) { return alone->forward(x); }, *optimizer_alone, batch);
  }
  say_distance(distance_of(*net, *alone));
  return 0;
}

// Rank 1 runs out of batches; rank 0's gradients then count alone.
int join() {
  const auto group = group_on_gpu();
  auto net = numbered(mlp()), alone = numbered(mlp());
  DistributedDataParallel<torch::nn::Sequential> ddp(net, group);
  const auto optimizer = optim::make_optimizer("SGD", net->parameters(), {{"lr", 0.05}});
  const auto optimizer_alone = optim::make_optimizer("SGD", alone->parameters(), {{"lr", 0.05}});
  const int mine = group->rank() == 0 ? 6 : 3;
  JoinOptions options;
  options.divide_by_initial_world_size = false;
  ddp.join(
      [&] {
        for (int step = 0; step < mine; ++step) {
          const at::Tensor half = batch_of(step).chunk(2)[group->rank()];
          step_of([&](const at::Tensor& x) { return ddp.forward(x); }, *optimizer, half);
        }
      },
      options);
  for (int step = 0; step < 6; ++step) {
    const at::Tensor batch = batch_of(step);
    const at::Tensor used = step < 3 ? batch : batch.chunk(2)[0];
    step_of([&](const at::Tensor& x) { return alone->forward(x); }, *optimizer_alone, used);
  }
  say_distance(distance_of(*net, *alone));
  return 0;
}

// Forward and backward in bfloat16: near to, and no further than roundings go.
int mixed() {
  const auto group = group_on_gpu();
  auto net = numbered(mlp(), torch::kFloat), alone = numbered(mlp(), torch::kFloat);
  DataParallelOptions options;
  options.mixed_precision.param_dtype = torch::kBFloat16;
  options.mixed_precision.reduce_dtype = torch::kFloat;
  DistributedDataParallel<torch::nn::Sequential> ddp(net, group, options);
  const auto optimizer = optim::make_optimizer("SGD", net->parameters(), {{"lr", 0.05}});
  const auto optimizer_alone = optim::make_optimizer("SGD", alone->parameters(), {{"lr", 0.05}});
  const auto loss_alone = [&] { return alone->forward(batch_of(0).to(torch::kFloat)).square().mean().item<double>(); };
  const double before = loss_alone();
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor batch = batch_of(step).to(torch::kFloat);
    const auto forward = [&](const at::Tensor& x) { return ddp.forward(x).to(torch::kFloat); };
    step_of(forward, *optimizer, batch.chunk(2)[group->rank()]);
    step_of([&](const at::Tensor& x) { return alone->forward(x); }, *optimizer_alone, batch);
  }
  const double distance = distance_of(*net, *alone);
  say(distance > 0 && distance < 5e-3 && loss_alone() < before ? "close" : "distance " + std::to_string(distance));
  const at::Tensor mine = torch::nn::utils::parameters_to_vector(net->parameters()).detach();
  std::vector<at::Tensor> all = {torch::empty_like(mine), torch::empty_like(mine)};
  group->all_gather(all, mine);
  say(all[0].equal(all[1]) && mine.scalar_type() == torch::kFloat ? "the same on both ranks" : "ranks differ");
  return 0;
}

// Two stages, their activations through the CPU, on GPUs' streams.
int pipeline(const std::string& schedule) {
  using namespace pipelines;
  const auto world = group_on_gpu("cpu:gloo,cuda:nccl");
  const int per_rank = schedule == "interleaved1f1b" ? 2 : 1, layers = 2 * per_rank;
  std::map<std::string, at::Tensor> mine, expected;
  // Tensors of a layer are made on the CPU; those of it that are moved are leaves again.
  const auto layer_on_gpu = [&](int index, std::map<std::string, at::Tensor>& parameters) {
    auto layer = std::make_shared<Layer>(index, layers, /*tied=*/true);
    const auto move = [](at::Tensor& tensor) {
      if (tensor.defined()) tensor = tensor.detach().to(kGpu).requires_grad_(true);
    };
    move(layer->weight), move(layer->bias), move(layer->table);
    for (auto& [name, tensor] : layer->parameters) {
      tensor = name == "table" ? layer->table : name.ends_with("weight") ? layer->weight : layer->bias;
      parameters.try_emplace(name, tensor);
    }
    return layer;
  };
  PipelineOptions options;
  options.schedule = make_pipeline_schedule(schedule, 2, 4, per_rank);
  options.loss = loss_of;
  options.device = kGpu;
  std::vector<PipelineStage> stages;
  std::vector<std::shared_ptr<Layer>> alone;
  for (int i = 0; i < layers; ++i) {
    alone.push_back(layer_on_gpu(i, expected));
    if (options.schedule.rank_of_stage[i] != world->rank()) continue;
    const auto layer = layer_on_gpu(i, mine);
    PipelineStage stage;
    stage.index = i;
    stage.parameters = layer->parameters;
    if (layer->table.defined()) stage.tied = {"table"};
    stage.forward = [layer](const Tensors& inputs) { return Tensors{layer->forward(inputs.at(0))}; };
    stages.push_back(stage);
  }
  alone.back()->table = alone.front()->table;
  Pipeline piped(world, stages, options);
  double apart = 0;
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor x = words(step, 9, 2 + step % 2).to(kGpu), y = answers(step, 9, 2 + step % 2).to(kGpu);
    const bool is_first = world->rank() == 0;
    const double loss = piped.step(is_first ? Tensors{x} : Tensors{}, is_first ? Tensors{} : Tensors{y});
    descend(mine);
    at::Tensor z = x;
    for (const auto& layer : alone) z = layer->forward(z);
    const at::Tensor loss_alone = loss_of({z}, {y});
    loss_alone.backward();
    descend(expected);
    apart = std::max(apart, std::abs(loss - loss_alone.item<double>()));
  }
  for (const auto& [name, parameter] : mine) {
    apart = std::max(apart, (parameter - expected.at(name)).abs().max().item<double>());
  }
  say_distance(apart);
  return 0;
}

// Every collective, each against what it is to give; gradients of one go back through NCCL.
int collectives() {
  const auto group = group_on_gpu();
  const int rank = group->rank();
  const auto of = [](const std::vector<double>& values) { return torch::tensor(values, torch::kDouble).to(kGpu); };
  std::string wrong;
  const auto check = [&](const char* what, const at::Tensor& got, const at::Tensor& wanted) {
    if (!got.is_cuda() || !got.equal(wanted)) wrong += std::string(" ") + what;
  };
  const at::Tensor mine = of({1.0 + rank, 10.0 + rank});
  at::Tensor tensor = mine.clone();
  group->broadcast(tensor, 1);
  check("broadcast", tensor, of({2, 11}));
  tensor = mine.clone();
  group->reduce(tensor, 1, ReduceOp::kMax);
  if (rank == 1) check("reduce", tensor, of({2, 11}));
  const at::Tensor first = mine.clone(), second = mine.clone() * 2;
  group->all_reduce_coalesced({first, second});
  check("all_reduce_coalesced", torch::cat({first, second}), of({3, 21, 6, 42}));
  tensor = mine.clone();
  group->all_reduce_premul_sum(tensor, 0.5);
  check("all_reduce_premul_sum", tensor, of({1.5, 10.5}));
  tensor = torch::zeros({4}, mine.options());
  group->all_gather_into_tensor(tensor, mine);
  check("all_gather_into_tensor", tensor, of({1, 10, 2, 11}));
  std::vector<at::Tensor> parts = {torch::zeros_like(mine), torch::zeros_like(mine)};
  group->gather(rank == 0 ? parts : std::vector<at::Tensor>(), mine, 0);
  if (rank == 0) check("gather", torch::cat(parts), of({1, 10, 2, 11}));
  tensor = torch::zeros_like(mine);
  group->scatter(tensor, rank == 0 ? std::vector<at::Tensor>{of({5, 6}), of({7, 8})} : std::vector<at::Tensor>(), 0);
  check("scatter", tensor, rank == 0 ? of({5, 6}) : of({7, 8}));
  group->reduce_scatter(tensor, {mine, mine * 2});
  check("reduce_scatter", tensor, rank == 0 ? of({3, 21}) : of({6, 42}));
  group->reduce_scatter_tensor(tensor, torch::cat({mine, mine * 2}), ReduceOp::kAvg);
  check("reduce_scatter_tensor", tensor, rank == 0 ? of({1.5, 10.5}) : of({3, 21}));
  parts = {torch::zeros({1}, mine.options()), torch::zeros({1}, mine.options())};
  group->all_to_all(parts, {mine.narrow(0, 0, 1), mine.narrow(0, 1, 1)});
  check("all_to_all", torch::cat(parts), rank == 0 ? of({1, 2}) : of({10, 11}));
  group->all_to_all_single(tensor, mine);
  check("all_to_all_single", tensor, rank == 0 ? of({1, 2}) : of({10, 11}));
  const auto subgroup = group->new_group({1});
  if (rank == 1) {
    tensor = mine.clone();
    subgroup->all_reduce(tensor);
    check("new_group", tensor, mine);
  }
  tensor = mine.clone().requires_grad_(true);
  (differentiable::all_reduce(group, tensor) * (1.0 + rank)).sum().backward();
  check("gradient of all_reduce", tensor.grad(), of({3, 3}));
  group->barrier();
  say(wrong.empty() ? "all right" : "wrong:" + wrong);
  return 0;
}

const AddRole kRoles[] = {
    {"zero", [](const auto& arguments) { return zero(arguments.at(0)); }},
    {"batch_norm", [](const auto&) { return batch_norm(); }},
    {"accumulation", [](const auto&) { return accumulation(); }},
    {"join", [](const auto&) { return join(); }},
    {"mixed", [](const auto&) { return mixed(); }},
    {"pipeline", [](const auto& arguments) { return pipeline(arguments.at(0)); }},
    {"every_collective", [](const auto&) { return collectives(); }},
};

// --- tests

class Training : public TwoRanks {
 protected:
  void expect_as_one(const std::vector<std::string>& role) {
    ranks_.clear();
    start(role);
    expect_both("as one process");
  }
};

TEST_F(Training, EveryCollectiveGivesWhatItIsTo) {
  start({"every_collective"});
  expect_both("all right");
  expect_end();
}

TEST_F(Training, OptimizersStateIsSpread) {
  for (const char* type : {"Adam", "RMSprop"}) {
    expect_as_one({"zero", type});
    expect_both("its state");
    expect_end();
  }
}

TEST_F(Training, BatchesAreNormalizedTogether) {
  expect_as_one({"batch_norm"});
  expect_end();
}

TEST_F(Training, GradientsAccumulate) {
  expect_as_one({"accumulation"});
  expect_end();
}

TEST_F(Training, RanksRunOutOfBatches) {
  expect_as_one({"join"});
  expect_end();
}

TEST_F(Training, InBFloat16IsClose) {
  start({"mixed"});
  expect_both("close");
  expect_both("the same on both ranks");
  expect_end();
}

TEST_F(Training, PipelinesOfStagesOnGpus) {
  for (const char* schedule : {"gpipe", "1f1b", "interleaved1f1b"}) {
    expect_as_one({"pipeline", schedule});
    expect_end();
  }
}

}  // namespace
}  // namespace tandem::testing::two_ranks::training
