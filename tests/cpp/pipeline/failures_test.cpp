// What goes wrong in a pipeline is an error on every rank that says where, and nobody waits for ever.
#include <gmock/gmock.h>
#include <tandem/activation_checkpoint.h>

#include <optional>

#include "cpp/comm/threads.h"
#include "cpp/pipeline/small_model.h"

namespace tandem::testing::pipeline_failures_test {
namespace {

using namespace pipelines;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kRows = 8;

struct Fails : torch::autograd::Function<Fails> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x * 1; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*, torch::autograd::variable_list) {
    throw std::runtime_error("no gradient today");
  }
};

enum class Place { kForward, kBackward };

// A stage whose micro-batch of that number fails while `*on`.
PipelineStage failing(PipelineStage stage, Place place, int micro_batch, const bool* on) {
  const auto seen = std::make_shared<int>(0);
  stage.forward = [forward = stage.forward, place, micro_batch, on, seen](const Tensors& inputs) {
    const bool fails = (*seen)++ % 4 == micro_batch && *on;
    if (fails && place == Place::kForward) throw std::runtime_error("no forward today");
    Tensors outputs = forward(inputs);
    if (fails) outputs[0] = Fails::apply(outputs[0]);
    return outputs;
  };
  return stage;
}

struct Spot {
  const char* schedule;
  int stage;
  Place place;
  int micro_batch;
};

class OneFails : public ::testing::TestWithParam<Spot> {};

// The group lives on: the next step is as if nothing had been.
TEST_P(OneFails, AndAllSayWhichAndGoOn) {
  const Spot spot = GetParam();
  const Store store = hash_store();
  run_ranks(3, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 3, "shm"), store);
    std::map<std::string, at::Tensor> parameters, untouched;
    bool on = false;
    PipelineOptions options;
    options.schedule = make_pipeline_schedule(spot.schedule, 3, 4, 1);
    options.loss = loss_of;
    PipelineStage stage = stage_of(rank, 3, false, &parameters);
    if (rank == spot.stage) stage = failing(stage, spot.place, spot.micro_batch, &on);
    Pipeline pipeline(group, {stage}, options), fresh(group, {stage_of(rank, 3, false, &untouched)}, options);
    const Tensors inputs = rank == 0 ? Tensors{words(0, kRows, 3)} : Tensors{};
    const Tensors targets = rank == 2 ? Tensors{answers(0, kRows, 3)} : Tensors{};
    const double expected = fresh.step(inputs, targets);
    EXPECT_EQ(pipeline.step(inputs, targets), expected);
    on = true;
    const Error error = error_of([&] { pipeline.step(inputs, targets); });
    EXPECT_EQ(error.code(), ErrorCode::kCallback);
    const bool forward = spot.place == Place::kForward;
    EXPECT_THAT(error.what(), HasSubstr(c10::str(forward ? "forward" : "backward", " of micro-batch ", spot.micro_batch,
                                                 " on stage ", spot.stage, " (rank ", spot.stage, ") failed: ",
                                                 forward ? "no forward today" : "no gradient today")));
    on = false;
    for (auto& [name, parameter] : parameters) parameter.mutable_grad().zero_();
    EXPECT_EQ(pipeline.step(inputs, targets), expected);
    for (auto& [name, parameter] : parameters) {
      EXPECT_LT((parameter.grad() - untouched[name].grad()).abs().max().item<double>(), 1e-12) << name;
    }
    group->barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Spots, OneFails,
                         ::testing::Values(Spot{"1f1b", 0, Place::kForward, 0}, Spot{"1f1b", 1, Place::kForward, 3},
                                           Spot{"1f1b", 2, Place::kForward, 1}, Spot{"gpipe", 2, Place::kBackward, 0},
                                           Spot{"gpipe", 1, Place::kBackward, 2},
                                           // The very last action: no message follows that could tell.
                                           Spot{"1f1b", 0, Place::kBackward, 3}));

