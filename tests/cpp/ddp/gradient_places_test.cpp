// Gradients that backward writes where they are exchanged: the same numbers as those that the reducer copies there.
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/forward_grad.h>
#include <torch/torch.h>

#include <functional>
#include <string_view>

#include "cpp/comm/threads.h"
#include "cpp/ddp/small_models.h"
#include "cpp/ddp/weights.h"
#include "tandem/activation_checkpoint.h"
#include "tandem/ddp.h"

namespace tandem::testing::gradient_places_test {
namespace {

using namespace small_models;
using weights::as_views;
using weights::input;
using weights::Weights;

// How many gradients the reducer copies on this thread meanwhile.
class Copies {
 public:
  Copies() {
    now = 0;
    callback_ = at::addThreadLocalCallback(at::RecordFunctionCallback(
        [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
          now += std::string_view(function.name()).rfind("torch::distributed::reducer::", 0) == 0;
          return nullptr;
        }));
  }
  ~Copies() { at::removeCallback(callback_); }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  int count() const { return now; }

 private:
  static thread_local int now;
  at::CallbackHandle callback_;
};
thread_local int Copies::now = 0;

// The same each time: ranks are threads, which draw from one generator.
Plain plain() {
  Plain net;
  net->to(at::kDouble);
  const torch::NoGradGuard no_grad;
  int number = 0;
  for (const at::Tensor& parameter : net->parameters()) {
    at::Tensor(parameter).copy_(gradient(parameter.sizes().vec(), 0, number++) * 0.3);
  }
  return net;
}

void expect_same_bits(const std::vector<at::Tensor>& some, const std::vector<at::Tensor>& others) {
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    ASSERT_EQ(some[i].defined(), others[i].defined()) << i;
    if (!some[i].defined()) continue;
    EXPECT_TRUE(some[i].equal(others[i])) << i << " differs by " << difference(some[i], others[i]);
  }
}

// What a step does with weights, whose gradients are then compared.
using Step = std::function<void(Weights&, int rank, int number)>;

// In places, and copied: five steps of each, with the same bits in every gradient after every step. `copies`: of the
// former's gradients in a step, once buckets stay as they are; -1: that depends.
void expect_alike(const char* backend, const std::vector<std::vector<std::int64_t>>& shapes, const Step& step,
                  at::ScalarType dtype = at::kDouble, const DataParallelOptions& given = {}, int copies = -1) {
  run_groups(
      2,
      [&](ProcessGroup& group) {
        DataParallelOptions options = given;
        options.gradient_as_bucket_view = true;
        Weights placed(group, shapes, options, dtype);
        options.gradient_as_bucket_view = false;
        Weights copied(group, shapes, options, dtype);
        for (int i = 0; i < 5; ++i) {
          {
            const Copies counted;
            step(placed, group.rank(), i);
            EXPECT_TRUE(copies < 0 || i == 0 || counted.count() == copies) << counted.count() << " in step " << i;
          }
          step(copied, group.rank(), i);
          SCOPED_TRACE("step " + std::to_string(i));
          expect_same_bits(placed.gradients(), copied.gradients());
        }
      },
      backend);
}

class InPlace : public ::testing::TestWithParam<const char*> {};

TEST_P(InPlace, WeightsAreNotCopiedAndGradientsAreThoseOfOneProcess) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        Plain net = plain(), alone = plain();
        DistributedDataParallel<Plain> ddp(net, shared(group), as_views(true));
        for (int i = 0; i < 5; ++i) {
          net->zero_grad();
          alone->zero_grad();
          const Copies copies;
          ddp.forward(input({8, 20}, group.rank(), i)).square().mean().backward();
          const int copied = copies.count();
          // Buckets are planned anew before the second step.
          EXPECT_EQ(copied, i == 0 ? 6 : 3) << "step " << i << ": biases are, of three layers";
          std::vector<at::Tensor> joined;
          for (int rank = 0; rank < group.size(); ++rank) joined.push_back(input({8, 20}, rank, i));
          alone->forward(torch::cat(joined)).square().mean().backward();
          EXPECT_LT(difference(all_gradients(*net), all_gradients(*alone)), 1e-12) << i;
          step(*net, 0.1);
          step(*alone, 0.1);
        }
      },
      GetParam());
}

