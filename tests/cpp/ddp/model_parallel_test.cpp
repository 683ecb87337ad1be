// Layers of one model on several devices of one process, alone and under DistributedDataParallel: the CPU and the tests'
// own accelerator. Training is that of one process on one device.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <map>
#include <set>

#include "cpp/comm/threads.h"
#include "ddp/verify.h"
#include "support/fake_device/fake_device.h"
#include "support/temporary_folder.h"
#include "tandem/checkpoint.h"
#include "tandem/ddp.h"
#include "tandem/model_averaging.h"
#include "tandem/nn_utils.h"
#include "tandem/optim.h"
#include "tandem/zero.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kSteps = 20;
constexpr int kRows = 12;  // of a step's batch on all ranks

// A picture's features on one device, what they mean on the other.
struct NetImpl : torch::nn::Module {
  NetImpl(at::Device front, at::Device back) : front_device(front), back_device(back) {
    convolution = register_module("convolution", torch::nn::Conv2d(1, 4, 3));
    norm = register_module("norm", torch::nn::GroupNorm(2, 4));
    hidden = register_module("hidden", torch::nn::Linear(16, 12));
    last = register_module("last", torch::nn::Linear(12, 3));
    scale = register_buffer("scale", torch::ones({12}));
    const torch::NoGradGuard no_grad;
    int number = 0;
    for (at::Tensor& parameter : parameters()) {
      parameter.copy_(torch::sin(torch::arange(parameter.numel()) * 1.3 + ++number).view_as(parameter) * 0.3);
    }
    to(torch::kDouble);
    convolution->to(front);
    norm->to(front);
    hidden->to(back);
    last->to(back);
    scale.set_data(scale.to(back));
  }

  at::Tensor forward(const at::Tensor& x) {
    activations.clear();
    const auto note = [&](at::Tensor activation) {
      activations.push_back(activation.device());
      return activation;
    };
    const at::Tensor features = note(torch::relu(norm(note(convolution(x.to(front_device))))));
    return note(last(torch::tanh(note(hidden(features.flatten(1).to(back_device))) * scale)));
  }

  at::Device front_device, back_device;
  torch::nn::Conv2d convolution{nullptr};
  torch::nn::GroupNorm norm{nullptr};
  torch::nn::Linear hidden{nullptr}, last{nullptr};
  at::Tensor scale;
  std::vector<at::Device> activations;
};
TORCH_MODULE(Net);

at::Tensor inputs(int step) {
  return torch::sin(torch::arange(kRows * 16, torch::kDouble) * 0.7 + step).view({kRows, 1, 4, 4});
}
at::Tensor targets(int step) {
  return torch::cos(torch::arange(kRows * 3, torch::kDouble) * 1.1 + step).view({kRows, 3});
}

at::Tensor loss_of(const at::Tensor& output, const at::Tensor& target) {
  return (output - target.to(output.device())).square().mean();
}

std::unique_ptr<optim::Optimizer> adam(Net& net) {
  return optim::make_optimizer("Adam", net->parameters(), {{"lr", 0.01}});
}

at::Tensor flat(Net& net) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& parameter : net->parameters()) parts.push_back(parameter.detach().cpu().reshape({-1}));
  return torch::cat(parts);
}

void expect_devices(Net& net, const optim::Optimizer& optimizer) {
  EXPECT_EQ(net->activations, (std::vector<at::Device>{net->front_device, net->front_device, net->back_device,
                                                       net->back_device}));
  for (const auto& item : net->named_parameters()) {
    const bool is_front = item.key().starts_with("convolution") || item.key().starts_with("norm");
    EXPECT_EQ(item.value().device(), is_front ? net->front_device : net->back_device) << item.key();
    EXPECT_EQ(item.value().grad().device(), item.value().device()) << item.key();
  }
  const auto parameters = net->parameters();
  std::size_t moments = 0;
  for (const auto& [name, tensor] : optimizer.state()) {
    if (name.ends_with("step")) continue;  // a count
    EXPECT_EQ(tensor.device(), parameters[std::stoul(name)].device()) << name;
    ++moments;
  }
  EXPECT_EQ(moments, 2 * parameters.size());
}

// All steps on the rows of one rank of `ranks`. `forward` is the net's, or DistributedDataParallel's.
template <typename Forward>
void train(optim::Optimizer& optimizer, int rank, int ranks, const Forward& forward, int first = 0) {
  for (int step = first; step < kSteps; ++step) {
    optimizer.zero_grad();
    loss_of(forward(inputs(step).chunk(ranks)[rank]), targets(step).chunk(ranks)[rank]).backward();
    optimizer.step();
  }
}