// What a checkpointed stage fails of when backward computes it again is that backward's failure.
TEST(PipelineFailures, OfAStageThatIsComputedAgain) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
    std::map<std::string, at::Tensor> parameters;
    PipelineStage stage = stage_of(rank, 2, false, &parameters);
    int again = 0;
    bool on = true;
    stage.forward = [&, forward = stage.forward](const Tensors& inputs) {
      const nn::ActivationCheckpoint checkpoint(
          [&](const Tensors& given) {
            if (++again == 3 && rank == 1 && on) throw std::runtime_error("not twice");
            forward(given);
          },
          inputs);
      return forward(inputs);
    };
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 4);
    options.loss = loss_of;
    Pipeline pipeline(group, {stage}, options);
    const Tensors inputs = rank == 0 ? Tensors{words(0, kRows, 3)} : Tensors{};
    const Tensors targets = rank == 1 ? Tensors{answers(0, kRows, 3)} : Tensors{};
    EXPECT_THAT(error_of([&] { pipeline.step(inputs, targets); }).what(),
                HasSubstr("backward of micro-batch 2 on stage 1 (rank 1) failed: not twice"));
    on = false;
    for (auto& [name, parameter] : parameters) parameter.mutable_grad() = at::Tensor();
    EXPECT_GT(pipeline.step(inputs, targets), 0);
    group->barrier();
  });
}

TEST(PipelineFailures, ReachOtherReplicas) {
  const Store store = hash_store();
  run_ranks(4, [&](int rank) {
    const auto world = ProcessGroup::create(options_for(rank, 4), store);
    const auto mesh = DeviceMesh::create(world, {2, 2}, {"dp", "pp"});
    const int stage_index = mesh->local_rank("pp");
    std::map<std::string, at::Tensor> parameters;
    const bool on = true;
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 4);
    options.loss = loss_of;
    PipelineStage stage = stage_of(stage_index, 2, false, &parameters);
    if (rank == 3) stage = failing(stage, Place::kForward, 2, &on);
    Pipeline pipeline(mesh, "pp", {stage}, options);
    const Tensors inputs = stage_index == 0 ? Tensors{words(0, kRows, 3)} : Tensors{};
    const Tensors targets = stage_index == 1 ? Tensors{answers(0, kRows, 3)} : Tensors{};
    const Error error = error_of([&] { pipeline.step(inputs, targets); });
    EXPECT_EQ(error.code(), ErrorCode::kCallback);
    EXPECT_THAT(error.what(), HasSubstr("forward of micro-batch 2 on stage 1 (rank 3) failed: no forward today"));
    // Training goes on over groups that are made anew.
    const auto again = DeviceMesh::create(world, {2, 2}, {"dp", "pp"});
    Pipeline next(again, "pp", {stage_of(stage_index, 2, false, &parameters)}, options);
    EXPECT_GT(next.step(inputs, targets), 0);
    world->barrier();
  });
}

// What all ranks say when they make a pipeline of which `change` is true on one rank alone.
std::string refusal(const std::function<void(int rank, PipelineOptions&, std::vector<PipelineStage>&)>& change) {
  const Store store = hash_store();
  std::vector<std::string> said(2);
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    std::map<std::string, at::Tensor> parameters;
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 4);
    options.loss = loss_of;
    std::vector<PipelineStage> stages = {stage_of(rank, 2, true, &parameters)};
    change(rank, options, stages);
    const Error error = error_of([&] { Pipeline(group, stages, options); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    said[rank] = error.what();
    group->barrier();
  });
  EXPECT_EQ(said[0], said[1]);
  return said[0];
}

