// What would have ranks drift apart: each is exchanged right, or an error that names it.
#include <gmock/gmock.h>

#include "cpp/ddp/gradients.h"

namespace tandem::testing::drift_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// ------------------------------------------------------------------------------------------ gradients that are missing

struct Missing {
  int step;
  bool views, searches, on_all;
};

class MissingGradient : public ::testing::TestWithParam<Missing> {};

// Two layers of which the second leaves the graph.
TEST_P(MissingGradient, IsAnErrorAtTheNextForwardOrExchangedRight) {
  const Missing given = GetParam();
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    const auto parameters = parameters_of({{6, 4}, {4, 2}});
    DataParallelOptions options;
    options.bucket_cap_mb = 0;
    options.gradient_as_bucket_view = given.views;
    options.find_unused_parameters = given.searches;
    DataParallelReducer reducer(group, parameters, {"first", "second"}, {}, options);
    const bool misses = given.on_all || rank == 1;
    const auto step = [&](int number) {
      reducer.prepare_forward(true);
      std::vector<at::Tensor> outputs = {(parameters[0] * gradient({6, 4}, rank, number)).sum()};
      if (number < given.step || !misses) {
        outputs[0] = outputs[0] + (parameters[1] * gradient({4, 2}, rank, number)).sum();
      }
      reducer.prepare_backward(outputs);
      for (const at::Tensor& parameter : parameters) parameter.mutable_grad().reset();
      outputs[0].backward();
    };
    for (int i = 0; i < given.step; ++i) step(i);
    if (given.searches) {
      for (int i = given.step; i < given.step + 3; ++i) {
        step(i);
        EXPECT_LT(difference(parameters[0].grad(), mean_gradient({6, 4}, 2, i)), 1e-12);
        ASSERT_EQ(parameters[1].grad().defined(), !given.on_all);
        if (given.on_all) continue;
        EXPECT_LT(difference(parameters[1].grad(), gradient({4, 2}, 0, i) / 2), 1e-12);
      }
      return;
    }
    if (!misses) {  // it waits for a rank that fails and leaves
      EXPECT_EQ(error_of([&] { step(given.step); }).code(), ErrorCode::kPeerLost);
      return;
    }
    step(given.step);
    for (const bool again : {false, true}) {
      const Error error = error_of([&] { step(given.step + 1); });
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << again;
      EXPECT_THAT(error.what(), AllOf(HasSubstr("gave no gradient to second"), HasSubstr("find_unused_parameters")));
    }
    const at::NoGradGuard no_grad;
    reducer.prepare_forward(false);  // one evaluates still
  });
}

std::vector<Missing> all_missing() {
  std::vector<Missing> all;
  for (const int step : {1, 3, 39}) {  // from 0
    for (const bool views : {false, true}) {
      for (const bool searches : {false, true}) {
        for (const bool on_all : {false, true}) all.push_back({step, views, searches, on_all});
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Steps, MissingGradient, ::testing::ValuesIn(all_missing()), [](const auto& info) {
  const Missing& m = info.param;
  return "Step" + std::to_string(m.step + 1) + (m.views ? "Views" : "") + (m.searches ? "Searched" : "") +
         (m.on_all ? "OnAll" : "OnOne");
});

TEST(MissingGradientInNoSync, IsAnErrorAtTheNextForwardToo) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}, {4}});
    DataParallelReducer reducer(shared(group), parameters, {"a", "b"}, {});
    for (int i = 0; i < 3; ++i) exchange(reducer, parameters, {gradient({3}, group.rank()), gradient({4}, 0)});
    reducer.prepare_forward(true);
    std::vector<at::Tensor> outputs = {parameters[0].sum()};
    reducer.prepare_backward(outputs);
    outputs[0].backward();
    reducer.set_require_backward_grad_sync(false);
    EXPECT_THAT(error_of([&] { reducer.prepare_forward(true); }).what(), HasSubstr("no gradient to b"));
  });
}

TEST(FrozenParameter, ThatRequiresAGradientLaterIsNamed) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}, {4}});
    parameters[1].set_requires_grad(false);
    DataParallelReducer reducer(shared(group), parameters, {"body", "head"}, {});
    exchange(reducer, {parameters[0]}, {gradient({3}, group.rank())});
    parameters[1].set_requires_grad(true);
    const Error error = error_of([&] { reducer.prepare_forward(true); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("parameter 'head'"), HasSubstr("make a new")));
    DataParallelReducer anew(shared(group), parameters, {"body", "head"}, {});
    const auto means = exchange(anew, parameters, {gradient({3}, group.rank()), gradient({4}, group.rank())});
    EXPECT_LT(difference(means[1], mean_gradient({4}, 2)), 1e-12);
  });
}