const at::Tensor& trained_by_one_process() {
  static const at::Tensor parameters = [] {
    Net net(at::kCPU, at::kCPU);
    const auto optimizer = adam(net);
    train(*optimizer, 0, 1, [&](const at::Tensor& x) { return net(x); });
    return flat(net);
  }();
  return parameters;
}

using Place = std::pair<at::Device, at::Device>;
at::Device fake(int index) {
  return fake_device::device(static_cast<c10::DeviceIndex>(index));
}

class ModelParallel : public ::testing::Test {
 protected:
  void SetUp() override { fake_device::install(); }
  // Each rank, a thread here, has accelerators of its own, as processes would.
  static std::vector<Place> places(int rank) {
    return {{at::kCPU, fake(2 * rank)}, {fake(2 * rank), at::kCPU}, {fake(2 * rank), fake(2 * rank + 1)}};
  }
};

TEST_F(ModelParallel, TrainsAsOnOneDevice) {
  for (const auto& [front, back] : places(0)) {
    SCOPED_TRACE(front.str() + ", " + back.str());
    Net net(front, back);
    const auto optimizer = adam(net);
    train(*optimizer, 0, 1, [&](const at::Tensor& x) { return net(x); });
    expect_devices(net, *optimizer);
    EXPECT_TRUE(flat(net).allclose(trained_by_one_process(), 1e-10, 1e-12));
  }
}

TEST_F(ModelParallel, TrainsUnderDistributedDataParallel) {
  static_cast<void>(trained_by_one_process());
  for (const char* backend : {"gloo", "shm"}) {
    for (int kind = 0; kind < 4; ++kind) {
      DataParallelOptions options;
      options.bucket_cap_mb = 0.0002;  // some parameters
      options.gradient_as_bucket_view = kind == 1;
      options.find_unused_parameters = kind == 2;
      options.static_graph = kind == 3;
      const std::size_t place = static_cast<std::size_t>(kind) % 3;
      run_groups(2, [&](ProcessGroup& group) {
        const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
        Net net(places(group.rank())[place].first, places(group.rank())[place].second);
        if (group.rank() == 1) {  // takes rank 0's
          const torch::NoGradGuard no_grad;
          for (at::Tensor& parameter : net->parameters()) parameter.zero_();
          net->buffers()[0].zero_();
        }
        DistributedDataParallel<Net> ddp(net, shared, options);
        const auto optimizer = adam(net);
        train(*optimizer, group.rank(), 2, [&](const at::Tensor& x) { return ddp.forward(x); });
        expect_devices(net, *optimizer);
        EXPECT_TRUE(flat(net).allclose(trained_by_one_process(), 1e-10, 1e-12))
            << backend << ", " << kind << ", rank " << group.rank();

        std::map<std::string, at::Device> devices;
        for (const auto& item : net->named_parameters()) devices.emplace(item.key(), item.value().device());
        const auto statistics = ddp.reducer().statistics();
        EXPECT_GT(statistics.bucket_parameters.size(), 2u);
        for (const auto& bucket : statistics.bucket_parameters) {
          std::set<std::string> of_bucket;
          for (const std::string& name : bucket) of_bucket.insert(devices.at(name).str());
          EXPECT_EQ(of_bucket.size(), 1u) << ::testing::PrintToString(bucket);
        }
      }, backend);
    }
  }
}

// Half the way, then a checkpoint, and on from it in a new model whose layers lie elsewhere.
TEST_F(ModelParallel, GoesOnFromACheckpointOnOtherDevices) {
  const TemporaryFolder folder;
  const auto named = [](Net& net) {
    NamedTensors tensors;
    for (const auto& item : net->named_parameters()) tensors.emplace_back(item.key(), item.value());
    return tensors;
  };
  {
    Net net(fake(0), fake(1));
    const auto optimizer = adam(net);
    for (int step = 0; step < kSteps / 2; ++step) {
      optimizer->zero_grad();
      loss_of(net(inputs(step)), targets(step)).backward();
      optimizer->step();
    }
    CheckpointFolder(folder / "run").save(1, {.replicated = {{"model", named(net)}, {"optimizer", optimizer->state()}}});
  }
  Net net(at::kCPU, fake(3));
  const auto optimizer = adam(net);
  const auto read = CheckpointFolder(folder / "run").load();
  ASSERT_TRUE(read);
  {
    const torch::NoGradGuard no_grad;
    auto parameters = net->named_parameters();
    for (const auto& [name, tensor] : read->sections.at("model")) parameters[name].copy_(tensor);
  }
  optimizer->load_state(read->sections.at("optimizer"));
  train(*optimizer, 0, 1, [&](const at::Tensor& x) { return net(x); }, kSteps / 2);
  expect_devices(net, *optimizer);
  EXPECT_TRUE(flat(net).allclose(trained_by_one_process(), 1e-10, 1e-12));
}

