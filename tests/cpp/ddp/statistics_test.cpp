// What DataParallelReducer says about its iterations, and iterations that exchange apart from computing.
#include <gmock/gmock.h>
#include <sched.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <numeric>

#include "cpp/ddp/gradients.h"

namespace tandem::testing::statistics_test {
namespace {

using ::testing::HasSubstr;

const std::vector<std::vector<std::int64_t>> kShapes = {{40, 30}, {30}, {30, 20}, {20}, {7}};

std::int64_t bytes_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::int64_t sum = 0;
  for (const auto& shape : shapes) {
    sum += 8 * std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  return sum;
}

DataParallelOptions each_alone() {
  DataParallelOptions options;
  options.bucket_cap_mb = 0;
  return options;
}

// One step with gradients that tell rank and step apart.
std::vector<at::Tensor> step(DataParallelReducer& reducer, const std::vector<at::Tensor>& parameters, int rank,
                             int number) {
  std::vector<at::Tensor> gradients;
  for (const auto& shape : kShapes) gradients.push_back(gradient(shape, rank, number));
  return exchange(reducer, parameters, gradients);
}

void expect_consistent(const DataParallelIteration& one) {
  EXPECT_GE(one.total, one.forward_exchange + one.forward + one.backward + one.wait);
  EXPECT_GE(one.backward_begun, one.forward_exchange + one.forward);
  EXPECT_EQ(one.total, one.backward_begun + one.backward + one.wait);
  std::int64_t bytes = 0, sum = 0, longest = 0, last = one.backward_begun;
  for (const BucketTimes& bucket : one.buckets) {
    EXPECT_GE(bucket.begun, last);
    EXPECT_GE(bucket.done, bucket.begun);
    EXPECT_LE(bucket.done, one.total);
    last = bucket.begun;
    bytes += bucket.bytes;
    sum += bucket.done - bucket.begun;
    longest = std::max(longest, bucket.done - bucket.begun);
  }
  EXPECT_EQ(bytes, bytes_of(kShapes));
  EXPECT_LE(one.communication, sum);
  EXPECT_GE(one.communication, longest);
}

class StatisticsOver : public ::testing::TestWithParam<const char*> {};

TEST_P(StatisticsOver, IterationsAreConsistentAndInOrder) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        for (int i = 0; i < 6; ++i) step(reducer, parameters, group.rank(), i);
        const auto all = reducer.iterations();
        ASSERT_EQ(all.size(), 6u);
        for (std::size_t i = 0; i < all.size(); ++i) {
          EXPECT_EQ(all[i].number, static_cast<std::int64_t>(i));
          EXPECT_FALSE(all[i].separate);
          EXPECT_EQ(all[i].buckets.size(), i == 0 ? 1u : kShapes.size());  // the first tells the order of gradients
          expect_consistent(all[i]);
          if (i > 0) {
            EXPECT_GE(all[i].begun, all[i - 1].begun + all[i - 1].total);
          }
        }
      },
      GetParam());
}

TEST_P(StatisticsOver, MeansAreThoseOfTheIterations) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        reducer.set_separate_exchanges(3);
        for (int i = 0; i < 8; ++i) step(reducer, parameters, group.rank(), i);
        std::vector<std::int64_t> steps, forwards, separates, alones, firsts;
        for (const auto& one : reducer.iterations()) {
          if (one.number < 2) continue;
          if (one.separate) {
            separates.push_back(one.total - one.wait - one.forward_exchange);
            alones.push_back(0);
            for (const BucketTimes& bucket : one.buckets) alones.back() += bucket.done - bucket.begun;
            firsts.push_back(one.buckets[0].done - one.buckets[0].begun);
          } else {
            steps.push_back(one.total);
            forwards.push_back(one.forward);
          }
        }
        ASSERT_EQ(steps.size(), 4u);
        ASSERT_EQ(separates.size(), 2u);
        const auto mean_of_two = [](std::vector<std::int64_t> values, std::size_t from) {
          std::sort(values.begin(), values.end());
          return (values[from] + values[from + 1]) / 2;
        };
        const auto known = reducer.statistics();
        EXPECT_EQ(known.step, mean_of_two(steps, 1));  // the quickest and the slowest do not count
        EXPECT_EQ(known.forward_compute, mean_of_two(forwards, 1));
        EXPECT_EQ(known.step_without_exchange, mean_of_two(separates, 0));
        EXPECT_EQ(known.communication_alone, mean_of_two(alones, 0));
        EXPECT_EQ(known.exposed_communication, std::max<std::int64_t>(0, known.step - known.step_without_exchange));
        ASSERT_EQ(known.bucket_bytes.size(), kShapes.size());
        ASSERT_EQ(known.bucket_times.size(), kShapes.size());
        ASSERT_EQ(known.buckets_alone.size(), kShapes.size());
        EXPECT_EQ(known.buckets_alone[0], mean_of_two(firsts, 0));
        for (std::size_t i = 0; i < kShapes.size(); ++i) {
          EXPECT_EQ(known.bucket_times[i].bytes, known.bucket_bytes[i]);
        }
        EXPECT_LE(known.overlap, known.backward_communication);
        EXPECT_LE(known.communication, known.backward_communication);
      },
      GetParam());
}