TEST(Strides, ThatDifferBetweenRanksAreNamed) {
  run_groups(2, [](ProcessGroup& group) {
    at::Tensor weight = torch::ones({4, 3, 2, 2});
    if (group.rank() == 1) weight = weight.contiguous(at::MemoryFormat::ChannelsLast);
    weight.set_requires_grad(true);
    const Error error = error_of([&] { DataParallelReducer(shared(group), {weight}, {"conv.weight"}, {}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'conv.weight'"), HasSubstr("strides"), HasSubstr("rank 1")));
  });
}

// -------------------------------------------------------------------------------------------------------------- sparse

// An addition hands the same gradient to the embedding and to what it is added to.
TEST(SparseGradients, DoNotDivideWhatTheyShareMemoryWith) {
  for (const bool has_hook : {false, true}) {
    run_groups(2, [&](ProcessGroup& group) {
      torch::nn::Embedding first(torch::nn::EmbeddingOptions(5, 4).sparse(true));
      torch::nn::Embedding second(torch::nn::EmbeddingOptions(6, 4).sparse(true));
      first->weight.set_data(gradient({5, 4}, 7));
      second->weight.set_data(gradient({6, 4}, 8));
      const at::Tensor weight = gradient({4, 4}, 3).set_requires_grad(true);
      DataParallelReducer reducer(shared(group), {weight, first->weight, second->weight}, {}, {}, {},
                                  {false, true, true});
      if (has_hook) reducer.register_comm_hook(allreduce_hook(shared(group)));
      for (int step = 0; step < 3; ++step) {
        for (const at::Tensor& one : {weight, first->weight, second->weight}) one.mutable_grad().reset();
        const at::Tensor x = gradient({6, 4}, group.rank(), step);
        reducer.prepare_forward(true);
        const at::Tensor numbers = torch::arange(6, torch::kLong);
        std::vector<at::Tensor> outputs = {x.mm(weight) + first(numbers % 5) + second(numbers)};
        reducer.prepare_backward(outputs);
        outputs[0].sum().backward();
        const at::Tensor mean = mean_gradient({6, 4}, 2, step).sum(0).view({4, 1}).expand({4, 4});
        EXPECT_LT(difference(weight.grad(), mean), 1e-12) << step;
        const at::Tensor counts = torch::tensor({2.0, 1.0, 1.0, 1.0, 1.0}, torch::kDouble).view({5, 1}).expand({5, 4});
        EXPECT_LT(difference(first->weight.grad().to_dense(), counts), 1e-12) << step;
        EXPECT_LT(difference(second->weight.grad().to_dense(), torch::ones({6, 4}, torch::kDouble)), 1e-12) << step;
      }
    });
  }
}

// --------------------------------------------------------------------------------------------------------- static graph

DataParallelOptions static_graph() {
  DataParallelOptions options;
  options.static_graph = true;
  options.bucket_cap_mb = 0;
  return options;
}

TEST(StaticGraph, AForwardWithoutBackwardChangesNothing) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}, {4}});
    DataParallelReducer reducer(shared(group), parameters, {}, {}, static_graph());
    for (int i = 0; i < 2; ++i) {  // say, to look at the outputs
      reducer.prepare_forward(true);
      std::vector<at::Tensor> outputs = {parameters[0].sum() + parameters[1].sum()};
      reducer.prepare_backward(outputs);
    }
    for (int step = 0; step < 4; ++step) {
      const auto means = exchange(reducer, parameters, {gradient({3}, group.rank(), step), gradient({4}, group.rank(), step)});
      EXPECT_LT(difference(means[0], mean_gradient({3}, 2, step)), 1e-12) << step;
      EXPECT_LT(difference(means[1], mean_gradient({4}, 2, step)), 1e-12) << step;
    }
  });
}