TEST_F(ModelParallel, NormsAreOverAllDevices) {
  Net net(at::kCPU, fake(0)), whole(at::kCPU, at::kCPU);
  double norms[2] = {};
  for (Net* one : {&net, &whole}) {
    loss_of((*one)(inputs(0)), targets(0)).backward();
    norms[one == &whole] = nn::utils::clip_grad_norm_((*one)->parameters(), 0.01).item<double>();
  }
  EXPECT_NEAR(norms[0], norms[1], 1e-12);
  for (std::size_t i = 0; i < net->parameters().size(); ++i) {
    EXPECT_TRUE(net->parameters()[i].grad().cpu().allclose(whole->parameters()[i].grad(), 1e-10, 1e-14)) << i;
  }
}

TEST_F(ModelParallel, LayersThatMoveLaterAreRefused) {
  run_groups(1, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    Net net(at::kCPU, fake(0));
    DistributedDataParallel<Net> ddp(net, shared);
    loss_of(ddp.forward(inputs(0)), targets(0)).backward();
    net->zero_grad();
    net->last->to(fake(1));
    const Error error = error_of([&] { ddp.forward(inputs(0)); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("parameter 'last.weight' is on fake:1 now, but was on fake:0 when"));
  });
}

// What ranks exchange outside of DDP's buckets follows the parameters' order, not the devices' numbers.
TEST_F(ModelParallel, RanksNumberTheirDevicesAsTheyLike) {
  static_cast<void>(trained_by_one_process());
  run_groups(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    Net net(fake(group.rank() == 0 ? 0 : 3), fake(group.rank() == 0 ? 1 : 2));
    DistributedDataParallel<Net> ddp(net, shared);
    ZeroRedundancyOptimizer optimizer(shared, "Adam", net->parameters(), {{"lr", 0.01}});
    train(optimizer, group.rank(), 2, [&](const at::Tensor& x) { return ddp.forward(x); });
    EXPECT_TRUE(flat(net).allclose(trained_by_one_process(), 1e-10, 1e-12)) << "rank " << group.rank();

    const at::Tensor trained = flat(net);
    {
      const torch::NoGradGuard no_grad;
      for (at::Tensor& parameter : net->parameters()) parameter.mul_(group.rank() == 0 ? 0.5 : 1.5);
    }
    EXPECT_TRUE(periodic_model_averager(shared, 1)->average_parameters(net->parameters()));
    EXPECT_TRUE(flat(net).allclose(trained, 1e-10, 1e-12)) << "rank " << group.rank();
  });
}

// Only a GPU is a device that some group does not exchange: tests/gpu has the whole of it.
TEST_F(ModelParallel, WhatOneRankCannotExchangeIsToldToAll) {
  run_groups(3, [&](ProcessGroup& group) {
    const std::vector<std::string> labels = {"parameter 'weight'"};
    const std::string complaint = group.rank() == 1 ? labels[0] + " is on cuda:1, whose tensors …" : "";
    const Error error = error_of([&] { verify_same_on_all_ranks(group, {torch::ones({2})}, labels, complaint); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), ::testing::StrEq("on rank 1 parameter 'weight' is on cuda:1, whose tensors …"));
    verify_same_on_all_ranks(group, {torch::ones({2})}, labels, "");  // none was left behind
  });
}

TEST_F(ModelParallel, AnOptimizerInBackwardIsRefused) {
  run_groups(1, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    Net net(at::kCPU, fake(0));
    DistributedDataParallel<Net> ddp(net, shared);
    const Error error = error_of([&] { ddp.reducer().set_optimizer_in_backward(adam(net)); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("parameters on several devices"));
  });
}

TEST_F(ModelParallel, RanksThatCutTheModelElsewhereAreToldOfIt) {
  run_groups(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    Net net(at::kCPU, group.rank() == 0 ? fake(0) : at::Device(at::kCPU));
    const Error error = error_of([&] { DistributedDataParallel<Net> ddp(net, shared); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("parameter 'hidden.weight' is Double[12, 16] with gradient on fake on rank 0"),
                                    HasSubstr("but Double[12, 16] with gradient on rank 1")));
  });
}

}  // namespace
}  // namespace tandem::testing