TEST_P(InPlace, ShapesOfEveryKindGiveTheBitsOfLibTorchsOperator) {
  const std::vector<std::vector<std::int64_t>> inputs = {{1, 7}, {7, 1}, {1, 1}, {64, 33}, {3, 4, 5}, {2, 3, 1, 8}, {16, 16}};
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const auto& shape : inputs) {
      for (const std::int64_t out : {1, 16, 31}) {
        SCOPED_TRACE(c10::str(at::IntArrayRef(shape), " to ", out, " of ", dtype));
        expect_alike(
            GetParam(), {{out, shape.back()}, {out}, {out, shape.back()}},
            [&](Weights& weights, int rank, int number) {
              weights.forget_gradients();
              at::Tensor x = input(shape, rank, number, dtype).set_requires_grad(number % 2 == 0);
              const at::Tensor y = weights.forward([&] {
                return at::linear(x, weights.all[0], weights.all[1]) * at::linear(x, weights.all[2]);
              });
              y.square().sum().backward();
            },
            dtype, {}, /*copies=*/1);
      }
    }
  }
}

// As GPT-2 has them.
TEST_P(InPlace, WeightsMayBeTheRightMatrixAsTheyAre) {
  expect_alike(
      GetParam(), {{12, 9}, {9}, {12, 9}},
      [](Weights& weights, int rank, int number) {
        weights.forget_gradients();
        const at::Tensor x = input({4, 12}, rank, number);
        const at::Tensor y = weights.forward([&] {
          return at::addmm(weights.all[1], x, weights.all[0]) * at::matmul(x.view({2, 2, 12}), weights.all[2]).view({4, 9});
        });
        y.square().sum().backward();
      },
      at::kDouble, {}, /*copies=*/1);
}

TEST_P(InPlace, AWeightThatIsUsedTwiceHasTheSum) {
  expect_alike(GetParam(), {{12, 12}, {12}}, [](Weights& weights, int rank, int number) {
    weights.forget_gradients();
    const at::Tensor x = input({12, 12}, rank, number);  // as large as the weight
    const at::Tensor y = weights.forward([&] {
      const at::Tensor inner = torch::tanh(at::linear(x, weights.all[0], weights.all[1]));
      return at::linear(inner, weights.all[0], weights.all[1]) + inner.mm(weights.all[0]);
    });
    y.square().sum().backward();
  });
}

TEST_P(InPlace, SeveralForwardsMayComeBeforeABackward) {
  expect_alike(GetParam(), {{12, 12}}, [](Weights& weights, int rank, int number) {
    weights.forget_gradients();
    at::Tensor sum = torch::zeros({}, at::kDouble);
    for (int i = 0; i < 3; ++i) {
      const at::Tensor x = input({4, 12}, rank, 3 * number + i);
      sum = sum + weights.forward([&] { return at::linear(x, weights.all[0]); }).square().sum();
    }
    sum.backward();
  });
}

TEST_P(InPlace, GradientsAccumulateWithAndWithoutAnExchange) {
  expect_alike(GetParam(), {{9, 12}, {9}}, [](Weights& weights, int rank, int number) {
    if (number % 3 == 0) weights.forget_gradients();
    for (const bool exchanges : {false, true}) {
      weights.reducer->set_require_backward_grad_sync(exchanges);
      const at::Tensor x = input({4, 12}, rank, 2 * number + exchanges);
      weights.forward([&] { return at::linear(x, weights.all[0], weights.all[1]); }).square().sum().backward();
    }
  });
}

TEST_P(InPlace, AGraphMayBeGoneThroughAgain) {
  expect_alike(GetParam(), {{9, 12}}, [](Weights& weights, int rank, int number) {
    weights.forget_gradients();
    const at::Tensor x = input({4, 12}, rank, number);
    const at::Tensor loss = weights.forward([&] { return at::linear(x, weights.all[0]); }).square().sum();
    loss.backward({}, /*retain_graph=*/true);
    if (number % 2 == 0) weights.forget_gradients();
    loss.backward();  // without an exchange
  });
}

TEST_P(InPlace, GradientsThatSomebodyKeepsStayAsTheyAre) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        Weights weights(group, {{9, 12}, {9, 12}, {9, 12}}, as_views(true));
        std::vector<at::Tensor> kept(3);
        // What a hook sees, before and after it is accumulated, and what grad() gives.
        weights.all[0].register_hook([&](const at::Tensor& gradient) { kept[0] = gradient; });
        for (int i = 0; i < 4; ++i) {
          weights.forget_gradients();
          const at::Tensor x = input({4, 12}, group.rank(), i);
          const at::Tensor loss = weights
                                      .forward([&] {
                                        return at::linear(x, weights.all[0]) * at::linear(x, weights.all[1]) *
                                               at::linear(x, weights.all[2]);
                                      })
                                      .sum();
          const auto asked = torch::autograd::grad({loss}, {weights.all[1], weights.all[2]}, {}, /*retain_graph=*/true);
          const std::vector<at::Tensor> before = {asked[0].clone(), asked[1].clone()};
          loss.backward();
          EXPECT_TRUE(asked[0].equal(before[0]) && asked[1].equal(before[1])) << i;
          at::Tensor own;
          {
            const torch::NoGradGuard no_grad;
            const at::Tensor factor = at::linear(x, weights.all[1]) * at::linear(x, weights.all[2]);
            own = factor.t().mm(x);
          }
          EXPECT_LT(difference(kept[0], own), 1e-12) << i << ": what the hook was given is this rank's own";
          EXPECT_GT(difference(kept[0], weights.all[0].grad()), 1e-3) << i;
        }
      },
      GetParam());
}