TEST(PipelineFailures, RanksThatDifferAreFoundBeforeTheFirstStep) {
  using Stages = std::vector<PipelineStage>;
  EXPECT_THAT(refusal([](int rank, PipelineOptions& options, Stages&) {
                if (rank == 1) options.schedule = gpipe_schedule(2, 4);
              }),
              AllOf(HasSubstr("rank 1: its schedule is 'gpipe'"), HasSubstr("that of rank 0 '1f1b' of 2 stages")));
  EXPECT_THAT(refusal([](int rank, PipelineOptions& options, Stages&) {
                if (rank == 1) options.schedule = one_forward_one_backward_schedule(2, 8);
              }),
              HasSubstr("8 micro-batches"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions& options, Stages&) {
                if (rank == 1) std::swap(options.schedule.actions[0][0], options.schedule.actions[0][1]);
              }),
              HasSubstr("another order of actions"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions&, Stages& stages) {
                if (rank == 1) stages[0].index = 0;
              }),
              HasSubstr("rank 1: stage 0 is given, which the schedule has on rank 0"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions&, Stages& stages) {
                if (rank == 0) stages.clear();
              }),
              HasSubstr("rank 0: stage 0 is missing"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions&, Stages& stages) {
                if (rank == 1) stages[0].parameters.emplace_back("layer0.bias", torch::zeros({4}, torch::kDouble));
              }),
              HasSubstr("rank 1: stage 1 has the parameter 'layer0.bias', and so has stage 0"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions&, Stages& stages) {
                if (rank == 1) stages[0].tied.clear();
              }),
              HasSubstr("name it in `tied` of both"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions&, Stages& stages) {
                if (rank == 1) stages[0].parameters.back().second = torch::zeros({3, 4}, torch::kDouble);
              }),
              HasSubstr("'table', and so has stage 0: one is"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions& options, Stages&) {
                if (rank == 1) options.data_parallel.static_graph = true;
              }),
              HasSubstr("without replicas and static_graph"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions&, Stages& stages) {
                if (rank == 1) stages[0].parameters.back().second.requires_grad_(false);
              }),
              HasSubstr("without gradient"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions& options, Stages&) {
                if (rank == 1) options.loss = nullptr;
              }),
              HasSubstr("rank 1: the last stage needs a loss"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions&, Stages& stages) {
                stages[0].parameters.back().first = "table" + std::to_string(rank);
                stages[0].tied = {stages[0].parameters.back().first};
              }),
              HasSubstr("only stage 0 has the tied parameter 'table0'"));
  EXPECT_THAT(refusal([](int rank, PipelineOptions& options, Stages&) {
                options.fault = rank == 0 ? nullptr : std::make_shared<const Error>(ErrorCode::kInvalidArgument, "no way");
              }),
              HasSubstr("rank 1: no way"));
}

TEST(PipelineFailures, TiedParametersHaveNoSparseGradients) {
  const Store store = hash_store();
  for (const bool announced : {true, false}) {
    run_ranks(2, [&](int rank) {
      const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
      std::map<std::string, at::Tensor> parameters;
      PipelineOptions options;
      options.schedule = one_forward_one_backward_schedule(2, 2);
      options.loss = loss_of;
      PipelineStage stage = stage_of(rank, 2, true, &parameters);
      if (rank == 0) {
        if (announced) stage.sparse_gradients = {false, false, true};
        stage.forward = [table = parameters["table"]](const Tensors& inputs) {
          return Tensors{torch::embedding(table, inputs[0], -1, false, /*sparse=*/true)};
        };
      }
      const Error error = error_of([&] {
        Pipeline pipeline(group, {stage}, options);
        pipeline.step(rank == 0 ? Tensors{words(0, kRows, 3)} : Tensors{},
                      rank == 1 ? Tensors{answers(0, kRows, 3)} : Tensors{});
      });
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0"), HasSubstr("the tied parameter 'table'"))) << rank;
      group->barrier();
    });
  }
}

// What all four ranks say when two pipelines of two stages are made, and `change` is done on each.
Error refusal_with_replicas(
    const std::function<void(int rank, std::string* dimension, PipelineOptions&, PipelineStage&)>& change) {
  const Store store = hash_store();
  std::vector<std::optional<Error>> said(4);
  run_ranks(4, [&](int rank) {
    const auto world = ProcessGroup::create(options_for(rank, 4, "shm"), store);
    const auto mesh = DeviceMesh::create(world, {2, 2}, {"dp", "pp"});
    std::map<std::string, at::Tensor> parameters;
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 4);
    options.loss = loss_of;
    PipelineStage stage = stage_of(rank % 2, 2, false, &parameters);
    std::string dimension = "pp";
    change(rank, &dimension, options, stage);
    said[rank] = error_of([&] { Pipeline(mesh, dimension, {stage}, options); });
    world->barrier();  // nobody waits for a rank that has failed
  });
  for (const auto& one : said) {
    EXPECT_EQ(one->code(), said[0]->code());
    EXPECT_STREQ(one->what(), said[0]->what());
  }
  return *said[0];
}