TEST(StaticGraph, SeveralForwardsBeforeTheFirstBackward) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}});
    DataParallelReducer reducer(shared(group), parameters, {}, {}, static_graph());
    for (int step = 0; step < 4; ++step) {
      parameters[0].mutable_grad().reset();
      at::Tensor loss = torch::zeros({}, torch::kDouble);
      for (int part = 0; part < 2; ++part) {
        reducer.prepare_forward(true);
        std::vector<at::Tensor> outputs = {(parameters[0] * gradient({3}, group.rank(), step + part)).sum()};
        reducer.prepare_backward(outputs);
        loss = loss + outputs[0];
      }
      loss.backward();
      const at::Tensor expected = mean_gradient({3}, 2, step) + mean_gradient({3}, 2, step + 1);
      EXPECT_LT(difference(parameters[0].grad(), expected), 1e-12) << step;
    }
  });
}

TEST(StaticGraph, ALossThatIsNotOfTheOutputsIsAnError) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}});
    DataParallelReducer reducer(shared(group), parameters, {}, {}, static_graph());
    reducer.prepare_forward(true);
    const at::Tensor inner = (parameters[0] * 2).sum();
    std::vector<at::Tensor> outputs = {inner * 3};
    reducer.prepare_backward(outputs);
    inner.backward();
    EXPECT_THAT(error_of([&] { reducer.prepare_forward(true); }).what(), HasSubstr("loss from forward's outputs"));
  });
}

// LibTorch's interface, with a hook that can be told from an all-reduce.
struct Doubling : c10d::CommHookInterface {
  explicit Doubling(ProcessGroup& given) : group(given) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const at::Tensor sum = bucket.getBuffer();
    group.all_reduce(sum);
    auto future = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
    future->markCompleted(c10::IValue(sum));
    return future;
  }
  at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }
  ProcessGroup& group;
};

TEST(StaticGraph, KeepsAHookOfLibTorchWhenItAccumulatesFirst) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}});
    DataParallelReducer reducer(shared(group), parameters, {}, {}, static_graph());
    reducer.register_comm_hook(std::make_unique<Doubling>(group));
    reducer.set_require_backward_grad_sync(false);
    exchange(reducer, parameters, {gradient({3}, group.rank())});
    reducer.set_require_backward_grad_sync(true);
    for (int step = 0; step < 3; ++step) {
      const auto sums = exchange(reducer, parameters, {gradient({3}, group.rank(), step)});
      EXPECT_LT(difference(sums[0], 2 * mean_gradient({3}, 2, step)), 1e-12) << step;
    }
  });
}

// ---------------------------------------------------------------------------------------------------- samples that count

// The gradient of the mean over both ranks' samples, through a module that is called again with its own output.
TEST(AverageBySamples, WeighsAParameterOnceHoweverOftenItIsUsed) {
  const at::Tensor inputs = gradient({8, 3}, 0);
  const at::Tensor start = gradient({3, 3}, 1);
  const auto run = [](const at::Tensor& weight, const at::Tensor& x) { return torch::tanh(x.mm(weight)); };
  at::Tensor alone = start.clone().set_requires_grad(true);
  run(alone, run(alone, run(alone, inputs))).pow(2).sum(1).mean().backward();
  for (const bool accumulates : {false, true}) {
    run_groups(2, [&](ProcessGroup& group) {
      const at::Tensor weight = start.clone().set_requires_grad(true);
      DataParallelOptions options;
      options.average_by_samples = true;
      DataParallelReducer reducer(shared(group), {weight}, {}, {}, options);
      const at::Tensor mine = group.rank() == 0 ? inputs.narrow(0, 0, 3) : inputs.narrow(0, 3, 5);
      for (int pass = accumulates ? 0 : 1; pass < 2; ++pass) {
        reducer.set_require_backward_grad_sync(pass == 1);
        at::Tensor x = mine;
        for (int i = 0; i < 3; ++i) {
          reducer.prepare_forward(true, mine.size(0));
          std::vector<at::Tensor> outputs = {run(weight, x)};
          reducer.prepare_backward(outputs);
          x = outputs[0];
        }
        x.pow(2).sum(1).mean().backward();
      }
      EXPECT_LT(difference(weight.grad(), alone.grad() * (accumulates ? 2 : 1)), 1e-12);
    });
  }
}

