// A model whose branches lie on two devices: backward fills its buckets from two threads at a time. What goes beside DDP's
// usual exchange trains it as it trains the same model on the CPU.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <functional>
#include <vector>

#include "cpp/comm/threads.h"
#include "support/fake_device/fake_device.h"
#include "tandem/comm_hook.h"
#include "tandem/ddp.h"
#include "tandem/optim.h"
#include "tandem/zero.h"

namespace tandem::testing::branches_test {
namespace {

constexpr int kSteps = 6, kRows = 8;

// The sum of two branches, each a few layers on its device; the norm's statistics are the right one's.
struct NetImpl : torch::nn::Module {
  NetImpl(at::Device left_of, at::Device right_of) : left_device(left_of), right_device(right_of) {
    using torch::nn::Linear;
    using torch::nn::Tanh;
    left = register_module("left", torch::nn::Sequential(Linear(6, 9), Tanh(), Linear(9, 7), Tanh(), Linear(7, 3)));
    right = register_module("right", torch::nn::Sequential(Linear(6, 8), torch::nn::BatchNorm1d(8), Tanh(), Linear(8, 3)));
    const torch::NoGradGuard no_grad;
    int number = 0;
    for (at::Tensor& parameter : parameters()) {
      parameter.copy_(torch::sin(torch::arange(parameter.numel()) * 1.3 + ++number).view_as(parameter) * 0.5);
    }
    to(torch::kDouble);
    left->to(left_device);
    right->to(right_device);
  }
  at::Tensor forward(const at::Tensor& x) {
    return left->forward(x.to(left_device)).to(right_device) + right->forward(x.to(right_device));
  }
  at::Device left_device, right_device;
  torch::nn::Sequential left, right;
};
TORCH_MODULE(Net);

at::Tensor inputs(int step, int rank) {
  return torch::sin(torch::arange(kRows * 6, torch::kDouble) * 0.7 + step * 5 + rank).view({kRows, 6});
}
double backward(const at::Tensor& output, int step) {
  const at::Tensor target = torch::cos(torch::arange(kRows * 3, torch::kDouble) + step).view({kRows, 3});
  const at::Tensor loss = (output - target.to(output.device())).square().mean();
  loss.backward();
  return loss.item<double>();
}

at::Tensor flat(Net& net) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& tensor : net->parameters()) parts.push_back(tensor.detach().cpu().reshape({-1}));
  for (const at::Tensor& tensor : net->buffers()) parts.push_back(tensor.detach().cpu().reshape({-1}).to(torch::kDouble));
  return torch::cat(parts);
}

// Without buffers, which are a rank's own until the next forward.
at::Tensor trained(Net& net) {
  return flat(net).narrow(0, 0, flat(net).numel() - 17);
}

at::Device fake(int index) {
  return fake_device::device(static_cast<c10::DeviceIndex>(index));
}

using Train = std::function<at::Tensor(const std::shared_ptr<ProcessGroup>&, Net&)>;

// What two ranks have after `train`, with branches on the CPU and an accelerator of their own, on two of these, and on the CPU.
struct Trained {
  std::vector<at::Tensor> ranks;
};
std::vector<Trained> run(const Train& train) {
  fake_device::install();
  std::vector<Trained> all(3);
  for (Trained& one : all) one.ranks.resize(2);
  run_groups(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const int rank = group.rank();
    const std::vector<std::pair<at::Device, at::Device>> places = {
        {at::kCPU, fake(2 * rank)}, {fake(2 * rank), fake(2 * rank + 1)}, {at::kCPU, at::kCPU}};
    for (std::size_t i = 0; i < places.size(); ++i) {
      Net net(places[i].first, places[i].second);
      all[i].ranks[rank] = train(shared, net);
    }
  });
  return all;
}

void expect_as_on_the_cpu(const std::vector<Trained>& all, double tolerance) {
  for (const Trained& one : all) {
    EXPECT_TRUE(one.ranks[0].equal(one.ranks[1]));
    EXPECT_LT((one.ranks[0] - all.back().ranks[0]).abs().max().item<double>(), tolerance);
  }
}

DataParallelOptions small_buckets() {
  DataParallelOptions options;
  options.bucket_cap_mb = 0.0003;
  return options;
}

using MakeHook = std::function<CommHook(const std::shared_ptr<ProcessGroup>&)>;

