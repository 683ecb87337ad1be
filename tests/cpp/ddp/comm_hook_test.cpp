// Communication hooks, with ranks as threads.
#include <gmock/gmock.h>

#include "cpp/ddp/gradients.h"

namespace tandem::testing::comm_hook_test {
namespace {

using ::testing::HasSubstr;

using Shapes = std::vector<std::vector<std::int64_t>>;
const Shapes kShapes = {{7, 5}, {5}, {4, 3, 2}, {600}};

DataParallelOptions small_buckets() {
  DataParallelOptions options;
  options.bucket_cap_mb = 0;  // each gradient alone
  return options;
}

using MakeHook = std::function<CommHook(const std::shared_ptr<ProcessGroup>&)>;

// What `hook` makes of the ranks' gradients in some steps: result(step, parameter) of every rank is checked.
void run_hook(int size, const MakeHook& hook, const DataParallelOptions& options, int steps,
              const std::function<void(int rank, int step, std::size_t parameter, const at::Tensor&)>& check) {
  run_groups(size, [&](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, options);
    reducer.register_comm_hook(hook(shared(group)));
    for (int step = 0; step < steps; ++step) {
      std::vector<at::Tensor> gradients;
      for (const auto& shape : kShapes) gradients.push_back(gradient(shape, group.rank(), step));
      const auto exchanged = exchange(reducer, parameters, gradients);
      for (std::size_t i = 0; i < kShapes.size(); ++i) check(group.rank(), step, i, exchanged[i]);
    }
  });
}

struct Lossy {
  const char* name;
  MakeHook make;
  double tolerance;  // of the mean of gradients between -1 and 1
};

class LossyHook : public ::testing::TestWithParam<std::tuple<Lossy, int>> {};

TEST_P(LossyHook, GivesAboutTheMeanAndTheSameOnAllRanks) {
  const Lossy hook = std::get<0>(GetParam());
  const int size = std::get<1>(GetParam());
  for (const auto& options : {DataParallelOptions(), small_buckets()}) {
    constexpr int kSteps = 3;
    std::vector<std::vector<at::Tensor>> seen(size, std::vector<at::Tensor>(kSteps * kShapes.size()));
    run_hook(size, hook.make, options, kSteps, [&](int rank, int step, std::size_t i, const at::Tensor& got) {
      seen[rank][step * kShapes.size() + i] = got;
      EXPECT_LE(difference(got, mean_gradient(kShapes[i], size, step)), hook.tolerance) << i;
    });
    double lost = 0;
    for (std::size_t at = 0; at < seen[0].size(); ++at) {
      for (int rank = 1; rank < size; ++rank) EXPECT_TRUE(seen[rank][at].equal(seen[0][at]));
      lost = std::max(lost, difference(seen[0][at], mean_gradient(kShapes[at % kShapes.size()], size,
                                                                  static_cast<int>(at / kShapes.size()))));
    }
    EXPECT_EQ(hook.tolerance < 1e-9, lost < 1e-9) << "the hook was to lose something, or nothing: " << lost;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hooks, LossyHook,
    ::testing::Combine(
        ::testing::Values(
            Lossy{"AllReduce", [](const auto& group) { return allreduce_hook(group); }, 1e-12},
            Lossy{"Fp16", [](const auto& group) { return fp16_compress_hook(group); }, 2e-3},
            Lossy{"Bf16", [](const auto& group) { return bf16_compress_hook(group); }, 2e-2},
            Lossy{"Fp16AroundBf16", [](const auto& group) { return fp16_compress_wrapper(bf16_compress_hook(group)); },
                  2e-2},
            // Half a level of 255 between -1 and 1.
            Lossy{"PerTensor", [](const auto& group) { return quantization_pertensor_hook(group); }, 1.01 / 255},
            Lossy{"PerChannel", [](const auto& group) { return quantization_perchannel_hook(group, 16); }, 1.01 / 255}),
        ::testing::Values(2, 3)),
    [](const auto& info) { return std::get<0>(info.param).name + std::to_string(std::get<1>(info.param)); });

TEST(CommHook, ChannelsHaveScalesOfTheirOwn) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{64}});
    const auto lost = [&](CommHook hook) {
      DataParallelReducer reducer(shared(group), parameters, {}, {});
      reducer.register_comm_hook(std::move(hook));
      at::Tensor wide = gradient({64}, group.rank());
      wide.narrow(0, 32, 32).mul_(1000);
      at::Tensor mean = mean_gradient({64}, 2);
      return difference(exchange(reducer, parameters, {wide})[0].narrow(0, 0, 32), mean.narrow(0, 0, 32));
    };
    EXPECT_GT(lost(quantization_pertensor_hook(shared(group))), 0.1);
    EXPECT_LT(lost(quantization_perchannel_hook(shared(group), 32)), 1.01 / 255);
  });
}