// Also those of a transpose on its way to the weight.
TEST_P(InPlace, GradientsOfATransposeMayBeKept) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        Weights weights(group, {{9, 12}, {9, 12}}, as_views(true));
        for (int i = 0; i < 4; ++i) {
          weights.forget_gradients();
          const at::Tensor x = input({4, 12}, group.rank(), i);
          const at::Tensor first = weights.all[0].t(), second = weights.all[1].t();
          first.retain_grad();
          at::Tensor kept;
          second.register_hook([&](const at::Tensor& gradient) { kept = gradient; });
          weights.forward([&] { return x.mm(first) + x.mm(second); }).sum().backward();
          const at::Tensor own = x.t().mm(torch::ones({4, 9}, at::kDouble));
          EXPECT_LT(difference(first.grad(), own), 1e-12) << i;
          EXPECT_LT(difference(kept, own), 1e-12) << i;
          EXPECT_GT(difference(weights.all[0].grad().t(), own), 1e-3) << i;
        }
      },
      GetParam());
}

// A matrix of its own in the weight's memory.
TEST_P(InPlace, WhatOnlySharesTheWeightsMemoryHasItsOwnGradient) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        Weights weights(group, {{9, 12}}, as_views(true));
        for (int i = 0; i < 4; ++i) {
          weights.forget_gradients();
          const at::Tensor x = input({4, 12}, group.rank(), i);
          const at::Tensor alias = weights.all[0].detach().t().set_requires_grad(true);
          weights.forward([&] { return x.mm(alias) + at::linear(x, weights.all[0]); }).sum().backward();
          const at::Tensor own = x.t().mm(torch::ones({4, 9}, at::kDouble));
          EXPECT_LT(difference(alias.grad(), own), 1e-12) << i;
          EXPECT_GT(difference(weights.all[0].grad().t(), own), 1e-3) << i;
        }
      },
      GetParam());
}

// Backward computes the product again before it has its gradient.
TEST_P(InPlace, ACheckpointMayEndInAProduct) {
  expect_alike(GetParam(), {{12, 12}, {12}, {12, 12}}, [](Weights& weights, int rank, int number) {
    weights.forget_gradients();
    const at::Tensor x = input({4, 12}, rank, number).set_requires_grad(true);
    const auto run = [&weights](const std::vector<at::Tensor>& inputs) {
      return at::linear(torch::gelu(at::linear(inputs[0], weights.all[0], weights.all[1])), weights.all[2]);
    };
    weights
        .forward([&] {
          const nn::ActivationCheckpoint checkpoint([&](const auto& inputs) { run(inputs); }, {x});
          return run({x});
        })
        .square()
        .sum()
        .backward();
  });
}

// A step within the forward, whose gradient the outer backward needs (Meta-SGD).
TEST_P(InPlace, GradientsOfABackwardWithinTheForwardAreTheProgramsOwn) {
  expect_alike(GetParam(), {{9, 12}, {9, 12}}, [](Weights& weights, int rank, int number) {
    const at::Tensor x = input({4, 12}, rank, number), &weight = weights.all[0], &rate = weights.all[1];
    weights.forget_gradients();
    // One that only the exchange knows: places are there afterwards.
    weights.forward([&] { return at::linear(x, weight * rate) + at::linear(x, weight); }).sum().backward();
    weights.forget_gradients();
    weights
        .forward([&] {
          at::linear(x, weight).square().sum().backward();
          const at::Tensor inner = weight.grad();
          weight.mutable_grad().reset();
          return at::linear(x, weight - rate * inner);
        })
        .square()
        .sum()
        .backward();
  });
}

