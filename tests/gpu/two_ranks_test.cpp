// Two ranks on one GPU exchange, compress, lose each other and part.
#include <signal.h>

#include <thread>

#include "gpu/two_ranks.h"
#include "tandem/comm_hook.h"
#include "tandem/ddp.h"
#include "tandem/optim.h"

namespace tandem::testing::two_ranks {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using std::chrono::milliseconds;

// --- what a rank does

at::Tensor full(std::int64_t size, double value) {
  return torch::full({size}, value, torch::dtype(torch::kFloat).device(kGpu));
}

int collectives() {
  const auto group = group_on_gpu();
  const int rank = group->rank();
  at::Tensor tensor = full(100000, rank + 1);
  group->all_reduce(tensor);
  say("sum " + std::to_string(tensor.sum().item<double>()));
  at::Tensor message = full(1000, rank);
  if (rank == 0) group->send(message, 1);
  if (rank == 1) group->recv(message, 0);
  say("message " + std::to_string(message[999].item<double>()));
  std::vector<at::Tensor> gathered = {full(3, -1), full(3, -1)};
  group->all_gather(gathered, full(3, rank));
  say("gathered " + std::to_string(gathered[0][2].item<double>() + gathered[1][2].item<double>()));
  Work work = group->all_reduce_async(tensor);
  work.synchronize();
  say(work.is_completed() && !work.error() ? "completed" : "not completed");
  group->barrier();
  return 0;
}

struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Linear(20, 400));
    second = register_module("second", torch::nn::Linear(400, 10));
  }
  at::Tensor forward(const at::Tensor& x) { return second(torch::tanh(first(x))); }
  torch::nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Net);

// The first layer on the CPU, the second on the GPU.
struct CutNetImpl : NetImpl {
  at::Tensor forward(const at::Tensor& x) { return second(torch::tanh(first(x)).to(kGpu)); }
};
TORCH_MODULE(CutNet);

template <typename Made = Net>
Made made() {
  torch::NoGradGuard no_grad;
  Made net;
  int i = 0;
  for (auto& parameter : net->parameters()) {
    parameter.copy_(torch::linspace(-0.1, 0.1, parameter.numel()).view_as(parameter).roll(++i));
  }
  net->to(kGpu);
  return net;
}

CommHook hook_of(const std::string& name, const std::shared_ptr<ProcessGroup>& group) {
  if (name == "fp16") return fp16_compress_hook(group);
  if (name == "powersgd") {
    PowerSgdOptions options;
    options.start_power_sgd_iter = 2;
    return power_sgd_hook(std::make_shared<PowerSgdState>(group, options));
  }
  return allreduce_hook(group);
}

// Several steps through a hook, each rank with its half of the batch. Says how far parameters are from those of one
// process that has the whole batch.
int hooks(const std::string& name) {
  const auto group = group_on_gpu(name == "gloo" ? "gloo" : "nccl");
  Net net = made(), alone = made();
  DataParallelOptions options;
  options.bucket_cap_mb = 0.01;
  DistributedDataParallel<Net> ddp(net, group, options);
  ddp.reducer().register_comm_hook(hook_of(name, group));
  torch::optim::SGD optimizer(net->parameters(), 0.1), optimizer_alone(alone->parameters(), 0.1);
  const at::Tensor batch = torch::linspace(-1, 1, 64 * 20, torch::device(kGpu)).view({64, 20});
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    ddp.forward(batch.chunk(2)[group->rank()]).square().mean().backward();
    optimizer.step();
    optimizer_alone.zero_grad();
    alone->forward(batch).square().mean().backward();
    optimizer_alone.step();
  }
  const at::Tensor mine = torch::nn::utils::parameters_to_vector(net->parameters()).detach();
  const at::Tensor theirs = torch::nn::utils::parameters_to_vector(alone->parameters()).detach();
  std::vector<at::Tensor> all = {torch::empty_like(mine), torch::empty_like(mine)};
  group->all_gather(all, mine);
  say(all[0].equal(all[1]) ? "the same on both ranks" : "ranks differ");
  say("distance " + std::to_string((mine - theirs).abs().max().item<double>()));
  return 0;
}