TEST_P(StatisticsOver, SeparateIterationsExchangeAfterComputingAndGiveTheSameGradients) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        const auto others = parameters_of(kShapes);
        DataParallelReducer overlapped(shared(group), others, {}, {}, each_alone());
        reducer.set_separate_exchanges(2);
        for (int i = 0; i < 6; ++i) {
          const auto gradients = step(reducer, parameters, group.rank(), i);
          const auto same = step(overlapped, others, group.rank(), i);
          for (std::size_t k = 0; k < gradients.size(); ++k) {
            EXPECT_TRUE(gradients[k].equal(same[k]));
            EXPECT_LT(difference(gradients[k], mean_gradient(kShapes[k], group.size(), i)), 1e-12);
          }
        }
        for (const auto& one : reducer.iterations()) {
          EXPECT_EQ(one.separate, one.number % 2 == 1);
          expect_consistent(one);
          if (!one.separate) continue;
          std::int64_t last = one.backward_begun + one.backward;
          for (const BucketTimes& bucket : one.buckets) {
            EXPECT_GE(bucket.begun, last);
            last = bucket.done;
          }
        }
      },
      GetParam());
}

INSTANTIATE_TEST_SUITE_P(, StatisticsOver, ::testing::Values("gloo", "shm"), [](const auto& one) { return one.param; });

// The threads that this one starts meanwhile may use so many of its CPUs.
class OnCpus {
 public:
  explicit OnCpus(int count) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t some;
    CPU_ZERO(&some);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < count; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &some);
    }
    has_enough_ = CPU_COUNT(&some) == count && sched_setaffinity(0, sizeof some, &some) == 0;
  }
  ~OnCpus() { sched_setaffinity(0, sizeof before_, &before_); }
  OnCpus(const OnCpus&) = delete;
  OnCpus& operator=(const OnCpus&) = delete;

  bool has_enough() const { return has_enough_; }

 private:
  cpu_set_t before_;
  bool has_enough_ = false;
};

struct Cores {
  int ranks;
  int cpus;
  const char* backend;
  bool is_late;
};
class ExchangesWithCores : public ::testing::TestWithParam<Cores> {};

TEST_P(ExchangesWithCores, FollowComputingOnlyWhereARankHasNoCoreForThem) {
  const OnCpus cpus(GetParam().cpus);
  if (!cpus.has_enough()) GTEST_SKIP() << "this process has fewer than " << GetParam().cpus << " CPUs";
  run_groups(
      GetParam().ranks,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        for (int i = 0; i < 6; ++i) {
          const auto averaged = step(reducer, parameters, group.rank(), i);
          for (std::size_t p = 0; p < kShapes.size(); ++p) {
            EXPECT_LT(difference(averaged[p], mean_gradient(kShapes[p], group.size(), i)), 1e-12) << p;
          }
        }
        for (const auto& one : reducer.iterations()) {
          expect_consistent(one);
          const std::int64_t computed = one.backward_begun + one.backward;
          if (GetParam().is_late) {
            EXPECT_GE(one.buckets.front().begun, computed);
          } else {
            EXPECT_LT(one.buckets.front().begun, computed);
          }
        }
      },
      GetParam().backend);
}
INSTANTIATE_TEST_SUITE_P(, ExchangesWithCores,
                         ::testing::Values(Cores{2, 2, "shm", true}, Cores{3, 1, "shm", true},
                                           Cores{1, 2, "shm", false}, Cores{2, 1, "gloo", false}),
                         [](const auto& one) {
                           return std::to_string(one.param.ranks) + "on" + std::to_string(one.param.cpus) +
                                  one.param.backend;
                         });

