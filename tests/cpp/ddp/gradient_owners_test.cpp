// Gradients that backward writes where they are exchanged, in programs that keep some of them, or refuse a backward.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/ddp/weights.h"
#include "tandem/activation_checkpoint.h"
#include "tandem/optim.h"

namespace tandem::testing::gradient_owners_test {
namespace {

using ::testing::HasSubstr;
using weights::as_views;
using weights::input;
using weights::Weights;

class Owners : public ::testing::TestWithParam<const char*> {};

// It is the memory that this step's comes to.
TEST_P(Owners, ALossOfTheLastStepsGradientIsAnErrorInsteadOfAnothersNumbers) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        Weights weights(group, {{6, 5}}, as_views(true));
        const at::Tensor& weight = weights.all[0];
        const auto forward = [&](int number) {
          return weights.forward([&] { return at::linear(input({4, 5}, group.rank(), number), weight); }).square().sum();
        };
        for (int i = 0; i < 3; ++i) {
          weights.forget_gradients();
          forward(i).backward();
        }
        const at::Tensor last = weight.grad();
        weights.forget_gradients();
        const at::Tensor with_last = (last * weight).sum();
        const at::Tensor loss = forward(3) + with_last;
        try {
          loss.backward();
          ADD_FAILURE() << "no error";
        } catch (const c10::Error& error) {
          EXPECT_THAT(error.what(), HasSubstr("modified by an inplace operation"));
        }
      },
      GetParam());
}

TEST_P(Owners, AnOptimizerInBackwardStepsEachWeightAfterARefusedBackward) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        Weights weights(group, {{9, 12}, {9}, {9, 12}}, as_views(true));
        std::vector<at::Tensor> expected;
        for (const at::Tensor& one : weights.all) expected.push_back(one.detach().clone().set_requires_grad(true));
        weights.reducer->set_optimizer_in_backward(optim::make_optimizer("SGD", weights.all, {{"lr", 0.05}}));
        const auto loss_of = [](const std::vector<at::Tensor>& all, int rank, int number, bool turned) {
          const at::Tensor x = input({4, 12}, rank, number);
          return torch::tanh(at::linear(x, all[turned ? 2 : 0]) + all[1]) * at::linear(x, all[turned ? 0 : 2]);
        };
        for (int i = 0; i < 6; ++i) {
          const auto forward = [&](bool turned) {
            weights.forget_gradients();
            return weights.forward([&] { return loss_of(weights.all, group.rank(), i, turned); }).square().sum();
          };
          if (i == 2) {
            EXPECT_THROW(forward(false).backward({}, false, /*create_graph=*/true), std::exception);
          }
          forward(i >= 2).backward();
          for (int rank = 0; rank < 2; ++rank) loss_of(expected, rank, i, i >= 2).square().sum().div(2).backward();
          const torch::NoGradGuard no_grad;
          for (std::size_t j = 0; j < expected.size(); ++j) {
            expected[j].sub_(expected[j].grad(), 0.05);
            expected[j].mutable_grad().reset();
            EXPECT_LT(difference(weights.all[j], expected[j]), 1e-12) << "weight " << j << " after step " << i;
          }
        }
      },
      GetParam());
}

TEST_P(Owners, ARefusedBackwardLeavesNoGraphAndNoLowerPrecisionInBuckets) {
  for (const bool mixed : {false, true}) {
    SCOPED_TRACE(mixed ? "bfloat16" : "float");
    run_groups(
        2,
        [&](ProcessGroup& group) {
          DataParallelOptions options = as_views(true);
          if (mixed) options.mixed_precision.param_dtype = at::kBFloat16;
          Weights weights(group, {{6, 5}, {6}}, options, at::kFloat);
          const auto loss = [&](int number) {
            return weights
                .forward([&] {
                  const at::Tensor x = input({4, 5}, group.rank(), number, mixed ? at::kBFloat16 : at::kFloat);
                  return at::linear(x, weights.all[0], weights.all[1]);
                })
                .square()
                .sum();
          };
          for (int i = 0; i < 5; ++i) {
            if (i == 2) {
              EXPECT_THROW(loss(i).backward({}, false, /*create_graph=*/true), std::exception);
              loss(i).backward();  // what the refused one accumulated is still there
            } else {
              weights.forget_gradients();
              loss(i).backward();
            }
            for (const at::Tensor& one : weights.all) {
              EXPECT_EQ(one.scalar_type(), at::kFloat);
              EXPECT_EQ(one.grad().scalar_type(), at::kFloat);
              EXPECT_FALSE(one.grad().requires_grad()) << i;
            }
          }
        },
        GetParam());
  }
}

// A hook's, whose gradients are its own.
TEST_P(Owners, ABackwardWithinBackwardKeepsItsGradients) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        DataParallelOptions options = as_views(true);
        options.static_graph = true;
        Weights weights(group, {{6, 5}}, options);
        const at::Tensor& weight = weights.all[0];
        for (int i = 0; i < 4; ++i) {
          weights.forget_gradients();
          const at::Tensor x = input({4, 5}, group.rank(), i), inner = input({4, 5}, group.rank(), i + 10);
          at::Tensor kept;
          weights
              .forward([&] {
                const at::Tensor y = at::linear(x, weight);
                y.register_hook([&](const at::Tensor& gradient) {
                  const at::AutoGradMode on(true);
                  at::linear(inner, weight).sum().backward();
                  kept = weight.grad();
                  weight.mutable_grad().reset();
                  return gradient;
                });
                return y * 1;
              })
              .sum()
              .backward();
          const at::Tensor ones = torch::ones({6, 4}, at::kDouble);
          EXPECT_LT(difference(kept, ones.mm(inner)), 1e-12) << i;
          at::Tensor mean = torch::zeros({6, 5}, at::kDouble);
          for (int rank = 0; rank < 2; ++rank) mean += ones.mm(input({4, 5}, rank, i)) / 2;
          EXPECT_LT(difference(weight.grad(), mean), 1e-12) << i;
        }
      },
      GetParam());
}

// A checkpoint whose second run comes after the module went under DistributedDataParallel.
TEST_P(Owners, ACheckpointGoesByLibTorchsOrderOfWhatIsSaved) {
  run_groups(
      1,
      [](ProcessGroup& group) {
        at::Tensor weight = (input({5, 5}, 0, 7) * 0.3).set_requires_grad(true);
        const at::Tensor x = input({5, 5}, 0, 1).set_requires_grad(true);
        const auto run = [&](const at::Tensor& given) { return torch::tanh(at::linear(given, weight)); };
        const auto expected = torch::autograd::grad({run(x).square().sum()}, {x, weight});
        at::Tensor y;
        {
          nn::ActivationCheckpoint checkpoint([&](const auto& inputs) { run(inputs[0]); }, {x});
          y = run(x);
        }
        DataParallelReducer reducer(shared(group), {weight}, {}, {}, as_views(true));
        const auto computed = torch::autograd::grad({y.square().sum()}, {x, weight});
        for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(difference(computed[i], expected[i]), 1e-12) << i;
      },
      GetParam());
}

INSTANTIATE_TEST_SUITE_P(, Owners, ::testing::Values("shm", "gloo"), [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tandem::testing::gradient_owners_test