TEST(CommHook, NoopLeavesEachRankItsOwn) {
  run_hook(
      2, [](const auto&) { return noop_hook(); }, small_buckets(), 2,
      [](int rank, int step, std::size_t i, const at::Tensor& got) {
        EXPECT_TRUE(got.equal(gradient(kShapes[i], rank, step)));
      });
}

TEST(CommHook, StagesOfManyBucketsKeepOneOrder) {
  // Three collectives a bucket, of which the last two are begun when earlier ones are done: in another order on another
  // rank they would meet the wrong ones.
  const MakeHook three_stages = [](const std::shared_ptr<ProcessGroup>& group) -> CommHook {
    return [group](c10d::GradBucket& bucket) {
      const at::Tensor buffer = bucket.getBuffer();
      const auto third = [=]() -> Exchange { return {group->all_reduce_async(buffer), {}, buffer}; };
      const auto second = [=]() -> Exchange {
        buffer.div_(group->size());
        return {group->all_reduce_async(buffer),
                [=] {
                  at::Tensor(buffer).div_(group->size() * group->size());
                  return third();
                },
                {}};
      };
      return Exchange{group->all_reduce_async(buffer), second, {}};
    };
  };
  // sum / n · n / n² · n = mean
  run_hook(3, three_stages, small_buckets(), 5, [](int, int step, std::size_t i, const at::Tensor& got) {
    EXPECT_LT(difference(got, mean_gradient(kShapes[i], 3, step)), 1e-12);
  });
}

TEST(CommHook, IsToldAboutTheBucket) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, small_buckets());
    std::vector<std::size_t> indices;
    reducer.register_comm_hook([&, hook = allreduce_hook(shared(group))](c10d::GradBucket& bucket) {
      indices.push_back(bucket.getIndex());
      EXPECT_EQ(bucket.isLast(), bucket.getIndex() + 1 == (indices.size() == 1 ? 1 : kShapes.size()));
      EXPECT_EQ(bucket.getParameters().size(), bucket.getGradients().size());
      for (std::size_t i = 0; i < bucket.getParameters().size(); ++i) {
        EXPECT_EQ(bucket.getParameters()[i].sizes(), bucket.getGradients()[i].sizes());
      }
      return hook(bucket);
    });
    std::vector<at::Tensor> gradients;
    for (const auto& shape : kShapes) gradients.push_back(gradient(shape, group.rank()));
    exchange(reducer, parameters, gradients);
    exchange(reducer, parameters, gradients);
    EXPECT_THAT(indices, ::testing::ElementsAre(0, 0, 1, 2, 3));
  });
}

TEST(CommHook, OfLibTorchsInterfaceIsTaken) {
  struct Doubles final : c10d::CommHookInterface {
    c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
      auto future = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
      future->markCompleted(c10::IValue(bucket.getBuffer() * 2));
      return future;
    }
    at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }
  };
  run_groups(1, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}});
    DataParallelReducer reducer(shared(group), parameters, {}, {});
    reducer.register_comm_hook(std::make_unique<Doubles>());
    const at::Tensor own = gradient({3}, 0);
    EXPECT_TRUE(exchange(reducer, parameters, {own})[0].equal(own * 2));
  });
}

TEST(CommHook, ThatFailsFailsBackward) {
  for (const bool in_stage : {false, true}) {
    run_groups(2, [&](ProcessGroup& group) {
      const auto parameters = parameters_of({{3}, {4}});
      DataParallelReducer reducer(shared(group), parameters, {}, {});
      reducer.register_comm_hook([&](c10d::GradBucket& bucket) -> Exchange {
        const auto fail = []() -> Exchange { throw Error(ErrorCode::kCallback, "the hook does not want to"); };
        if (!in_stage) return fail();
        return {group.all_reduce_async(bucket.getBuffer()), fail, {}};
      });
      const Error error = error_of([&] { exchange(reducer, parameters, {gradient({3}, 0), gradient({4}, 0)}); });
      EXPECT_EQ(error.code(), ErrorCode::kCallback);
      EXPECT_THAT(error.what(), HasSubstr("does not want to"));
    });
  }
}