TEST(PipelineFailures, WhatOneRankRefusesAllHearOf) {
  const Error dimension = refusal_with_replicas([](int rank, std::string* name, PipelineOptions&, PipelineStage&) {
    if (rank == 2) *name = "tp";
  });
  EXPECT_EQ(dimension.code(), ErrorCode::kNotFound);
  EXPECT_THAT(dimension.what(), AllOf(HasSubstr("rank 2: "), HasSubstr("no dimension 'tp'")));
  const Error parameter = refusal_with_replicas([](int rank, std::string*, PipelineOptions&, PipelineStage& stage) {
    if (rank == 3) stage.parameters[0].second = stage.parameters[0].second * 2;  // which backward does not come to
  });
  EXPECT_EQ(parameter.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(parameter.what(), AllOf(HasSubstr("rank 3: "), HasSubstr("layer1.weight")));
}

// One rank alone does not know of the replicas, of all ranks, or of either: it could not tell those of other pipelines.
TEST(PipelineFailures, OneRankWithoutTheGroupsOfTheOthers) {
  for (const int given : {0, 1, 2}) {
    const Store store = hash_store();
    run_ranks(4, [&](int rank) {
      const auto world = ProcessGroup::create(options_for(rank, 4, "shm"), store);
      const auto mesh = DeviceMesh::create(world, {2, 2}, {"dp", "pp"});
      std::map<std::string, at::Tensor> parameters;
      PipelineOptions options;
      options.schedule = one_forward_one_backward_schedule(2, 4);
      options.loss = loss_of;
      if (rank != 3 || given == 1) options.replicas = mesh->group("dp");
      if (rank != 3 || given == 2) options.everyone = world;
      const PipelineStage stage = stage_of(rank % 2, 2, false, &parameters);
      const Error error = error_of([&] { Pipeline(mesh->group("pp"), {stage}, options); });
      if (rank >= 2) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_THAT(error.what(), HasSubstr("give both, or a mesh")) << rank;
      } else {
        EXPECT_THAT(error.code(), ::testing::AnyOf(ErrorCode::kPeerLost, ErrorCode::kAborted)) << error.what();
      }
    });
  }
}

TEST(PipelineFailures, ReplicasOfOtherStagesAreRefused) {
  const Store store = hash_store();
  run_ranks(4, [&](int rank) {
    const auto world = ProcessGroup::create(options_for(rank, 4, "shm"), store);
    const auto group = world->split({{0, 1}, {2, 3}});
    std::map<std::string, at::Tensor> parameters;
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 4);
    options.loss = loss_of;
    options.everyone = world;
    options.replicas = world->split({{0, 3}, {1, 2}});
    // The same parameters, so that only the stages tell.
    const at::Tensor weight = torch::ones({2}).requires_grad_(true);
    PipelineStage stage;
    stage.index = rank % 2;
    stage.parameters = {{"weight" + std::to_string(rank % 2), weight}};
    stage.forward = [&](const Tensors& inputs) { return Tensors{inputs[0] * weight}; };
    const auto said = [&] { return std::string(error_of([&] { Pipeline(group, {stage}, options); }).what()); };
    EXPECT_THAT(said(), HasSubstr("rank 0: its replica 1 has the stages 1, itself 0"));
    options.replicas = world;
    EXPECT_THAT(said(), HasSubstr("rank 0: the pipeline has 2 ranks and 4 replicas, but all of them together are 4"));
    world->barrier();
  });
}

// Without find_unused_parameters replicas would have gradients of their own.
TEST(PipelineFailures, AParameterThatTheLastMicroBatchLeavesOut) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto world = ProcessGroup::create(options_for(rank, 2, "shm"), store);
    const auto mesh = DeviceMesh::create(world, {2, 1}, {"dp", "pp"});
    const at::Tensor weight = torch::ones({2}).requires_grad_(true), other = torch::ones({2}).requires_grad_(true);
    int calls = 0;
    PipelineOptions options;
    options.schedule = gpipe_schedule(1, 2);
    options.loss = [](const Tensors& outputs, const Tensors&) { return outputs[0].mean(); };
    PipelineStage stage;
    stage.parameters = {{"weight", weight}, {"other", other}};
    stage.forward = [&](const Tensors& inputs) {
      return Tensors{++calls == 2 ? inputs[0] * weight : inputs[0] * weight + other};
    };
    Pipeline pipeline(mesh, "pp", {stage}, options);
    const Error error = error_of([&] { pipeline.step({torch::ones({4, 2})}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("backward of micro-batch 1 on stage 0"), HasSubstr("no gradient to other")));
    world->barrier();
  });
}