TEST_P(InPlace, TangentsGoBackThroughAProduct) {
  run_groups(
      1,
      [](ProcessGroup& group) {
        Weights weights(group, {{6, 5}}, as_views(true));
        std::vector<at::Tensor> tangents;
        for (const bool under : {true, false}) {
          const at::Tensor weight =
              under ? weights.all[0] : weights.all[0].detach().clone().set_requires_grad(true);
          const at::Tensor x = input({4, 5}, 0, 1);
          const std::uint64_t level = torch::autograd::forward_ad::enter_dual_level();
          {
            const at::Tensor scale = at::_make_dual(input({4, 6}, 0, 2), input({4, 6}, 0, 3), 0);
            const auto body = [&] { return torch::relu(at::linear(x, weight)); };
            const at::Tensor y = (under ? weights.forward(body) : body()) * scale;
            const at::Tensor gradient = torch::autograd::grad({y.square().sum()}, {weight})[0];
            const auto [primal, tangent] = at::_unpack_dual(gradient, 0);
            tangents.push_back(tangent.defined() ? tangent.clone() : at::Tensor());
          }
          torch::autograd::forward_ad::exit_dual_level(level);
        }
        ASSERT_TRUE(tangents[0].defined() && tangents[1].defined());
        EXPECT_TRUE(tangents[0].equal(tangents[1]));
      },
      GetParam());
}

// The reducer, which is set back after it, says of its buckets what they were made of before.
TEST_P(InPlace, GradientsMayComeInAnotherOrderAfterARefusedBackward) {
  expect_alike(GetParam(), {{9, 12}, {9}, {9, 12}}, [](Weights& weights, int rank, int number) {
    weights.forget_gradients();
    const at::Tensor x = input({4, 12}, rank, number);
    const auto forward = [&](bool turned) {
      return weights.forward([&] {
        const at::Tensor first = at::linear(x, weights.all[turned ? 2 : 0]);
        return torch::tanh(first + weights.all[1]) * at::linear(x, weights.all[turned ? 0 : 2]);
      });
    };
    if (number == 2) {
      const at::Tensor loss = forward(false).square().sum();
      EXPECT_THROW(loss.backward({}, false, /*create_graph=*/true), std::exception);
      weights.forget_gradients();
    }
    forward(number > 2).square().sum().backward();
  });
}

TEST_P(InPlace, BucketsMayChangeAndOptimizersStepWithinBackward) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        std::vector<at::Tensor> after;
        for (const bool views : {true, false}) {
          Plain net = plain();
          DistributedDataParallel<Plain> ddp(net, shared(group), as_views(views));
          BucketTrialOptions trial;
          trial.sizes_mb = {0, 25};
          trial.iterations = trial.rounds = 1;
          ddp.reducer().try_bucket_sizes(trial);
          for (int i = 0; i < 20; ++i) {
            net->zero_grad();
            ddp.forward(input({8, 20}, group.rank(), i)).square().mean().backward();
            step(*net, 0.1);
          }
          EXPECT_TRUE(ddp.reducer().bucket_advice().done);
          after.push_back(all_parameters(*net));
        }
        EXPECT_TRUE(after[0].equal(after[1]));
        after.clear();
        for (const bool views : {true, false}) {
          Plain net = plain();
          DistributedDataParallel<Plain> ddp(net, shared(group), as_views(views));
          ddp.reducer().set_optimizer_in_backward(optim::make_optimizer("SGD", net->parameters(), {{"lr", 0.1}}));
          for (int i = 0; i < 6; ++i) ddp.forward(input({8, 20}, group.rank(), i)).square().mean().backward();
          after.push_back(all_parameters(*net));
        }
        EXPECT_TRUE(after[0].equal(after[1]));
      },
      GetParam());
}

// A parameter that is laid out otherwise since the reducer was made.
TEST_P(InPlace, ParametersThatHaveChangedAreCopied) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        DataParallelOptions options = as_views(true);
        options.find_unused_parameters = true;  // whose buckets are never made anew
        Weights weights(group, {{12, 9}, {9}}, options);
        const torch::NoGradGuard off;
        weights.all[0].set_data(weights.all[0].detach().t().contiguous().t());
        for (int i = 0; i < 4; ++i) {
          const at::AutoGradMode on(true);
          if (i == 2) weights.all[0].set_data(weights.all[0].detach().contiguous());
          weights.forget_gradients();
          const at::Tensor x = input({4, 12}, group.rank(), i);
          weights.forward([&] { return at::addmm(weights.all[1], x, weights.all[0]); }).sum().backward();
          at::Tensor mean = torch::zeros({12, 9}, at::kDouble);
          for (int rank = 0; rank < 2; ++rank) mean += input({4, 12}, rank, i).t().mm(torch::ones({4, 9}, at::kDouble)) / 2;
          EXPECT_LT(difference(weights.all[0].grad(), mean), 1e-12) << i;
        }
      },
      GetParam());
}

