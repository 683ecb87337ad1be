// Data-parallel training in a low precision, with ranks as threads.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/comm/threads.h"
#include "cpp/ddp/small_models.h"
#include "tandem/ddp.h"

namespace tandem::testing::mixed_precision_test {
namespace {

using ::testing::HasSubstr;
using namespace small_models;

TEST(DataParallel, MixedPrecisionComputesLowAndKeepsParametersHigh) {
  torch::manual_seed(6);
  const at::Tensor inputs = torch::randn({5, 2, 16, 20});
  Plain reference;
  Plain start;
  copy_parameters(reference, start);
  for (int i = 0; i < 5; ++i) {
    reference(inputs[i].reshape({32, 20})).pow(2).mean().backward();
    step(*reference, 0.1);
  }
  for (const bool views : {false, true}) {
    for (const bool reduce_in_float : {false, true}) {
      std::vector<Plain> replicas = {Plain(), Plain()};
      copy_parameters(start, replicas[0]);
      const Store store = hash_store();
      run_ranks(2, [&](int rank) {
        const auto group = ProcessGroup::create(options_for(rank, 2), store);
        DataParallelOptions options;
        options.gradient_as_bucket_view = views;
        options.mixed_precision.param_dtype = torch::kBFloat16;
        if (reduce_in_float) options.mixed_precision.reduce_dtype = torch::kFloat;
        DistributedDataParallel<Plain> ddp(replicas[rank], group, options);
        Plain& net = ddp.module();
        for (int i = 0; i < 5; ++i) {
          const at::Tensor out = ddp.forward(inputs[i][rank]);
          EXPECT_EQ(out.scalar_type(), torch::kBFloat16);
          EXPECT_EQ(net->first->weight.scalar_type(), torch::kBFloat16);
          out.to(torch::kFloat).pow(2).mean().backward();
          EXPECT_EQ(net->first->weight.scalar_type(), torch::kFloat);
          EXPECT_EQ(net->first->weight.grad().scalar_type(), torch::kFloat);
          step(*net, 0.1);
        }
        {
          torch::NoGradGuard no_grad;
          net->eval();
          EXPECT_EQ(ddp.forward(inputs[0][rank]).scalar_type(), torch::kBFloat16);
          EXPECT_EQ(net->first->weight.scalar_type(), torch::kFloat);
        }
        group->barrier();
      });
      const at::Tensor first = all_parameters(*replicas[0]);
      EXPECT_TRUE(first.equal(all_parameters(*replicas[1])));
      const double off = (first - all_parameters(*reference)).abs().max().item<double>();
      EXPECT_LT(off, 5e-3);
      EXPECT_GT(off, 1e-6) << "nothing was computed in bfloat16";
      EXPECT_GT((first - all_parameters(*start)).abs().max().item<double>(), 1e-2);
    }
  }
}

TEST(DataParallel, MixedPrecisionAccumulatesInFullAndCastsBuffers) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Net net;
    DataParallelOptions options;
    options.mixed_precision.param_dtype = torch::kBFloat16;
    options.mixed_precision.buffer_dtype = torch::kBFloat16;
    DistributedDataParallel<Net> ddp(net, group, options);
    EXPECT_EQ(net->norm->running_mean.scalar_type(), torch::kBFloat16);
    EXPECT_EQ(net->norm->num_batches_tracked.scalar_type(), torch::kLong);
    const at::Tensor x = torch::ones({4, 20}) * (group->rank() + 1.0);
    at::Tensor own;
    {
      const auto no_sync = ddp.no_sync();
      ddp.forward(x).sum().backward();
      own = net->second->bias.grad().clone();
      EXPECT_EQ(own.scalar_type(), torch::kFloat);
    }
    ddp.forward(x).sum().backward();
    EXPECT_TRUE(net->second->bias.grad().equal(own * 2));
    EXPECT_EQ(net->second->weight.scalar_type(), torch::kFloat);
    ddp.forward(x);  // without a backward
    ddp.forward(x).sum().backward();
    EXPECT_EQ(net->second->weight.scalar_type(), torch::kFloat);
  });
}

// Fails for a batch of nothing, and gives classes where it is told to.
struct ClassifierImpl : torch::nn::Module {
  ClassifierImpl() { layer = register_module("layer", torch::nn::Linear(20, 3)); }
  torch::Tensor forward(const torch::Tensor& x, bool classes) {
    if (x.size(0) == 0) throw std::invalid_argument("nothing to classify");
    const torch::Tensor scores = layer->forward(x);
    return classes ? scores.argmax(1) : scores;
  }
  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(Classifier);

TEST(DataParallel, MixedPrecisionEndsWithAForwardThatFailsOrGivesNothingToTrain) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Classifier net;
    DataParallelOptions options;
    options.mixed_precision.param_dtype = torch::kBFloat16;
    DistributedDataParallel<Classifier> ddp(net, group, options);
    const auto dtype = [&] { return net->layer->weight.scalar_type(); };
    EXPECT_THROW(ddp.forward(torch::ones({0, 20}), false), std::invalid_argument);
    EXPECT_EQ(dtype(), torch::kFloat);
    EXPECT_EQ(ddp.forward(torch::ones({4, 20}), true).scalar_type(), torch::kLong);
    EXPECT_EQ(dtype(), torch::kFloat);
    const at::Tensor waiting = ddp.forward(torch::ones({4, 20}), false);
    EXPECT_EQ(dtype(), torch::kBFloat16);
    EXPECT_THROW(ddp.forward(torch::ones({0, 20}), false), std::invalid_argument);
    EXPECT_EQ(dtype(), torch::kBFloat16);  // for the backward that is to come
    waiting.sum().backward();
    EXPECT_EQ(dtype(), torch::kFloat);
  });
}

TEST(DataParallel, ReduceDtypeAloneCompressesTheExchange) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    at::Tensor weight = torch::ones({1}, torch::requires_grad());
    DataParallelOptions options;
    options.mixed_precision.reduce_dtype = torch::kBFloat16;
    DataParallelReducer reducer(group, {weight}, {}, {}, options);
    reducer.prepare_forward(true);
    std::vector<at::Tensor> out = {(weight * 1.001).sum()};
    reducer.prepare_backward(out);
    out[0].backward();
    EXPECT_EQ(weight.grad().item<float>(), 1.0f);
    DataParallelReducer other(group, {weight}, {}, {}, options);
    EXPECT_THAT(error_of([&] { other.register_comm_hook(noop_hook()); }).what(), HasSubstr("reduce_dtype"));
  });
}

}  // namespace
}  // namespace tandem::testing::mixed_precision_test