// A model whose layers lie on the CPU and on the GPU, under DistributedDataParallel, against the whole on the GPU.
int layers(const std::string& backend) {
  const auto group = group_on_gpu(backend);
  Net alone = made();
  CutNet net = made<CutNet>();
  for (torch::nn::Module* one : {static_cast<torch::nn::Module*>(net.get()), static_cast<torch::nn::Module*>(alone.get())}) {
    one->to(torch::kDouble);
  }
  net->first->to(torch::kCPU);
  DataParallelOptions options;
  options.bucket_cap_mb = 0.01;
  DistributedDataParallel<CutNet> ddp(net, group, options);
  const auto optimizer = optim::make_optimizer("Adam", net->parameters(), {{"lr", 0.01}});
  const auto optimizer_alone = optim::make_optimizer("Adam", alone->parameters(), {{"lr", 0.01}});
  const at::Tensor batch = torch::linspace(-1, 1, 64 * 20, torch::kDouble).view({64, 20});
  for (int step = 0; step < 20; ++step) {
    optimizer->zero_grad();
    ddp.forward(batch.chunk(2)[group->rank()]).square().mean().backward();
    optimizer->step();
    optimizer_alone->zero_grad();
    alone->forward(batch.to(kGpu)).square().mean().backward();
    optimizer_alone->step();
  }
  bool placed = true;
  double distance = 0;
  for (std::size_t i = 0; i < net->parameters().size(); ++i) {
    const at::Tensor mine = net->parameters()[i], theirs = alone->parameters()[i];
    placed &= mine.device() == (i < 2 ? at::Device(at::kCPU) : kGpu) && mine.grad().device() == mine.device();
    distance = std::max(distance, (mine.cpu() - theirs.cpu()).abs().max().item<double>());
  }
  say(placed ? "on their devices" : "elsewhere");
  say(distance < 1e-9 ? "as on one device" : "distance " + std::to_string(distance));
  return 0;
}

// Rank 1 ends or stops; rank 0 waits for it, and goes on without it.
int lose(const std::string& fault) {
  const auto group = group_on_gpu();
  at::Tensor tensor = full(1000, 1);
  group->all_reduce(tensor);
  Work first = group->all_reduce_async(tensor);
  first.synchronize();
  if (group->rank() == 1) raise(fault == "kill" ? SIGKILL : SIGSTOP);
  std::thread aborter;
  if (fault == "abort") {
    aborter = std::thread([&] {
      std::this_thread::sleep_for(seconds(1));
      group->abort();
    });
  }
  const auto since = Clock::now();
  say_error([&] { group->all_reduce_async(tensor).synchronize(); }, &since);
  say_error([&] { group->all_reduce(tensor); });
  if (aborter.joinable()) aborter.join();
  say(flight_record().find("\"failed\"") != std::string::npos ? "recorded" : "not recorded");
  ProcessGroupOptions options;
  options.rank = 0;
  options.world_size = 1;
  options.backend = "nccl";
  options.device = kGpu;
  options.name = "alone";
  const auto alone = ProcessGroup::create(options, hash_store());
  at::Tensor again = full(10, 2);
  alone->all_reduce(again);
  say("went on with " + std::to_string(again[9].item<double>()));
  return 0;
}

// Rank 1 closes as soon as it may; what rank 0 still computes with is there.
int close_in_peace() {
  const auto group = group_on_gpu();
  at::Tensor tensor = full(10000000, group->rank() + 1);
  for (int i = 0; i < 10; ++i) group->all_reduce(tensor, ReduceOp::kAvg);
  if (group->rank() == 0) std::this_thread::sleep_for(seconds(1));
  group->close();
  say("average " + std::to_string(tensor[9999999].item<double>()));
  return 0;
}

