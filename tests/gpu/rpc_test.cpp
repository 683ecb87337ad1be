// Calls with tensors of a GPU, which two workers share as two processes.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/rpc/workers.h"
#include "gpu/gpu.h"
#include "tandem/dist_autograd.h"
#include "tandem/dist_optimizer.h"
#include "tandem/optim.h"

namespace tandem::testing::rpc_gpu_test {
namespace {

using namespace workers;
using ::testing::AllOf;
using ::testing::HasSubstr;
using rpc::RRef;
using rpc::Values;

at::Tensor& weight() {
  static at::Tensor made = torch::full({256}, 3.0, torch::dtype(torch::kDouble).device(kGpu)).requires_grad_(true);
  return made;
}

// Where functions of worker 1 leave what they did.
at::Tensor& kept() {
  static at::Tensor made = torch::zeros({256}, torch::dtype(torch::kDouble).device(kGpu));
  return made;
}

// 1, which the GPU has some ten milliseconds after this returns: who does not wait for it reads something else.
at::Tensor late_one() {
  constexpr int kSize = 4096;
  at::Tensor x = torch::full({kSize, kSize}, 1.0 / kSize, torch::dtype(torch::kDouble).device(kGpu));
  for (int i = 0; i < 8; ++i) x = x.matmul(x);
  return x[0][0] * kSize;
}

// Workers 0 and 1 map their GPUs to each other's; worker 2 has none.
void join_with_gpu() {
  register_functions();
  rpc::register_function("square", [](const Values& given) {
    const at::Tensor x = given.at(0).toTensor();
    return at::IValue(x * x * late_one());
  });
  rpc::register_function("keep", [](const Values& given) {
    kept().add_(given.at(0).toTensor() * late_one());
    return at::IValue();
  });
  rpc::register_function("kept", [](const Values&) { return at::IValue(kept().clone()); });
  rpc::register_function("keep and tell", [](const Values& given) {
    kept().add_(given.at(0).toTensor() * late_one());
    return rpc::rpc_sync("worker0", "ask for kept", {});
  });
  rpc::register_function("kept itself", [](const Values&) { return at::IValue(kept()); });
  rpc::register_function("reference to kept", [](const Values&) { return RRef(at::IValue(kept())).value(); });
  rpc::register_function("other weight", [](const Values& given) {
    static const at::Tensor made = torch::full({256}, 5.0, torch::dtype(torch::kDouble).device(kGpu)).requires_grad_(true);
    return at::IValue(given.at(0).toTensor() * made * late_one());
  });
  rpc::register_function("gradients", [](const Values& given) {
    double sum = 0;
    for (const auto& one : rpc::dist_gradients(given.at(0).toInt())) sum += one.second.sum().item<double>();
    return at::IValue(sum);
  });
  rpc::register_function("ask for kept", [](const Values&) { return rpc::rpc_sync("worker1", "kept", {}); });
  rpc::register_function("times weight", [](const Values& given) { return at::IValue(given.at(0).toTensor() * weight()); });
  rpc::register_function("sum of", [](const Values& given) {
    return at::IValue(RRef::from(given.at(0)).local_value().toTensor().sum().item<double>());
  });
  rpc::Options chosen = options();
  if (rank() < 2) {
    load_cuda();
    chosen.device_maps["worker" + std::to_string(1 - rank())] = {{kGpu, kGpu}};
  }
  rpc::init(own_name(), chosen);
}

const Role kServes("gpu serves", [] {
  join_with_gpu();
  rpc::shutdown();
  say("left");
});

const Role kCalls("gpu calls", [] {
  join_with_gpu();
  say_error([] {
    int right = 0;
    for (int i = 1; i <= 20; ++i) {
      const at::Tensor x = torch::full({1 << 20}, static_cast<double>(i), torch::dtype(torch::kDouble).device(kGpu));
      const at::Tensor y = rpc::rpc_sync("worker1", "square", {x}).toTensor();
      right += y.device() == kGpu && y.min().item<double>() == i * i && y.max().item<double>() == i * i;
    }
    say("right " + std::to_string(right));
    const at::Tensor ones = torch::ones({1000}, torch::dtype(torch::kDouble).device(kGpu));
    const RRef there = rpc::remote("worker1", "square", {ones * 2});
    say(std::to_string(there.to_here().toTensor().sum().item<double>()));
    say(std::to_string(rpc::rpc_sync("worker1", "sum of", {there.value()}).toDouble()));
    say(std::to_string(rpc::rpc_async("worker1", "echo", {ones * late_one()}).then([](const rpc::Future& done) {
          return at::IValue(done.wait().toTensor().sum() * late_one());
        }).wait().toTensor().item<double>()));
    for (int i = 0; i < 5; ++i) rpc::rpc_sync("worker1", "keep", {torch::ones({256}, torch::dtype(torch::kDouble).device(kGpu))});
    say(std::to_string(rpc::rpc_sync("worker1", "kept").toTensor().sum().item<double>()));
    const at::Tensor more = torch::ones({256}, torch::dtype(torch::kDouble).device(kGpu)) * late_one();
    say(std::to_string(rpc::rpc_sync("worker1", "keep and tell", {more}).toTensor().sum().item<double>()));
    // What is sent is what it was when the call was made, and an answer what it was when the function ended.
    at::Tensor changed = more * late_one();
    rpc::rpc_sync("worker1", "keep", {changed});
    changed.zero_();
    const at::Tensor answered = rpc::rpc_sync("worker1", "kept itself").toTensor();
    rpc::rpc_sync("worker1", "keep", {more});
    say(std::to_string(answered.sum().item<double>()));
    const RRef reference = RRef::from(rpc::rpc_sync("worker1", "reference to kept"));
    rpc::rpc_sync("worker1", "keep", {more});
    say(std::to_string(reference.to_here().toTensor().sum().item<double>()));
    say(rpc::rpc_sync("worker1", "echo", {torch::ones(3)}).toTensor().device().str());
    {
      const rpc::AutogradContext context;
      const at::Tensor x = torch::full({256}, 2.0, torch::dtype(torch::kDouble).device(kGpu)).requires_grad_(true);
      context.backward({rpc::rpc_sync("worker1", "times weight", {x}).toTensor().sum()});
      say(context.gradients().at(0).second.equal(torch::full_like(x, 3)) ? "gradient" : "no gradient");
    }
    {
      const rpc::AutogradContext context;  // through two functions, each with a weight of its own there
      const at::Tensor x = torch::full({256}, 2.0, torch::dtype(torch::kDouble).device(kGpu)).requires_grad_(true);
      context.backward({rpc::rpc_sync("worker1", "other weight", {x}).toTensor().sum() +
                        rpc::rpc_sync("worker1", "times weight", {x}).toTensor().sum()});
      say(context.gradients().at(0).second.equal(torch::full_like(x, 8)) ? "gradient" : "no gradient");
      say(std::to_string(rpc::rpc_sync("worker1", "gradients", {context.id()}).toDouble()));
    }
    say_error([&] { rpc::rpc_sync("worker2", "echo", {ones}); });
    say_error([&] { rpc::rpc_sync("worker1", "echo", {ones.to_sparse()}); });
  });
  rpc::shutdown();
  say("left");
});

// What is trained: half of it here, half on worker 1.
constexpr int kSteps = 20, kWidth = 16;

at::Tensor half(double by, at::Device device) {
  return numbers({kWidth, kWidth}, by).to(device).requires_grad_(true);
}

at::Tensor batch_of(int step, at::Device device) {
  return numbers({8, kWidth}, 0.1 * (step + 1)).to(device);
}

at::Tensor layer(const at::Tensor& x, const at::Tensor& weight) {
  return torch::tanh(x.matmul(weight));
}

void join_to_train() {
  rpc::register_function("second half", [](const Values& given) {
    static const at::Tensor made = half(0.7, kGpu);
    if (given.empty()) return RRef(at::IValue(made)).value();
    return at::IValue(layer(given.at(0).toTensor(), made) * late_one());
  });
  load_cuda();
  rpc::Options chosen = options();
  chosen.device_maps["worker" + std::to_string(1 - rank())] = {{kGpu, kGpu}};
  rpc::init(own_name(), chosen);
}

const Role kTrainsHalf("gpu trains half", [] {
  join_to_train();
  rpc::shutdown();
});

const Role kTrains("gpu trains", [] {
  join_to_train();
  say_error([] {
    const std::vector<Option> rate{{"lr", 0.02}};
    const at::Tensor first = half(0.3, kGpu);
    const RRef second = RRef::from(rpc::rpc_sync("worker1", "second half"));
    rpc::DistributedOptimizer optimizer("Adam", {RRef(at::IValue(first)), second}, rate);
    for (int step = 0; step < kSteps; ++step) {
      const rpc::AutogradContext context;
      const at::Tensor hidden = layer(batch_of(step, kGpu), first) * late_one();
      context.backward({rpc::rpc_sync("worker1", "second half", {hidden}).toTensor().square().sum()});
      optimizer.step(context.id());
    }
    const at::Tensor alone_first = half(0.3, at::kCPU), alone_second = half(0.7, at::kCPU);
    const auto alone = optim::make_optimizer("Adam", {alone_first, alone_second}, rate);
    for (int step = 0; step < kSteps; ++step) {
      layer(layer(batch_of(step, at::kCPU), alone_first), alone_second).square().sum().backward();
      alone->step();
      alone->zero_grad();
    }
    const auto differ = [](const at::Tensor& a, const at::Tensor& b) { return (a.detach().cpu() - b.detach()).abs().max().item<double>(); };
    const double most = std::max(differ(first, alone_first), differ(second.to_here().toTensor(), alone_second));
    say(most < 1e-10 ? "equal" : "differs by " + std::to_string(most));
    say(differ(half(0.3, at::kCPU), alone_first) > 0.1 ? "moved" : "did not move");
  });
  rpc::shutdown();
});

class GpuRpc : public Gpu {};

TEST_F(GpuRpc, TwentyStepsOfADistributedOptimizerAreThoseOfOneProcess) {
  const Job job;
  const auto workers = start(job, {"gpu trains", "gpu trains half"});
  EXPECT_EQ(workers[0]->line(), "equal");
  EXPECT_EQ(workers[0]->line(), "moved");
  EXPECT_EQ(workers[0]->line(), "no error");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

TEST_F(GpuRpc, TensorsStayOnTheGpuAndAreWaitedFor) {
  const Job job;
  const auto workers = start(job, {"gpu calls", "gpu serves", "gpu serves"});
  Child& caller = *workers[0];
  EXPECT_EQ(caller.line(), "right 20");
  EXPECT_EQ(caller.line(), "4000.000000");
  EXPECT_EQ(caller.line(), "4000.000000");
  EXPECT_EQ(caller.line(), "1000.000000");
  EXPECT_EQ(caller.line(), "1280.000000");
  EXPECT_EQ(caller.line(), "1536.000000");
  EXPECT_EQ(caller.line(), "1792.000000");  // 1536 and changed's 256
  EXPECT_EQ(caller.line(), "2304.000000");  // twice more
  EXPECT_EQ(caller.line(), "cpu");
  EXPECT_EQ(caller.line(), "gradient");
  EXPECT_EQ(caller.line(), "gradient");
  EXPECT_EQ(caller.line(), "1024.000000");  // 2 for each of both weights' elements
  EXPECT_THAT(caller.line(), IsError(ErrorCode::kInvalidArgument, AllOf(HasSubstr("worker2"), HasSubstr("cuda:0"))));
  EXPECT_THAT(caller.line(), IsError(ErrorCode::kInvalidArgument, AllOf(HasSubstr("worker1"), HasSubstr("Sparse"))));
  EXPECT_EQ(caller.line(), "no error");
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "left");
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

}  // namespace
}  // namespace tandem::testing::rpc_gpu_test