TEST_P(InPlace, DerivativesOfDerivativesAreThoseOfLibTorchsOperator) {
  run_groups(
      1,
      [](ProcessGroup& group) {
        Weights weights(group, {{6, 5}, {6}}, as_views(true));
        std::vector<std::vector<at::Tensor>> both;
        for (const bool under : {true, false}) {
          weights.forget_gradients();
          weights.reducer->set_require_backward_grad_sync(false);
          const at::Tensor x = input({4, 5}, 0, 1).set_requires_grad(true);
          std::vector<at::Tensor> used = weights.all;
          if (!under) {
            for (at::Tensor& one : used) one = one.detach().clone().set_requires_grad(true);
          }
          const auto body = [&] { return torch::tanh(at::linear(x, used[0], used[1])); };
          const at::Tensor y = under ? weights.forward(body) : body();
          const auto first = torch::autograd::grad({y.square().sum()}, {x, used[0]}, {}, true, /*create_graph=*/true);
          (first[0].square().sum() + first[1].pow(3).sum()).backward();
          both.push_back({used[0].grad().clone(), used[1].grad().clone(), x.grad().clone()});
        }
        for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(difference(both[0][i], both[1][i]), 1e-12) << i;
      },
      GetParam());
}

TEST_P(InPlace, AGraphMayOutliveItsReducer) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        Weights weights(group, {{6, 5}}, as_views(true));
        const at::Tensor x = input({4, 5}, group.rank(), 1);
        const auto forward = [&] { return weights.forward([&] { return at::linear(x, weights.all[0]); }).sum(); };
        for (int i = 0; i < 3; ++i) {
          weights.forget_gradients();
          forward().backward();
        }
        const at::Tensor loss = forward();
        weights.forget_gradients();
        weights.reducer.reset();
        loss.backward();
        const at::Tensor own = torch::ones({4, 6}, at::kDouble).t().mm(x);
        EXPECT_TRUE(weights.all[0].grad().equal(own));
      },
      GetParam());
}

TEST_P(InPlace, UnusedParametersAndStaticGraphsGoWithIt) {
  for (const bool is_static : {false, true}) {
    SCOPED_TRACE(is_static ? "static" : "unused");
    DataParallelOptions options;
    options.static_graph = is_static;
    options.find_unused_parameters = !is_static;
    expect_alike(
        GetParam(), {{9, 12}, {9, 12}, {9}},
        [&](Weights& weights, int rank, int number) {
          weights.forget_gradients();
          const at::Tensor x = input({4, 12}, rank, number);
          const bool both = is_static || (number + rank) % 2 == 0;
          weights
              .forward([&] {
                const at::Tensor y = at::linear(x, weights.all[0], weights.all[2]);
                return both ? y + at::linear(x, weights.all[1]) : y;
              })
              .square()
              .sum()
              .backward();
        },
        at::kDouble, options);
  }
}

INSTANTIATE_TEST_SUITE_P(, InPlace, ::testing::Values("shm", "gloo"), [](const auto& one) { return one.param; });

class Averages : public ::testing::TestWithParam<const char*> {};

// In a join that divides by those that still train, and in the training after it.
TEST_P(Averages, AreOverThoseThatTrain) {
  run_groups(
      3,
      [](ProcessGroup& group) {
        Weights weights(group, {{6, 5}}, as_views(true));
        const auto train = [&](int number, int ranks) {
          weights.forget_gradients();
          const at::Tensor x = input({4, 5}, group.rank(), number);
          weights.forward([&] { return at::linear(x, weights.all[0]); }).sum().backward();
          at::Tensor mean = torch::zeros({6, 5}, at::kDouble);
          for (int rank = group.size() - ranks; rank < group.size(); ++rank) {
            mean += torch::ones({4, 6}, at::kDouble).t().mm(input({4, 5}, rank, number)) / ranks;
          }
          EXPECT_LT(difference(weights.all[0].grad(), mean), 1e-12) << "step " << number << ", " << ranks << " ranks";
        };
        for (int i = 0; i < 2; ++i) train(i, 3);
        for (int again = 0; again < 2; ++again) {
          JoinOptions join;
          join.divide_by_initial_world_size = false;
          weights.reducer->begin_join(join);
          for (int i = 0; i <= group.rank(); ++i) train(i, 3 - i);
          weights.reducer->end_join();
          for (int i = 0; i < 2; ++i) train(i, 3);
        }
      },
      GetParam());
}
INSTANTIATE_TEST_SUITE_P(, Averages, ::testing::Values("shm", "gloo"), [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tandem::testing::gradient_places_test