// A part of the loss that forward does not return, of a parameter that leads to nothing that it does.
TEST(AverageBySamples, WeighsWhatBackwardComesToBesideTheOutputs) {
  const at::Tensor inputs = gradient({8, 3}, 0);
  const auto beside = [](const at::Tensor& gate, const at::Tensor& x) { return (x * gate).pow(2).sum(1).mean(); };
  at::Tensor alone = torch::ones({3}, torch::kDouble).set_requires_grad(true);
  beside(alone, inputs).backward();
  run_groups(2, [&](ProcessGroup& group) {
    const at::Tensor weight = torch::ones({3, 3}, torch::kDouble).set_requires_grad(true);
    const at::Tensor gate = torch::ones({3}, torch::kDouble).set_requires_grad(true);
    DataParallelOptions options;
    options.average_by_samples = true;
    DataParallelReducer reducer(shared(group), {weight, gate}, {}, {}, options);
    for (int step = 0; step < 3; ++step) {
      const std::int64_t rows = group.rank() == 0 ? 3 + step % 2 : 5 - step % 2;
      const at::Tensor mine = inputs.narrow(0, group.rank() == 0 ? 0 : 8 - rows, rows);
      gate.mutable_grad().reset();
      {
        // One whose outputs are dropped says nothing of the next.
        reducer.prepare_forward(true, group.rank() + 1);
        std::vector<at::Tensor> dropped = {mine.mm(weight)};
        reducer.prepare_backward(dropped);
      }
      reducer.prepare_forward(true, rows);
      std::vector<at::Tensor> outputs = {mine.mm(weight)};
      reducer.prepare_backward(outputs);
      (outputs[0].mean() + beside(gate, mine)).backward();
      EXPECT_LT(difference(gate.grad(), alone.grad()), 1e-12) << step;
    }
  });
}

TEST(AverageBySamples, WeighsTwoModulesInARowOnceEach) {
  const at::Tensor inputs = gradient({8, 3}, 0);
  const std::vector<at::Tensor> starts = {gradient({3, 4}, 1), gradient({4, 2}, 2)};
  std::vector<at::Tensor> alone;
  for (const at::Tensor& start : starts) alone.push_back(start.clone().set_requires_grad(true));
  torch::tanh(torch::tanh(inputs.mm(alone[0])).mm(alone[1])).sum(1).mean().backward();
  run_groups(2, [&](ProcessGroup& group) {
    DataParallelOptions options;
    options.average_by_samples = true;
    std::vector<at::Tensor> weights;
    std::vector<std::unique_ptr<DataParallelReducer>> reducers;
    for (const at::Tensor& start : starts) {
      weights.push_back(start.clone().set_requires_grad(true));
      reducers.push_back(std::make_unique<DataParallelReducer>(shared(group), std::vector<at::Tensor>{weights.back()},
                                                               std::vector<std::string>{}, std::vector<at::Tensor>{},
                                                               options));
    }
    at::Tensor x = group.rank() == 0 ? inputs.narrow(0, 0, 2) : inputs.narrow(0, 2, 6);
    for (int i = 0; i < 2; ++i) {
      reducers[i]->prepare_forward(true, x.size(0));
      std::vector<at::Tensor> outputs = {torch::tanh(x.mm(weights[i]))};
      reducers[i]->prepare_backward(outputs);
      x = outputs[0];
    }
    x.sum(1).mean().backward();
    for (int i = 0; i < 2; ++i) EXPECT_LT(difference(weights[i].grad(), alone[i].grad()), 1e-12) << i;
  });
}

TEST(AverageBySamples, SharesThatDifferBetweenForwardsOfOneBackwardAreRefusedOnAllRanks) {
  run_groups(3, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}});
    DataParallelOptions options;
    options.average_by_samples = true;
    DataParallelReducer reducer(shared(group), parameters, {}, {}, options);
    at::Tensor loss = torch::zeros({}, torch::kDouble);
    for (const std::int64_t samples : {4, group.rank() == 2 ? 4 : 5}) {
      reducer.prepare_forward(true, samples);
      std::vector<at::Tensor> outputs = {parameters[0].sum()};
      reducer.prepare_backward(outputs);
      loss = loss + outputs[0];
    }
    const Error error = error_of([&] { loss.backward(); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("5, 5, 4"), HasSubstr("4, 4, 4"), HasSubstr("no_sync")));
  });
}

// ------------------------------------------------------------------------------------------------------------------ join

