// Models that are cut by measured time, and train as before.
#include <gmock/gmock.h>
#include <tandem/optim.h>
#include <tandem/pipeline_split.h>

#include <chrono>
#include <thread>

#include "cpp/comm/threads.h"
#include "cpp/pipeline/small_model.h"

namespace tandem::testing::pipeline_split_test {
namespace {

using namespace pipelines;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Takes at least so long, forward and backward.
struct SlowImpl : torch::nn::Module {
  explicit SlowImpl(int milliseconds) : milliseconds(milliseconds) {
    weight = register_parameter("weight", torch::full({3}, 1.5, torch::kDouble));
    count = register_buffer("count", torch::zeros({}, torch::kLong));
  }
  at::Tensor forward(const at::Tensor& x) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    count.add_(1);
    return torch::dropout(x, 0.5, true) * weight;
  }
  int milliseconds;
  at::Tensor weight, count;
};
TORCH_MODULE(Slow);

// Each rank would measure something else.
torch::nn::Sequential slow_on_rank(int rank) {
  return rank == 0 ? torch::nn::Sequential(Slow(0), Slow(0), Slow(0), Slow(60))
                   : torch::nn::Sequential(Slow(60), Slow(0), Slow(0), Slow(0));
}

TEST(SplitByTime, TakesTheFirstRanksMeasurement) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    torch::nn::Sequential model = slow_on_rank(rank);
    const auto layers = pipeline_layers(model);
    const at::Tensor weight = layers[1].parameters[0].second;
    weight.mutable_grad() = torch::full({3}, 7.0, torch::kDouble);
    const at::Tensor random = at::globalContext().defaultGenerator(at::kCPU).get_state();
    const at::Tensor x = torch::ones({2, 3}, torch::kDouble);
    PipelineSplitOptions options;
    options.repeats = 1;
    EXPECT_THAT(where_to_split(*group, layers, rank == 0 ? Tensors{x} : Tensors{}, options), ElementsAre(0, 3));
    const auto stages = split_by_time(*group, layers, rank == 0 ? Tensors{x} : Tensors{}, options);
    ASSERT_EQ(stages.size(), 1u);
    EXPECT_EQ(stages[0].index, rank);
    std::vector<std::string> names;
    for (const auto& [name, tensor] : stages[0].parameters) names.push_back(name);
    if (rank == 0) {
      EXPECT_THAT(names, ElementsAre("0.weight", "1.weight", "2.weight"));
    } else {
      EXPECT_THAT(names, ElementsAre("3.weight"));
      EXPECT_THAT(stages[0].buffers, ElementsAre(Pair("3.count", ::testing::_)));
    }
    // Nothing is left of it.
    EXPECT_TRUE(weight.grad().equal(torch::full({3}, 7.0, torch::kDouble)));
    for (const at::Tensor& count : model->buffers()) EXPECT_EQ(count.item<int>(), 0);
    for (const auto& layer : layers) {
      const at::Tensor& other = layer.parameters[0].second;
      EXPECT_EQ(other.grad().defined(), other.is_same(weight));
    }
    if (rank == 0) {
      EXPECT_TRUE(random.equal(at::globalContext().defaultGenerator(at::kCPU).get_state()));
    }
    group->barrier();
  });
}

TEST(SplitByTime, TheLossCountsWithTheLastLayer) {
  const auto group = ProcessGroup::create(options_for(0, 1, "none"), hash_store());
  PipelineSplitOptions options;
  options.repeats = 3;
  options.stages_per_rank = 2;
  options.targets = {torch::ones({2, 3}, torch::kDouble)};
  options.loss = [](const Tensors& outputs, const Tensors& targets) {
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
    return (outputs[0] - targets[0]).square().mean();
  };
  const auto layers = pipeline_layers(torch::nn::Sequential(Slow(40), Slow(40), Slow(0)));
  EXPECT_THAT(where_to_split(*group, layers, {torch::ones({2, 3}, torch::kDouble)}, options), ElementsAre(0, 2));
}