TEST(CommHook, IsRegisteredOnceBeforeTheFirstForward) {
  run_groups(1, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}});
    DataParallelReducer reducer(shared(group), parameters, {}, {});
    reducer.register_comm_hook(noop_hook());
    EXPECT_THAT(error_of([&] { reducer.register_comm_hook(noop_hook()); }).what(), HasSubstr("it takes one"));
    EXPECT_THAT(error_of([&] { reducer.register_comm_hook(CommHook()); }).what(), HasSubstr("empty"));
    DataParallelReducer late(shared(group), parameters_of({{3}}), {}, {});
    late.prepare_forward(true);
    EXPECT_THAT(error_of([&] { late.register_comm_hook(noop_hook()); }).what(), HasSubstr("before it"));
  });
}

TEST(CommHook, SparseGradientsTravelThroughCompression) {
  for (const MakeHook& make : {MakeHook([](const auto& group) { return bf16_compress_hook(group); }),
                               MakeHook([](const auto& group) { return quantization_pertensor_hook(group); })}) {
    run_groups(2, [&](ProcessGroup& group) {
      torch::nn::Embedding table(torch::nn::EmbeddingOptions(5, 2).sparse(true));
      DistributedDataParallel<torch::nn::Embedding> ddp(table, shared(group));
      ddp.reducer().register_comm_hook(make(shared(group)));
      ddp.forward(torch::tensor({group.rank(), 4})).sum().backward();
      const at::Tensor want = torch::tensor({0.5f, 0.5f, 0.f, 0.f, 1.f}).unsqueeze(1).expand({5, 2});
      EXPECT_TRUE(table->weight.grad().to_dense().equal(want)) << table->weight.grad();
    });
  }
}

TEST(PostLocalSgd, AveragesOverAllThenOverItsSubgroup) {
  const Store store = hash_store();
  run_ranks(4, [&](int rank) {
    const auto all = ProcessGroup::create(options_for(rank, 4), store);
    ProcessGroupOptions part = options_for(rank % 2, 2);
    part.name = "half" + std::to_string(rank / 2);
    const auto half = ProcessGroup::create(part, store);
    for (const bool allreduce : {true, false}) {
      const auto parameters = parameters_of({{6}, {7}});
      DataParallelReducer reducer(all, parameters, {}, {}, small_buckets());
      PostLocalSgdOptions options;
      options.start_local_sgd_iter = 2;
      options.post_local_gradient_allreduce = allreduce;
      reducer.register_comm_hook(post_local_sgd_hook(all, half, options));
      for (int step = 0; step < 4; ++step) {
        const auto got = exchange(reducer, parameters, {gradient({6}, rank, step), gradient({7}, rank, step)});
        const int first = rank / 2 * 2;
        const at::Tensor local =
            allreduce ? (gradient({6}, first, step) + gradient({6}, first + 1, step)) / 2 : gradient({6}, rank, step);
        EXPECT_LT(difference(got[0], step < 2 ? mean_gradient({6}, 4, step) : local), 1e-12) << step;
      }
    }
    all->barrier();
  });
}

// ------------------------------------------------------------------------------------------------------ PowerSGD

PowerSgdOptions power_options(std::int64_t rank) {
  PowerSgdOptions options;
  options.matrix_approximation_rank = rank;
  options.start_power_sgd_iter = 2;
  options.min_compression_rate = 1;
  return options;
}

TEST(PowerSgd, GivesMatricesOfLowRankBackAsTheyAre) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{20, 12}, {3}});
    DataParallelReducer reducer(shared(group), parameters, {}, {});
    const auto state = std::make_shared<PowerSgdState>(shared(group), power_options(2));
    reducer.register_comm_hook(power_sgd_hook(state));
    // One column of each rank: the mean has rank two.
    const auto outer = [](int rank, int step) {
      return gradient({20, 1}, rank, step).matmul(gradient({1, 12}, rank + 5, step));
    };
    for (int step = 0; step < 5; ++step) {
      const auto got = exchange(reducer, parameters, {outer(group.rank(), step), gradient({3}, group.rank(), step)});
      EXPECT_LT(difference(got[0], (outer(0, step) + outer(1, step)) / 2), 1e-12) << step;
      EXPECT_LT(difference(got[1], mean_gradient({3}, 2, step)), 1e-12) << "a vector is not compressed";
    }
    EXPECT_EQ(state->numel_before_compression(), 3 * 243);
    EXPECT_EQ(state->numel_after_compression(), 3 * (2 * 32 + 3));
  });
}