Train under(const MakeHook& hook) {
  return [hook](const std::shared_ptr<ProcessGroup>& group, Net& net) {
    DistributedDataParallel<Net> ddp(net, group, small_buckets());
    ddp.reducer().register_comm_hook(hook(group));
    const auto sgd = optim::make_optimizer("SGD", net->parameters(), {{"lr", 0.05}});
    double first = 0, last = 0;
    for (int step = 0; step < kSteps; ++step) {
      sgd->zero_grad();
      last = backward(ddp.forward(inputs(step % 2, group->rank())), 0);
      if (step == 0) first = last;
      sgd->step();
    }
    EXPECT_LT(last, first);
    EXPECT_GT(ddp.reducer().statistics().bucket_parameters.size(), 2u);
    return trained(net);
  };
}

TEST(Branches, UnderCommunicationHooks) {
  expect_as_on_the_cpu(run(under([](const auto& group) { return allreduce_hook(group); })), 1e-12);
  expect_as_on_the_cpu(run(under([](const auto& group) { return fp16_compress_hook(group); })), 1e-3);
  // What buckets have in common differs with the devices.
  expect_as_on_the_cpu(run(under([](const auto& group) { return quantization_pertensor_hook(group); })), 2e-2);
  expect_as_on_the_cpu(run(under([](const auto& group) {
    PowerSgdOptions options;
    options.start_power_sgd_iter = 2;
    options.min_compression_rate = 1;
    return power_sgd_hook(std::make_shared<PowerSgdState>(group, options));
  })), 0.2);
}

// Rank 1 has three batches more than rank 0.
TEST(Branches, WhereInputsEndAtDifferentTimes) {
  for (const bool by_initial : {true, false}) {
    expect_as_on_the_cpu(run([by_initial](const std::shared_ptr<ProcessGroup>& group, Net& net) {
      DistributedDataParallel<Net> ddp(net, group, small_buckets());
      const auto adam = optim::make_optimizer("Adam", net->parameters(), {{"lr", 0.01}});
      JoinOptions join;
      join.divide_by_initial_world_size = by_initial;
      ddp.join([&] {
        for (int step = 0; step < 2 + 3 * group->rank(); ++step) {
          adam->zero_grad();
          backward(ddp.forward(inputs(step, group->rank())), step);
          adam->step();
        }
      }, join);
      return flat(net);  // of the rank that trained last, buffers too
    }), 1e-12);
  }
}

// Half of the steps, then on from the whole state, which rank 0 has, in an optimizer that is made anew.
TEST(Branches, UnderAnOptimizerWhoseStateIsSpread) {
  const auto all = run([](const std::shared_ptr<ProcessGroup>& group, Net& net) {
    DistributedDataParallel<Net> ddp(net, group, small_buckets());
    std::vector<std::pair<std::string, at::Tensor>> state;
    for (int part = 0; part < 2; ++part) {
      ZeroRedundancyOptimizer optimizer(group, "Adam", net->parameters(), {{"lr", 0.01}});
      if (part > 0) optimizer.load_state(state);
      for (int step = 0; step < kSteps / 2; ++step) {
        optimizer.zero_grad();
        backward(ddp.forward(inputs(step + 3 * part, group->rank())), step);
        optimizer.step();
      }
      for (int to = 0; to < 2; ++to) {  // each gets the whole
        optimizer.consolidate_state(to);
        if (to == group->rank()) state = optimizer.state();
      }
      EXPECT_EQ(state.size(), 3 * net->parameters().size());
    }
    return trained(net);
  });
  expect_as_on_the_cpu(all, 1e-10);
  // As an Adam of each rank's own.
  const auto plain = run([](const std::shared_ptr<ProcessGroup>& group, Net& net) {
    DistributedDataParallel<Net> ddp(net, group, small_buckets());
    const auto adam = optim::make_optimizer("Adam", net->parameters(), {{"lr", 0.01}});
    for (int step = 0; step < kSteps; ++step) {
      adam->zero_grad();
      backward(ddp.forward(inputs(step, group->rank())), step % 3);
      adam->step();
    }
    return trained(net);
  });
  EXPECT_LT((plain[0].ranks[0] - all[0].ranks[0]).abs().max().item<double>(), 1e-10);
}

}  // namespace
}  // namespace tandem::testing::branches_test