TEST(Join, AccumulationWithoutSyncInsideOfIt) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}, {4}});
    DataParallelOptions options;
    options.bucket_cap_mb = 0;
    DataParallelReducer reducer(shared(group), parameters, {}, {}, options);
    const int rank = group.rank();
    reducer.begin_join();
    for (int step = 0; step < 1 + 3 * rank; ++step) {
      for (const at::Tensor& parameter : parameters) parameter.mutable_grad().reset();
      at::Tensor own[2];
      for (const bool syncs : {false, true}) {
        reducer.set_require_backward_grad_sync(syncs);
        reducer.prepare_forward(true);
        std::vector<at::Tensor> outputs = {(parameters[0] * gradient({3}, rank, step)).sum() +
                                           (parameters[1] * gradient({4}, rank, step)).sum()};
        reducer.prepare_backward(outputs);
        outputs[0].backward();
      }
      const at::Tensor expected = step == 0 ? 2 * mean_gradient({3}, 2) : gradient({3}, 1, step);
      EXPECT_LT(difference(parameters[0].grad(), expected), 1e-12) << step;
    }
    reducer.end_join();
  });
}

// The ranks that wait for it learn that the one which has no such gradient has left.
TEST(Join, AGradientThatIsMissingInTheLastStepIsAnErrorAtItsEnd) {
  const Store store = hash_store();
  run_ranks(3, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 3), store);
    const auto parameters = parameters_of({{3}, {4}});
    DataParallelOptions options;
    options.bucket_cap_mb = 0;
    DataParallelReducer reducer(group, parameters, {"body", "head"}, {}, options);
    reducer.begin_join();
    for (int step = 0; step < (rank == 2 ? 3 : 2); ++step) {
      reducer.prepare_forward(true);
      std::vector<at::Tensor> outputs = {parameters[0].sum()};
      if (step < 2) outputs[0] = outputs[0] + parameters[1].sum();
      reducer.prepare_backward(outputs);
      outputs[0].backward();
    }
    const Error error = error_of([&] { reducer.end_join(); });
    if (rank == 2) {
      EXPECT_THAT(error.what(), HasSubstr("gave no gradient to head"));
    } else {
      EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
    }
  });
}

TEST(Join, RefusesToLeaveOutBuckets) {
  run_groups(1, [](ProcessGroup& group) {
    DataParallelOptions options;
    options.find_unused_parameters = options.skip_all_reduce_unused_params = true;
    DataParallelReducer reducer(shared(group), parameters_of({{3}}), {}, {}, options);
    const Error error = error_of([&] { reducer.begin_join(); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("skip_all_reduce_unused_params"));
  });
}

// --------------------------------------------------------------------------------------------------------------- buffers

struct SeenImpl : torch::nn::Module {
  explicit SeenImpl(double start) { value = register_buffer("value", torch::full({2}, start)); }
  at::Tensor value;
};
TORCH_MODULE(Seen);

// The C++ frontend replaces buffers with the module that has them.
struct CountingImpl : torch::nn::Module {
  CountingImpl() {
    weight = register_parameter("weight", torch::ones({2}));
    seen = register_module("seen", Seen(0));
  }
  at::Tensor forward(const at::Tensor& x) { return (x * weight).sum(); }
  void replace(double value) { seen = replace_module("seen", Seen(value)); }
  at::Tensor weight;
  Seen seen{nullptr};
};
TORCH_MODULE(Counting);

TEST(Buffers, ThatTheModuleReplacesAreBroadcast) {
  run_groups(2, [](ProcessGroup& group) {
    Counting net;
    DistributedDataParallel<Counting> ddp(net, shared(group));
    for (int step = 1; step < 4; ++step) {
      net->replace(10.0 * step + group.rank());
      ddp.forward(torch::ones({2})).backward();
      EXPECT_EQ(net->seen->value[0].item<float>(), 10.0 * step);
    }
  });
}

TEST(Buffers, AreEachRanksOwnFromTheStartWithoutBroadcasts) {
  run_groups(2, [](ProcessGroup& group) {
    Counting net;
    net->replace(group.rank() + 5.0);
    DataParallelOptions options;
    options.broadcast_buffers = false;
    DistributedDataParallel<Counting> ddp(net, shared(group), options);
    ddp.forward(torch::ones({2})).backward();
    EXPECT_EQ(net->seen->value[0].item<float>(), group.rank() + 5.0);
  });
}

}  // namespace
}  // namespace tandem::testing::drift_test