TEST(PowerSgd, ProjectsTheMeanAndKeepsWhatItLost) {
  for (const bool batched : {false, true}) {
    run_groups(3, [&](ProcessGroup& group) {
      const auto parameters = parameters_of({{16, 16}});
      DataParallelReducer reducer(shared(group), parameters, {}, {});
      const auto state = std::make_shared<PowerSgdState>(shared(group), power_options(3));
      reducer.register_comm_hook(batched ? batched_power_sgd_hook(state) : power_sgd_hook(state));
      at::Tensor error = torch::zeros({16, 16}, torch::kDouble);  // the mean of the ranks'
      for (int step = 0; step < 6; ++step) {
        const at::Tensor own =
            gradient({16, 16}, group.rank(), step) + 0.1 * gradient({256}, 7, group.rank()).square().view({16, 16});
        at::Tensor wanted = own.clone();
        group.all_reduce(wanted, ReduceOp::kAvg);
        wanted = wanted + error;
        const at::Tensor got = exchange(reducer, parameters, {own})[0];
        if (step < 2) {
          EXPECT_LT(difference(got, wanted), 1e-12);
          continue;
        }
        EXPECT_EQ(torch::linalg_matrix_rank(got, 1e-9).item<std::int64_t>(), 3);
        // A projection: what is left is orthogonal to what was sent.
        EXPECT_LT(got.t().matmul(wanted - got).abs().max().item<double>(), 1e-9);
        EXPECT_GT(difference(got, wanted), 1e-3);
        error = state->error_of(0).view({16, 16}).clone();
        group.all_reduce(error, ReduceOp::kAvg);
        EXPECT_LT(difference(error, wanted - got), 1e-12);
      }
    });
  }
}

TEST(PowerSgd, WarmStartsFindTheBestApproximation) {
  run_groups(2, [](ProcessGroup& group) {
    const at::Tensor mean = mean_gradient({24, 10}, 2) + torch::eye(24, 10, torch::kDouble);
    const auto singular = torch::linalg_svd(mean, false);
    const at::Tensor best = std::get<0>(singular)
                                .narrow(1, 0, 2)
                                .matmul(torch::diag(std::get<1>(singular).narrow(0, 0, 2)))
                                .matmul(std::get<2>(singular).narrow(0, 0, 2));
    for (const bool warm : {true, false}) {
      const auto parameters = parameters_of({{24, 10}});
      DataParallelReducer reducer(shared(group), parameters, {}, {});
      PowerSgdOptions options = power_options(2);
      options.use_error_feedback = false;
      options.warm_start = warm;
      const auto state = std::make_shared<PowerSgdState>(shared(group), options);
      reducer.register_comm_hook(power_sgd_hook(state));
      const at::Tensor own = gradient({24, 10}, group.rank()) + torch::eye(24, 10, torch::kDouble);
      at::Tensor got;
      for (int step = 0; step < 60; ++step) got = exchange(reducer, parameters, {own})[0];
      const double off = difference(got, best);
      if (warm) {
        EXPECT_LT(off, 1e-3);
      } else {
        EXPECT_GT(off, 1e-2) << "one step from a random start cannot be as good";
      }
      EXPECT_FALSE(state->error_of(0).defined());
    }
  });
}