const AddRole kRoles[] = {
    {"collectives", [](const auto&) { return collectives(); }},
    {"hooks", [](const auto& arguments) { return hooks(arguments.at(0)); }},
    {"layers", [](const auto& arguments) { return layers(arguments.at(0)); }},
    {"close", [](const auto&) { return close_in_peace(); }},
    {"kill", [](const auto&) { return lose("kill"); }},
    {"abort", [](const auto&) { return lose("abort"); }},
};

// --- tests

TEST_F(TwoRanks, ExchangeWhatTheyHave) {
  start({"collectives"});
  for (const auto& rank : ranks_) {
    EXPECT_EQ(rank->line(seconds(120)), "sum 300000.000000");
    EXPECT_EQ(rank->line(), "message 0.000000");
    EXPECT_EQ(rank->line(), "gathered 1.000000");
    EXPECT_EQ(rank->line(), "completed");
  }
  expect_end();
}

class TwoRanksHook : public TwoRanks, public ::testing::WithParamInterface<std::pair<const char*, double>> {};

TEST_P(TwoRanksHook, TrainsAsOneProcessDoes) {
  start({"hooks", GetParam().first});
  for (const auto& rank : ranks_) {
    EXPECT_EQ(rank->line(seconds(120)), "the same on both ranks");
    double distance = -1;
    ASSERT_EQ(std::sscanf(rank->line().c_str(), "distance %lf", &distance), 1);
    EXPECT_GE(distance, 0);
    EXPECT_LE(distance, GetParam().second);
  }
  expect_end();
}

INSTANTIATE_TEST_SUITE_P(Hooks, TwoRanksHook,
                         ::testing::Values(std::make_pair("allreduce", 1e-5), std::make_pair("gloo", 1e-5),
                                           std::make_pair("fp16", 1e-3), std::make_pair("powersgd", 0.05)),
                         [](const auto& info) { return std::string(info.param.first); });

TEST_F(TwoRanks, AKilledOneIsAnErrorAndTheOtherGoesOn) {
  start({"kill"}, "8000");
  const std::string said = ranks_[0]->line(seconds(120));
  EXPECT_THAT(said, AnyOf(IsError(ErrorCode::kPeerLost, HasSubstr("all_reduce")),
                          IsError(ErrorCode::kTimeout, HasSubstr("all_reduce"))));
  EXPECT_LE(parse_error(said).milliseconds, 60000);
  EXPECT_THAT(ranks_[0]->line(), HasSubstr("can no longer be used"));
  EXPECT_EQ(ranks_[0]->line(), "recorded");
  EXPECT_EQ(ranks_[0]->line(seconds(120)), "went on with 2.000000");
  EXPECT_EQ(ranks_[0]->wait(), 0);
  EXPECT_EQ(ranks_[1]->wait(), -SIGKILL);
}

TEST_F(TwoRanks, AnAbortFreesWhileTheOtherIsStopped) {
  start({"abort"});
  const std::string said = ranks_[0]->line(seconds(120));
  EXPECT_THAT(said, IsError(ErrorCode::kAborted, HasSubstr("abort")));
  EXPECT_LE(parse_error(said).milliseconds, 20000);
  EXPECT_THAT(ranks_[0]->line(), HasSubstr("can no longer be used"));
  EXPECT_EQ(ranks_[0]->line(), "recorded");
  EXPECT_EQ(ranks_[0]->line(seconds(120)), "went on with 2.000000");
  EXPECT_EQ(ranks_[0]->wait(), 0);
  ranks_[1]->signal(SIGKILL);
}

TEST_F(TwoRanks, TrainLayersOnTheCpuAndTheGpu) {
  for (const char* backend : {"gloo", "cpu:gloo,cuda:nccl"}) {
    ranks_.clear();
    start({"layers", backend});
    expect_both("on their devices");
    expect_both("as on one device");
    expect_end();
  }
}

TEST_F(TwoRanks, CloseInPeaceWhenTheyLike) {
  start({"close"});
  expect_both("average 1.500000");
  expect_end();
}

}  // namespace
}  // namespace tandem::testing::two_ranks
