// Buckets that are reduced after backward, where a rank has no core beside the one that computes.
#include <sched.h>
#include <torch/csrc/autograd/custom_function.h>

#include "cpp/ddp/iterations.h"

namespace tandem::testing::late_exchanges_test {
namespace {

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

}  // namespace
}  // namespace tandem::testing::late_exchanges_test