TEST(SplitByTime, AllRanksHearWhyNot) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    const at::Tensor x = torch::ones({2, 4}, torch::kDouble);
    const auto said = [&](const torch::nn::Sequential& model, const Tensors& inputs) {
      return std::string(error_of([&] { split_by_time(*group, pipeline_layers(model), inputs); }).what());
    };
    EXPECT_THAT(said(torch::nn::Sequential(Slow(0), Slow(0), Slow(0)), {x}),
                AllOf(HasSubstr("rank 0: layer 0 of 3 fails as it is measured"), HasSubstr("size")));
    EXPECT_THAT(said(rank == 0 ? torch::nn::Sequential(Slow(0), Slow(0)) : torch::nn::Sequential(Slow(0), Slow(0), Slow(0)),
                     {x.narrow(1, 0, 3)}),
                HasSubstr("rank 1 has 3 layers in 2 stages, rank 0 2 layers in 2"));
    EXPECT_THAT(said(torch::nn::Sequential(Slow(0)), {x}), HasSubstr("1 layers do not divide into 2 stages"));
    group->barrier();
  });
}

TEST(SplitByTime, LeavesInputsAsTheyWere) {
  const at::Tensor x = torch::ones({2, 3}, torch::kDouble);
  PipelineStage layer;
  layer.forward = [](const Tensors& inputs) { return Tensors{inputs[0].mul_(2)}; };
  measure_layers({layer}, {x});
  EXPECT_TRUE(x.equal(torch::ones({2, 3}, torch::kDouble)));
}

// Faults of rank 1, which measures nothing.
TEST(SplitByTime, AllRanksHearWhatOneCannotGive) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    const auto named = [](const std::string& first, const std::string& second) {
      std::vector<PipelineStage> layers(2);
      layers[0].parameters = {{first, torch::ones({3}, torch::kDouble)}};
      layers[1].parameters = {{second, torch::ones({3}, torch::kDouble)}};
      for (PipelineStage& layer : layers) layer.forward = [](const Tensors& inputs) { return inputs; };
      return layers;
    };
    const auto said = [&](const std::vector<PipelineStage>& layers, const PipelineSplitOptions& options) {
      return std::string(error_of([&] { split_by_time(*group, layers, {torch::ones({3})}, options); }).what());
    };
    EXPECT_THAT(said(named("a", rank == 0 ? "b" : "a"), {}), HasSubstr("rank 1: two layers have a tensor 'a' of their own"));
    std::vector<PipelineStage> tied = named("a", "b");
    if (rank == 1) tied[1].tied = {"b"};
    EXPECT_THAT(said(tied, {}), HasSubstr("rank 1: a layer ties 'b'"));
    PipelineSplitOptions options;
    if (rank == 1) options.fault = std::make_shared<const Error>(ErrorCode::kInvalidArgument, "a tensor is closed");
    EXPECT_THAT(said(named("a", "b"), options), HasSubstr("rank 1: a tensor is closed"));
    PipelineSplitOptions apart;
    const auto other = ProcessGroup::create(options_for(rank, 2), store);
    if (rank == 1) apart.everyone = other;
    EXPECT_THAT(said(named("a", "b"), apart), HasSubstr("gives the group of everyone"));
    group->barrier();
  });
}