// x * weight, whose backward makes another one within it, as torch.utils.checkpoint does with use_reentrant=True.
struct Recomputed : torch::autograd::Function<Recomputed> {
  // `weight` outlives the graph.
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const at::Tensor* weight) {
    context->saved_data["x"] = x.detach();
    context->saved_data["weight"] = *weight;
    return x * weight->detach();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::AutoGradMode grad(true);
    const at::Tensor x = context->saved_data["x"].toTensor().detach().requires_grad_();
    (x * context->saved_data["weight"].toTensor()).backward(gradients[0]);
    return {x.grad(), at::Tensor()};
  }
};

TEST(LateExchanges, AreMadeOfABackwardWithinABackward) {
  const OnCpus one(1);  // no core for them
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of({{5}, {5}, {5}});
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        for (int i = 0; i < 4; ++i) {
          for (const at::Tensor& parameter : parameters) {
            parameter.mutable_grad().reset();
            parameter.detach().fill_(2);
          }
          reducer.prepare_forward(true, 1);
          const at::Tensor x = at::full({5}, group.rank() + 1.0, at::kDouble) * parameters[0];
          std::vector<at::Tensor> outputs = {Recomputed::apply(x, &parameters[1]) * parameters[2]};
          reducer.prepare_backward(outputs);
          outputs[0].sum().backward();
          for (const at::Tensor& parameter : parameters) {
            ASSERT_TRUE(parameter.grad().defined());
            EXPECT_TRUE(parameter.grad().eq(1.5 * 2 * 2).all().item<bool>()) << parameter.grad();
          }
        }
      },
      "shm");
}

// One has cores to spare, the other not.
TEST(LateExchanges, AreThoseOfAllRanksOrOfNone) {
  if (const OnCpus two(2); !two.has_enough()) GTEST_SKIP() << "this process has one CPU";
  setenv("TANDEM_BIND_TO", "core", 1);  // each rank's CPUs are its own
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const OnCpus some(rank == 0 ? 1 : 2);
    const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
    const auto parameters = parameters_of(kShapes);
    DataParallelOptions options = each_alone();
    options.find_unused_parameters = true;
    DataParallelReducer reducer(group, parameters, {}, {}, options);
    for (int i = 0; i < 4; ++i) {
      const auto averaged = step(reducer, parameters, rank, i);
      for (std::size_t p = 0; p < kShapes.size(); ++p) {
        EXPECT_LT(difference(averaged[p], mean_gradient(kShapes[p], 2, i)), 1e-12);
      }
    }
    for (const auto& one : reducer.iterations()) {
      EXPECT_GE(one.buckets.front().begun, one.backward_begun + one.backward);
    }
  });
  unsetenv("TANDEM_BIND_TO");
}

// A rank that is out of inputs exchanges outside of backward, in the order of those that are in one: buckets, and then
// which parameters were used.
TEST(LateExchanges, GoWithARankThatIsOutOfInputs) {
  const OnCpus one(1);
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelOptions options = each_alone();
        options.find_unused_parameters = true;
        DataParallelReducer reducer(shared(group), parameters, {}, {}, options);
        reducer.begin_join({});
        for (int i = 0; i < (group.rank() == 0 ? 4 : 1); ++i) {
          const auto averaged = step(reducer, parameters, group.rank(), i);
          for (std::size_t p = 0; p < kShapes.size(); ++p) {
            const at::Tensor mean = i == 0 ? mean_gradient(kShapes[p], 2) : gradient(kShapes[p], 0, i) / 2;
            EXPECT_LT(difference(averaged[p], mean), 1e-12) << i;
          }
        }
        reducer.end_join();
      },
      "shm");
}