// Saved after five steps and loaded into new objects: the same bits as in one go.
TEST(PowerSgd, GoesOnFromACheckpointAsIfNothingHadBeen) {
  for (const bool batched : {false, true}) {
    run_groups(2, [&](ProcessGroup& group) {
      const Shapes shapes = {{12, 10}, {8, 6}, {5}};
      const auto step_on = [&](DataParallelReducer& reducer, const std::vector<at::Tensor>& parameters, int step) {
        std::vector<at::Tensor> gradients;
        for (const auto& shape : shapes) gradients.push_back(gradient(shape, group.rank(), step));
        return exchange(reducer, parameters, gradients);
      };
      struct Trained {
        std::vector<at::Tensor> parameters;
        std::shared_ptr<PowerSgdState> state;
        std::unique_ptr<DataParallelReducer> reducer;
      };
      const auto make = [&](std::uint64_t seed) {
        DataParallelOptions options;
        options.bucket_cap_mb = 0;
        PowerSgdOptions power = power_options(2);
        power.random_seed = seed;
        Trained made{parameters_of(shapes), std::make_shared<PowerSgdState>(shared(group), power), nullptr};
        made.reducer = std::make_unique<DataParallelReducer>(shared(group), made.parameters, std::vector<std::string>{},
                                                             std::vector<at::Tensor>{}, options);
        made.reducer->register_comm_hook(batched ? batched_power_sgd_hook(made.state) : power_sgd_hook(made.state));
        return made;
      };
      Trained whole = make(1);
      for (int step = 0; step < 5; ++step) step_on(*whole.reducer, whole.parameters, step);
      std::vector<std::pair<std::string, at::Tensor>> saved;
      for (const auto& [name, tensor] : whole.state->state()) saved.emplace_back(name, tensor.clone());
      Trained resumed = make(2);
      ASSERT_GT(whole.reducer->bucket_layout().size(), 1u);
      ASSERT_NE(resumed.reducer->bucket_layout(), whole.reducer->bucket_layout());
      resumed.reducer->use_bucket_layout(whole.reducer->bucket_layout());
      resumed.state->load_state(saved);
      for (int step = 5; step < 9; ++step) {
        const auto expected = step_on(*whole.reducer, whole.parameters, step);
        const auto got = step_on(*resumed.reducer, resumed.parameters, step);
        for (std::size_t i = 0; i < shapes.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i])) << step << " " << i;
      }
      const auto refusal = [&](std::pair<std::string, at::Tensor> wrong) {
        const Error error = error_of([&] { resumed.state->load_state({saved[0], saved[1], std::move(wrong)}); });
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        return std::string(error.what());
      };
      EXPECT_THAT(refusal({"error.x", torch::zeros({3})}), HasSubstr("error.x"));
      EXPECT_THAT(refusal({"momentum", torch::zeros({3})}), HasSubstr("momentum"));
      EXPECT_THAT(refusal({"p.0", torch::zeros({3})}), HasSubstr("q.0"));
      EXPECT_THAT(error_of([&] { resumed.reducer->use_bucket_layout({{0, 1, 2}}); }).what(), HasSubstr("first forward"));
      Trained other = make(3);
      EXPECT_THAT(error_of([&] { other.reducer->use_bucket_layout({{0, 1}}); }).what(), HasSubstr("'2'"));
      EXPECT_THAT(error_of([&] { other.reducer->use_bucket_layout({{0, 1}, {2, 0}}); }).what(), HasSubstr("twice"));
    });
  }
}

TEST(Quantization, KeepsZerosAndWhatIsNoNumber) {
  for (const std::int64_t row : {0, 4}) {
    run_groups(2, [&](ProcessGroup& group) {
      const auto parameters = parameters_of({{16}});
      DataParallelReducer reducer(shared(group), parameters, {}, {});
      reducer.register_comm_hook(row == 0 ? quantization_pertensor_hook(shared(group))
                                          : quantization_perchannel_hook(shared(group), row));
      for (int step = 0; step < 3; ++step) {
        at::Tensor own = gradient({16}, group.rank(), step);
        own.view({8, 2}).select(1, 1).zero_();
        const at::Tensor got = exchange(reducer, parameters, {own})[0];
        EXPECT_EQ(got.view({8, 2}).select(1, 1).abs().max().item<double>(), 0);
        EXPECT_GT(got.view({8, 2}).select(1, 0).abs().min().item<double>(), 0);
      }
      for (const double odd : {NAN, INFINITY, -INFINITY}) {
        at::Tensor own = gradient({16}, group.rank());
        if (group.rank() == 1) own[5] = odd;
        EXPECT_FALSE(exchange(reducer, parameters, {own})[0][5].isfinite().item<bool>()) << odd;
      }
    });
  }
}

TEST(PowerSgd, GramSchmidtWithAnEpsilonTakesMatricesOfZeros) {
  run_groups(2, [](ProcessGroup& group) {
    for (const double epsilon : {0.0, 1e-8}) {
      const auto parameters = parameters_of({{9, 9}});
      DataParallelReducer reducer(shared(group), parameters, {}, {});
      PowerSgdOptions options = power_options(2);
      options.orthogonalization_epsilon = epsilon;
      reducer.register_comm_hook(
          bf16_compress_wrapper(power_sgd_hook(std::make_shared<PowerSgdState>(shared(group), options))));
      for (int step = 0; step < 4; ++step) {
        const at::Tensor got = exchange(reducer, parameters, {torch::zeros({9, 9}, torch::kDouble)})[0];
        EXPECT_EQ(got.abs().max().item<double>(), 0) << epsilon;
      }
    }
  });
}