// A program of torch.export, cut into two stages with two layers of a transformer and what masks them: trains as the whole.
TEST(SplitByTime, AnExportedProgramTrainsAsBefore) {
  const Store store = hash_store();
  constexpr int kSteps = 5, kRows = 4;
  const auto tokens = [](int step) { return (torch::arange(kRows * 6, torch::kLong) * 7 + step * 3).remainder(11).view({kRows, 6}); };
  at::Tensor padding = torch::zeros({kRows, 6}, torch::kBool);
  padding[1].slice(0, 4).fill_(true);
  const auto loss_of = [](const Tensors& outputs, const Tensors& targets) {
    return (outputs[0] - targets[0]).square().mean();
  };
  const auto targets = [](int step) { return torch::sin(torch::arange(kRows * 6 * 8, torch::kDouble) + step).view({kRows, 6, 8}); };
  const auto alone = ExportedProgram::load(EXPORTED_FILES "/transformer.pt2");
  const auto sgd = optim::make_optimizer("SGD", alone->get().parameters(), {{"lr", 0.1}});
  std::vector<double> losses;
  for (int step = 0; step < kSteps; ++step) {
    sgd->zero_grad();
    const at::Tensor loss = loss_of({alone->forward({tokens(step), padding})[0].toTensor()}, {targets(step)});
    loss.backward();
    losses.push_back(loss.item<double>());
    sgd->step();
  }
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
    const auto program = ExportedProgram::load(EXPORTED_FILES "/transformer.pt2");
    const auto layers = pipeline_layers(*program, 8);
    EXPECT_GE(layers.size(), 8u);
    const auto stages = split_by_time(*group, layers, rank == 0 ? Tensors{tokens(0), padding} : Tensors{});
    ASSERT_EQ(stages.size(), 1u);
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 2);
    options.loss = loss_of;
    Pipeline pipeline(group, stages, options);
    std::vector<at::Tensor> parameters;
    for (const auto& [name, tensor] : stages[0].parameters) parameters.push_back(tensor);
    EXPECT_FALSE(parameters.empty());
    const auto own = optim::make_optimizer("SGD", parameters, {{"lr", 0.1}});
    for (int step = 0; step < kSteps; ++step) {
      own->zero_grad();
      const double loss = pipeline.step(rank == 0 ? Tensors{tokens(step), padding} : Tensors{},
                                        rank == 1 ? Tensors{targets(step)} : Tensors{});
      EXPECT_NEAR(loss, losses[step], 1e-11);
      own->step();
    }
    for (const auto& [name, tensor] : stages[0].parameters) {
      const at::Tensor wanted = alone->get().named_parameters()[name];
      EXPECT_LT((tensor - wanted).abs().max().item<double>(), 1e-11) << name;
    }
    group->barrier();
  });
}

// Of parameters and buffers, whoever has them.
class Watched {
 public:
  explicit Watched(const torch::nn::Module& model) {
    for (const at::Tensor& tensor : model.parameters()) add(tensor);
    for (const at::Tensor& tensor : model.buffers()) add(tensor);
  }
  std::size_t bytes_held() const {
    std::size_t bytes = 0;
    for (const auto& [storage, size] : storages_) bytes += storage.expired() ? 0 : size;
    return bytes;
  }

 private:
  void add(const at::Tensor& tensor) { storages_.emplace_back(tensor.storage().getWeakStorageImpl(), tensor.storage().nbytes()); }
  std::vector<std::pair<c10::weak_intrusive_ptr<c10::StorageImpl>, std::size_t>> storages_;
};

std::size_t bytes_of(const PipelineStage& stage) {
  std::size_t bytes = 0;
  for (const NamedTensors* tensors : {&stage.parameters, &stage.buffers}) {
    for (const auto& [name, tensor] : *tensors) bytes += tensor.storage().nbytes();
  }
  return bytes;
}