// A backward that fails leaves exchanges behind, which are not those of the next one.
TEST(LateExchanges, OfAFailedBackwardAreNotMade) {
  const OnCpus one(1);
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of({{5}, {5}});
        for (const at::Tensor& parameter : parameters) parameter.detach().fill_(2);
        std::optional<DataParallelReducer> failing;
        failing.emplace(shared(group), parameters, std::vector<std::string>(), std::vector<at::Tensor>(), each_alone());
        for (int i = 0; i < 3; ++i) {
          failing->prepare_forward(true, 1);
          const at::Tensor first = at::ones({5}, at::kDouble) * parameters[0];
          if (i == 2)
            first.register_hook([](const at::Tensor&) -> at::Tensor { throw std::runtime_error("of a test"); });
          std::vector<at::Tensor> outputs = {first * parameters[1]};
          failing->prepare_backward(outputs);
          if (i == 2) {
            EXPECT_ANY_THROW(outputs[0].sum().backward());
          } else {
            outputs[0].sum().backward();
          }
        }
        failing.reset();
        for (const at::Tensor& parameter : parameters) parameter.mutable_grad().reset();
        // As an error of a forward says: a new one after a backward that failed.
        DataParallelReducer next(shared(group), parameters, {}, {}, each_alone());
        next.prepare_forward(true, 1);
        std::vector<at::Tensor> outputs = {at::full({5}, group.rank() + 1.0, at::kDouble) * parameters[0] *
                                           parameters[1]};
        next.prepare_backward(outputs);
        outputs[0].sum().backward();
        for (const at::Tensor& parameter : parameters) EXPECT_TRUE(parameter.grad().eq(3).all().item<bool>());
      },
      "shm");
}

TEST(Statistics, WithoutAnExchangeBucketsTakeNoTimeToSpeakOf) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        reducer.set_separate_exchanges(2);
        for (int i = 0; i < 4; ++i) step(reducer, parameters, group.rank(), i);
        for (const auto& one : reducer.iterations()) expect_consistent(one);
      },
      "none");
}

// What a reducer is used with; each gives the same gradients in separate iterations as in others.
struct Use {
  const char* name;
  DataParallelOptions options;
  std::function<CommHook(std::shared_ptr<ProcessGroup>)> hook;
};

DataParallelOptions with(bool unused, bool graph, bool views) {
  DataParallelOptions options = each_alone();
  options.find_unused_parameters = unused;
  options.static_graph = graph;
  options.gradient_as_bucket_view = views;
  return options;
}

CommHook power_sgd(std::shared_ptr<ProcessGroup> group) {
  PowerSgdOptions options;
  options.start_power_sgd_iter = 2;
  return power_sgd_hook(std::make_shared<PowerSgdState>(std::move(group), options));
}

class SeparateUses : public ::testing::TestWithParam<Use> {};

TEST_P(SeparateUses, GiveTheSameGradients) {
  run_groups(2, [](ProcessGroup& group) {
    const auto run = [&](std::int64_t every) {
      const auto parameters = parameters_of(kShapes);
      DataParallelReducer reducer(shared(group), parameters, {}, {}, GetParam().options);
      if (GetParam().hook) reducer.register_comm_hook(GetParam().hook(shared(group)));
      reducer.set_separate_exchanges(every);
      std::vector<at::Tensor> all;
      for (int i = 0; i < 6; ++i) {
        for (const auto& one : step(reducer, parameters, group.rank(), i)) all.push_back(one);
      }
      std::int64_t separate = 0;
      for (const auto& one : reducer.iterations()) {
        separate += one.separate;
        expect_consistent(one);
        EXPECT_FALSE(one.buckets.empty());
      }
      EXPECT_EQ(separate, every == 0 ? 0 : every == 1 ? 6 : 3);
      return all;
    };
    const auto expected = run(0);
    for (const std::int64_t every : {1, 2}) {
      const auto gradients = run(every);
      for (std::size_t i = 0; i < gradients.size(); ++i) EXPECT_TRUE(gradients[i].equal(expected[i])) << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, SeparateUses,
                         ::testing::Values(Use{"unused", with(true, false, false), {}},
                                           Use{"graph", with(false, true, false), {}},
                                           Use{"graph_and_unused", with(true, true, false), {}},
                                           Use{"views", with(false, false, true), {}},
                                           Use{"allreduce_hook", each_alone(), allreduce_hook},
                                           Use{"bf16", each_alone(), bf16_compress_hook},
                                           Use{"quantization", each_alone(),
                                               [](auto group) { return quantization_perchannel_hook(group, 16); }},
                                           Use{"power_sgd", each_alone(), power_sgd}),
                         [](const auto& one) { return one.param.name; });

TEST(Statistics, SeveralForwardsAreOneIterationAndNoSyncIsNone) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
    const auto forward = [&] {
      reducer.prepare_forward(true);
      std::vector<at::Tensor> outputs = {torch::zeros({}, torch::kDouble)};
      for (const at::Tensor& parameter : parameters) outputs[0] = outputs[0] + parameter.sum();
      reducer.prepare_backward(outputs);
      return outputs[0];
    };
    step(reducer, parameters, group.rank(), 0);
    {
      reducer.set_require_backward_grad_sync(false);
      forward().backward();
      reducer.set_require_backward_grad_sync(true);
    }
    EXPECT_EQ(reducer.iterations().size(), 1u);
    const at::Tensor first = forward();
    (first + forward()).backward();
    ASSERT_EQ(reducer.iterations().size(), 2u);
    expect_consistent(reducer.iterations().back());
    torch::NoGradGuard no_grad;
    reducer.prepare_forward(false);
    std::vector<at::Tensor> outputs = {parameters[0].sum()};
    reducer.prepare_backward(outputs);
    EXPECT_EQ(reducer.iterations().size(), 2u);
  });
}