TEST(PowerSgd, RefusesWhatCannotWork) {
  run_groups(1, [](ProcessGroup& group) {
    const auto refusal = [&](auto change) {
      PowerSgdOptions options;
      change(options);
      return std::string(error_of([&] { PowerSgdState(shared(group), options); }).what());
    };
    EXPECT_THAT(refusal([](auto& o) { o.start_power_sgd_iter = 1; }), HasSubstr("at least 2"));
    EXPECT_THAT(refusal([](auto& o) { o.matrix_approximation_rank = 0; }), HasSubstr("matrix_approximation_rank is 0"));
    EXPECT_THAT(refusal([](auto& o) { o.min_compression_rate = 0; }), HasSubstr("min_compression_rate"));
  });
}

// Vogels et al.: with error feedback training comes to where it comes without compression.
TEST(PowerSgd, TrainsLikeTheUncompressed) {
  const auto train = [](ProcessGroup& group, bool compressed, bool feedback) {
    torch::manual_seed(1);
    const auto parameters = parameters_of({{30, 30}});
    {
      torch::NoGradGuard no_grad;
      at::Tensor(parameters[0]).mul_(0);
    }
    DataParallelReducer reducer(shared(group), parameters, {}, {});
    if (compressed) {
      PowerSgdOptions options = power_options(2);
      options.use_error_feedback = feedback;
      options.warm_start = false;
      reducer.register_comm_hook(power_sgd_hook(std::make_shared<PowerSgdState>(shared(group), options)));
    }
    const at::Tensor goal = mean_gradient({30, 30}, 2);
    for (int step = 0; step < 150; ++step) {
      // Of ½‖W − G_rank‖², whose mean has its minimum at the mean of the G.
      const at::Tensor own = (parameters[0] - gradient({30, 30}, group.rank())).detach();
      const at::Tensor got = exchange(reducer, parameters, {own})[0];
      torch::NoGradGuard no_grad;
      at::Tensor(parameters[0]).sub_(got, 0.1);
    }
    return (parameters[0].detach() - goal).norm().item<double>() / goal.norm().item<double>();
  };
  run_groups(2, [&](ProcessGroup& group) {
    EXPECT_LT(train(group, false, false), 1e-5);
    EXPECT_LT(train(group, true, true), 0.05);
  });
}

// ---------------------------------------------------------------------------------------- optimizer in backward

class OptimizerBehindHook : public ::testing::TestWithParam<bool> {};

TEST_P(OptimizerBehindHook, StepsAsOneAfterIt) {
  const bool views = GetParam();
  run_groups(2, [&](ProcessGroup& group) {
    DataParallelOptions options = small_buckets();
    options.gradient_as_bucket_view = views;
    std::vector<std::vector<at::Tensor>> results;
    for (const bool in_backward : {false, true}) {
      const auto parameters = parameters_of({{5, 4}, {5}, {3, 3}});
      DataParallelReducer reducer(shared(group), parameters, {}, {}, options);
      std::shared_ptr<optim::Optimizer> adam = optim::make_optimizer("Adam", parameters, {{"lr", 0.05}});
      if (in_backward) reducer.set_optimizer_in_backward(adam);
      for (int step = 0; step < 6; ++step) {
        const auto gradients = exchange(reducer, parameters,
                                        {gradient({5, 4}, group.rank(), step), gradient({5}, group.rank(), step),
                                         gradient({3, 3}, group.rank(), step)});
        for (const at::Tensor& one : gradients) EXPECT_EQ(one.defined(), !in_backward);
        if (!in_backward) adam->step();
      }
      EXPECT_EQ(adam->state()[0].second.numel() > 0, true);
      std::vector<at::Tensor> values;
      for (const at::Tensor& parameter : parameters) values.push_back(parameter.detach().clone());
      results.push_back(values);
    }
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      EXPECT_LT(difference(results[0][i], results[1][i]), 1e-12);
      EXPECT_GT(difference(results[0][i], torch::ones_like(results[0][i])), 1e-2);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Views, OptimizerBehindHook, ::testing::Bool());

TEST(OptimizerInBackwardRefusal, NamesAParameterThatItDoesNotHold) {
  run_groups(1, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{3}, {4}});
    DataParallelReducer reducer(shared(group), parameters, {"a", "b"}, {});
    std::shared_ptr<optim::Optimizer> sgd = optim::make_optimizer("SGD", {parameters[0]}, {{"lr", 0.1}});
    EXPECT_THAT(error_of([&] { reducer.set_optimizer_in_backward(sgd); }).what(), HasSubstr("parameter 'b'"));
  });
}

}  // namespace
}  // namespace tandem::testing::comm_hook_test