// A rank has memory for what its stages read, once the program has let the whole model go.
TEST(SplitByTime, NothingIsKeptOfOtherStages) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
    const at::Tensor x = torch::ones({2, 6}, torch::kDouble);
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 2);
    options.loss = [](const Tensors& outputs, const Tensors&) { return outputs[0].square().mean(); };
    const auto sequential = [] {
      torch::nn::Sequential model(torch::nn::Linear(6, 40), torch::nn::Linear(40, 40), torch::nn::Linear(40, 40),
                                  torch::nn::Linear(40, 3));
      model->to(torch::kDouble);
      Watched watched(*model);
      return std::pair(pipeline_layers(model), watched);
    };
    const auto program = [] {
      const auto loaded = ExportedProgram::load(EXPORTED_FILES "/mlp.pt2");
      Watched watched(loaded->get());
      return std::pair(pipeline_layers(*loaded, 4), watched);
    };
    for (const auto& make : {std::function<std::pair<std::vector<PipelineStage>, Watched>()>(sequential), {program}}) {
      auto [layers, watched] = make();
      const std::size_t whole = watched.bytes_held();
      PipelineStage stage = split_by_time(*group, layers, rank == 0 ? Tensors{x} : Tensors{}).at(0);
      layers.clear();
      EXPECT_EQ(watched.bytes_held(), bytes_of(stage));
      EXPECT_GT(bytes_of(stage), 0u);
      EXPECT_LT(bytes_of(stage), whole);
      Pipeline pipeline(group, {std::move(stage)}, options);
      pipeline.step(rank == 0 ? Tensors{x} : Tensors{});
      EXPECT_EQ(watched.bytes_held(), bytes_of(pipeline.stages()[0]));
      const auto all = group->all_gather_bytes(std::to_string(watched.bytes_held()));
      EXPECT_EQ(std::stoul(all[0]) + std::stoul(all[1]), whole);
    }
    group->barrier();
  });
}

// Layers that share a parameter train it as one, wherever they are cut.
TEST(JoinLayers, TiesWhatStagesShare) {
  const auto layer = [](int index, const at::Tensor& weight) {
    PipelineStage made;
    made.parameters = {{std::to_string(index) + ".weight", weight}};
    made.forward = [weight](const Tensors& inputs) { return Tensors{inputs[0].matmul(weight).tanh()}; };
    return made;
  };
  const auto model = [&] {
    std::vector<PipelineStage> layers;
    for (int i = 0; i < 4; ++i) {
      at::Tensor weight = torch::sin(torch::arange(9, torch::kDouble) + i).view({3, 3}).requires_grad_(true);
      layers.push_back(layer(i, i == 3 ? layers[0].parameters[0].second : weight));
    }
    return layers;
  };
  const at::Tensor x = torch::sin(torch::arange(12, torch::kDouble)).view({4, 3});
  const auto alone = model();
  at::Tensor whole = x;
  for (const auto& one : alone) whole = one.forward({whole})[0];
  whole.square().mean().backward();
  for (const std::vector<std::size_t>& first : {std::vector<std::size_t>{0, 1}, {0, 3}}) {
    const Store store = hash_store();
    run_ranks(2, [&](int rank) {
      const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
      const auto layers = model();
      const PipelineStage stage = join_layers(layers, first)[rank];
      EXPECT_THAT(stage.tied, ElementsAre("0.weight"));
      PipelineOptions options;
      options.schedule = one_forward_one_backward_schedule(2, 2);
      options.loss = [](const Tensors& outputs, const Tensors&) { return outputs[0].square().mean(); };
      Pipeline pipeline(group, {stage}, options);
      pipeline.step(rank == 0 ? Tensors{x} : Tensors{});
      for (const auto& [name, tensor] : stage.parameters) {
        const at::Tensor wanted = alone[name[0] - '0'].parameters[0].second.grad();
        EXPECT_LT((tensor.grad() - wanted).abs().max().item<double>(), 1e-12) << name << " " << rank;
      }
      EXPECT_EQ(pipeline.saves("0.weight"), rank == 0);
      group->barrier();
    });
  }
  const auto joined = join_layers(alone, {0});
  EXPECT_THAT(joined[0].tied, ElementsAre());
  EXPECT_EQ(joined[0].parameters.size(), 3u);
  EXPECT_THAT(error_of([&] { join_layers(alone, {0, 0}); }).what(), HasSubstr("stage 1 is to begin with layer 0"));
  EXPECT_THAT(error_of([&] { join_layers(alone, {0, 4}); }).what(), HasSubstr("one of the 4 layers"));
}

}  // namespace
}  // namespace tandem::testing::pipeline_split_test