TEST(PipelineFailures, ShapesThatDoNotFitNameBothStages) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 2);
    options.loss = loss_of;
    const at::Tensor weight = torch::ones({rank == 0 ? 3 : 5, 4}, torch::kDouble).requires_grad_(true);
    PipelineStage stage;
    stage.index = rank;
    stage.parameters = {{"weight" + std::to_string(rank), weight}};
    stage.forward = [&](const Tensors& inputs) { return Tensors{inputs[0].matmul(weight)}; };
    Pipeline pipeline(group, {stage}, options);
    const Tensors inputs = rank == 0 ? Tensors{torch::ones({kRows, 3}, torch::kDouble)} : Tensors{};
    const Error error = error_of([&] { pipeline.step(inputs, {}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("forward of micro-batch 0 on stage 1 (rank 1) failed"),
                                    HasSubstr("It was given Double[4, 4] by stage 0 (rank 0)")));
    group->barrier();
  });
}

TEST(PipelineFailures, BatchesThatCannotBeCut) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    std::map<std::string, at::Tensor> parameters;
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 4);
    options.loss = loss_of;
    Pipeline pipeline(group, {stage_of(rank, 2, false, &parameters)}, options);
    const auto said = [&](const Tensors& inputs, const Tensors& targets) {
      const Error error =
          error_of([&] { pipeline.step(rank == 0 ? inputs : Tensors{}, rank == 1 ? targets : Tensors{}); });
      return std::string(error.what());
    };
    EXPECT_THAT(said({words(0, 3, 3)}, {answers(0, 8, 3)}), HasSubstr("rank 0: inputs of 3 rows do not divide into 4"));
    EXPECT_THAT(said({words(0, 8, 3)}, {answers(0, 3, 3)}), HasSubstr("rank 1: targets of 3 rows"));
    EXPECT_THAT(said({words(0, 8, 3), words(0, 9, 3)}, {}), HasSubstr("8 and 9 rows"));
    EXPECT_THAT(said({}, {}), HasSubstr("the first stage's rank gives the inputs"));
    EXPECT_THAT(said({words(0, 8, 3)}, {answers(0, 16, 3)}), HasSubstr("targets have 16 rows, the inputs 8"));
    const at::Tensor leaf = torch::ones({8, 3}, torch::kDouble).requires_grad_(true);
    EXPECT_THAT(said({leaf * 2}, {answers(0, 8, 3)}), HasSubstr("rank 0: inputs are results of operations"));
    group->barrier();
  });
}

// A rank that goes in the middle of a step.
TEST(PipelineFailures, ALostRankEndsTheStep) {
  for (const char* backend : {"gloo", "shm"}) {
    const Store store = hash_store();
    run_ranks(3, [&](int rank) {
      auto group = ProcessGroup::create(options_for(rank, 3, backend), store);
      std::map<std::string, at::Tensor> parameters;
      PipelineOptions options;
      options.schedule = one_forward_one_backward_schedule(3, 4);
      options.loss = loss_of;
      PipelineStage stage = stage_of(rank, 3, false, &parameters);
      if (rank == 1) {
        stage.forward = [&, forward = stage.forward](const Tensors& inputs) {
          group->close();
          return forward(inputs);
        };
      }
      Pipeline pipeline(group, {stage}, options);
      const Error error = error_of([&] {
        pipeline.step(rank == 0 ? Tensors{words(0, kRows, 3)} : Tensors{},
                      rank == 2 ? Tensors{answers(0, kRows, 3)} : Tensors{});
      });
      EXPECT_THAT(error.code(), ::testing::AnyOf(ErrorCode::kPeerLost, ErrorCode::kAborted, ErrorCode::kClosed))
          << error.what();
      EXPECT_THAT(error.what(), AllOf(HasSubstr("micro-batch"), HasSubstr("stage"))) << backend << " " << rank;
    });
  }
}

TEST(PipelineFailures, OptionsThatDoNotGoTogether) {
  const auto group = ProcessGroup::create(options_for(0, 1), hash_store());
  std::map<std::string, at::Tensor> parameters;
  PipelineOptions options;
  options.schedule = gpipe_schedule(1, 1);
  options.loss = loss_of;
  options.data_parallel.static_graph = true;
  const auto refusal_of = [&] {
    return error_of([&] { Pipeline(group, {stage_of(0, 1, false, &parameters)}, options); });
  };
  EXPECT_EQ(refusal_of().code(), ErrorCode::kUnsupported);
  options.data_parallel.static_graph = false;
  options.replicas = group;
  EXPECT_THAT(refusal_of().what(), HasSubstr("give both"));
}

}  // namespace
}  // namespace tandem::testing::pipeline_failures_test