TEST(Statistics, KeepTheLastAndEveryFewWhenAsked) {
  run_groups(1, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
    for (int i = 0; i < 300; ++i) step(reducer, parameters, 0, i);
    auto all = reducer.iterations();
    ASSERT_EQ(all.size(), 256u);
    EXPECT_EQ(all.front().number, 44);
    EXPECT_EQ(all.back().number, 299);
    reducer.set_statistics_sample_rate(7);
    for (int i = 300; i < 330; ++i) step(reducer, parameters, 0, i);
    all = reducer.iterations();
    EXPECT_EQ(all.back().number, 329);
    EXPECT_EQ((all.end() - 2)->number, 322);
    EXPECT_THAT(error_of([&] { reducer.set_separate_exchanges(-1); }).what(), HasSubstr("every -1"));
  });
}

// After a join ranks have made different numbers of steps of their own, and must still agree on which are separate.
TEST(Statistics, RanksAgreeOnSeparateIterationsAfterAJoin) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
    reducer.set_separate_exchanges(2);
    reducer.begin_join();
    for (int i = 0; i < (group.rank() == 0 ? 2 : 5); ++i) step(reducer, parameters, group.rank(), i);
    reducer.end_join();
    for (const auto& one : reducer.iterations()) EXPECT_FALSE(one.separate);
    for (int i = 0; i < 4; ++i) {
      const auto gradients = step(reducer, parameters, group.rank(), i);
      EXPECT_LT(difference(gradients[0], mean_gradient(kShapes[0], 2, i)), 1e-12);
    }
    const auto all = reducer.iterations();
    EXPECT_EQ(all.back().number, 8);
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const auto& one) { return one.separate; }), 2);
  });
}

TEST(Statistics, AFailedBackwardIsNoIteration) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
    reducer.set_separate_exchanges(2);
    for (int i = 0; i < 4; ++i) {
      if (i == 1) {  // would be separate
        reducer.prepare_forward(true);
        std::vector<at::Tensor> outputs = {torch::zeros({}, torch::kDouble)};
        for (const at::Tensor& parameter : parameters) outputs[0] = outputs[0] + (parameter * parameter).sum();
        reducer.prepare_backward(outputs);
        EXPECT_EQ(error_of([&] { outputs[0].backward({}, {}, /*create_graph=*/true); }).code(),
                  ErrorCode::kUnsupported);
        continue;
      }
      const auto gradients = step(reducer, parameters, group.rank(), i);
      EXPECT_LT(difference(gradients[0], mean_gradient(kShapes[0], 2, i)), 1e-12);
    }
    const auto all = reducer.iterations();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1].number, 1);
    EXPECT_TRUE(all[1].separate);
    expect_consistent(all[2]);
  });
}

TEST(Statistics, TheTableNamesStepAndBuckets) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {"a", "b", "c", "d", "e"}, {}, each_alone());
    EXPECT_THAT(reducer.statistics_table(), HasSubstr("0 iterations, of which the last 0 are kept"));
    reducer.set_separate_exchanges(4);
    for (int i = 0; i < 4; ++i) step(reducer, parameters, group.rank(), i);
    const std::string table = reducer.statistics_table();
    EXPECT_THAT(table, HasSubstr("(gloo, rank " + std::to_string(group.rank()) + " of 2), 4 iterations"));
    EXPECT_THAT(table, HasSubstr("1 of them separate"));
    for (const char* line : {"\nforward ", "\nbackward, computing ", "\n  exposed ", "\nstep without an exchange ",
                             "\ncommunication alone ", "56 B", "9600 B", "\n4 "}) {
      EXPECT_THAT(table, HasSubstr(line)) << table;
    }
  });
}

}  // namespace
}  // namespace tandem::testing::statistics_test
