// Hogwild!: parameters in memory that processes of a host share, and those of another host by RPC, both without locks.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "comm/parameter_memory.h"
#include "cpp/comm/network.h"
#include "cpp/rpc/workers.h"
#include "tandem/dist_autograd.h"
#include "tandem/dist_optimizer.h"
#include "tandem/optim.h"
#include "tandem/shared_parameters.h"

namespace tandem::testing::rpc_hogwild_test {
namespace {

using namespace workers;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// --- one host

constexpr int kWidth = 1000, kTurns = 20;

// As tandem run --shared-parameters has it; the test itself holds the memory.
class Launch {
 public:
  Launch() : memory_(make_parameter_memory()) { fcntl(memory_.get(), F_SETFD, 0); }
  std::unique_ptr<Child> start(const std::string& role, int rank, Environment more = Environment()) const {
    more.insert({{kSharedParametersVariable, std::to_string(memory_.get())}, {"LOCAL_RANK", std::to_string(rank)}});
    return job_.start(role, rank, 2, more);
  }

 private:
  const Job job_;
  const Descriptor memory_;
};

struct Shared {
  at::Tensor weight = torch::zeros({kWidth}, torch::requires_grad());
  at::Tensor turn = torch::zeros({1}, torch::kLong);

  bool share(const std::string& name = "") {
    return share_parameters({{"weight", weight}, {"turn", turn}}, {.name = name});
  }
  std::atomic_ref<std::int64_t> turns() const { return std::atomic_ref<std::int64_t>(*turn.data_ptr<std::int64_t>()); }
  void wait_for(std::int64_t least) const {
    const auto until = Clock::now() + std::chrono::seconds(60);
    while (turns().load() < least && Clock::now() < until) std::this_thread::yield();
    TORCH_CHECK(turns().load() >= least, "turn ", least, " never came");
  }
  std::string text() const {
    return std::to_string(weight[0].item<float>()) + " " + std::to_string(weight[kWidth - 1].item<float>());
  }
};

float gradient_of(int rank, int turn) {
  return rank == 0 ? 1.0f : -0.25f * static_cast<float>(turn + 1);
}
std::vector<Option> options_of(const std::string& optimizer) {
  return optimizer == "SGD" ? std::vector<Option>{{"lr", 0.1}, {"momentum", 0.9}} : std::vector<Option>{{"lr", 0.1}};
}

// Steps by turns: each says what it finds before its own.
const Role kTakesTurns("takes turns", [] {
  for (const char* type : {"SGD", "Adam"}) {
    Shared shared;
    const auto optimizer = optim::make_optimizer(type, {shared.weight}, options_of(type));
    say(shared.share(type) ? "made" : "found");
    for (int turn = 0; turn < kTurns; ++turn) {
      shared.wait_for(2 * turn + rank());
      say(shared.text());
      shared.weight.mutable_grad() = torch::full({kWidth}, gradient_of(rank(), turn));
      optimizer->step();
      ++shared.turns();
    }
  }
});

TEST(SharedParameters, AStepIsSeenByTheOtherProcessBeforeItsNext) {
  const Launch launch;
  const auto late = launch.start("takes turns", 1), early = launch.start("takes turns", 0);
  Child* ranks[] = {early.get(), late.get()};
  for (const char* type : {"SGD", "Adam"}) {
    SCOPED_TRACE(type);
    EXPECT_EQ(ranks[0]->line(), "made");
    EXPECT_EQ(ranks[1]->line(), "found");
    // One process with both optimizers: momentum and moments are each one's own.
    Shared expected;
    const auto first = optim::make_optimizer(type, {expected.weight}, options_of(type));
    const auto second = optim::make_optimizer(type, {expected.weight}, options_of(type));
    for (int turn = 0; turn < kTurns; ++turn) {
      for (int rank : {0, 1}) {
        ASSERT_EQ(ranks[rank]->line(), expected.text()) << "turn " << turn << " of rank " << rank;
        expected.weight.mutable_grad() = torch::full({kWidth}, gradient_of(rank, turn));
        (rank == 0 ? first : second)->step();
      }
    }
  }
  for (Child* rank : ranks) EXPECT_EQ(rank->wait(), 0);
}

// Least squares with noise: rows of the whole problem that are a rank's in a step.
struct Problem {
  static constexpr int kRows = 256, kColumns = 8, kSteps = 400, kBatch = 32;
  at::Tensor inputs, targets;

  Problem() {
    torch::manual_seed(3);
    inputs = torch::randn({kRows, kColumns});
    targets = inputs.mv(torch::arange(kColumns, torch::kFloat)) + 0.5 * torch::randn({kRows});
  }
  at::Tensor loss(const at::Tensor& weight) const { return torch::mse_loss(inputs.mv(weight), targets); }
  at::Tensor loss(const at::Tensor& weight, int rank, int step) const {
    const auto begin = (2 * step + rank) * kBatch % kRows;
    return torch::mse_loss(inputs.slice(0, begin, begin + kBatch).mv(weight), targets.slice(0, begin, begin + kBatch));
  }
};

const Role kTrains("trains with others", [] {
  const Problem problem;
  at::Tensor weight = torch::zeros({Problem::kColumns}, torch::requires_grad());
  at::Tensor ready = torch::zeros({1}, torch::kLong);
  share_parameters({{"weight", weight}, {"ready", ready}});
  const std::atomic_ref<std::int64_t> come(*ready.data_ptr<std::int64_t>());
  ++come;
  while (come.load() < 2) std::this_thread::yield();
  const auto optimizer = optim::make_optimizer("SGD", {weight}, {{"lr", 0.01}});
  for (int step = 0; step < Problem::kSteps; ++step) {
    optimizer->zero_grad();
    problem.loss(weight, rank(), step).backward();
    optimizer->step();
  }
  ++come;
  while (come.load() < 4) std::this_thread::yield();
  say(std::to_string(problem.loss(weight).item<float>()));
});

TEST(SharedParameters, TrainAsWellAsSynchronousTraining) {
  const Launch launch;
  const auto first = launch.start("trains with others", 0), second = launch.start("trains with others", 1);
  const Problem problem;
  at::Tensor weight = torch::zeros({Problem::kColumns}, torch::requires_grad());
  const float start = problem.loss(weight).item<float>();
  const auto optimizer = optim::make_optimizer("SGD", {weight}, {{"lr", 0.01}});
  for (int step = 0; step < Problem::kSteps; ++step) {
    optimizer->zero_grad();
    (problem.loss(weight, 0, step) + problem.loss(weight, 1, step)).backward();
    optimizer->step();
  }
  const float synchronous = problem.loss(weight).item<float>();
  EXPECT_LT(synchronous, start / 50);
  const std::string found = first->line();
  EXPECT_EQ(second->line(), found) << "of the same parameters";
  EXPECT_NEAR(std::stof(found), synchronous, 0.05 * synchronous);
}

const Role kStepsForEver("steps for ever", [] {
  Shared shared;
  shared.share();
  const auto optimizer = optim::make_optimizer("SGD", {shared.weight}, {{"lr", 1e-6}});
  for (;;) {
    shared.weight.mutable_grad() = torch::ones({kWidth});
    optimizer->step();
    ++shared.turns();
  }
});
const Role kGoesOn("goes on alone", [] {
  sigset_t killed;  // the other one, which the test tells
  sigemptyset(&killed);
  sigaddset(&killed, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &killed, nullptr);
  Shared shared;
  shared.share();
  shared.wait_for(100);
  say("stepped");
  int signal = 0;
  sigwait(&killed, &signal);
  at::NoGradGuard guard;
  shared.weight.fill_(7);
  shared.turns().store(0);
  say("alone");
  shared.wait_for(1);
  say(shared.text());
});
const Role kComesLate("comes late", [] {
  Shared shared;
  shared.weight = torch::full({kWidth}, 3.0, torch::requires_grad());
  say(shared.share() ? "made" : "found");
  say(shared.text());
  at::NoGradGuard guard;
  shared.weight.fill_(8);
  shared.turns().store(1);
});

TEST(SharedParameters, AProcessThatIsKilledHarmsNobodyAndMayComeAgain) {
  const Launch launch;
  const auto first = launch.start("goes on alone", 0);
  {
    const auto second = launch.start("steps for ever", 1);
    EXPECT_EQ(first->line(), "stepped");
    second->signal(SIGKILL);
    EXPECT_EQ(second->wait(), -SIGKILL);
  }
  first->signal(SIGUSR1);
  EXPECT_EQ(first->line(), "alone");
  const auto again = launch.start("comes late", 1);
  EXPECT_EQ(again->line(), "found");
  EXPECT_EQ(again->line(), "7.000000 7.000000");
  EXPECT_EQ(first->line(), "8.000000 8.000000");
  EXPECT_EQ(again->wait(), 0);
  EXPECT_EQ(first->wait(), 0);
  // Also rank 0, whose values were the first.
  const auto zero = launch.start("comes late", 0);
  EXPECT_EQ(zero->line(), "found");
  EXPECT_EQ(zero->line(), "8.000000 8.000000");
}

const Role kIsKilledMaking("is killed while it makes them", [] {
  const std::string path = "/proc/self/fd/" + std::string(std::getenv(kSharedParametersVariable));
  ParameterMemory memory(open_file(path.c_str(), O_RDWR));
  ParameterMemory::Wanted wanted;
  wanted.bytes = 1 << 20;
  wanted.makes = true;
  wanted.fill = [](std::byte* data) {
    std::fill_n(data, 1000, std::byte{0xff});
    say("half");
    pause();
  };
  memory.part(wanted);
});

const Role kLooks("looks", [] {
  Shared shared;
  say(shared.share() ? "made" : "found");
});

TEST(SharedParameters, HalfMadeOnesAreMadeAgain) {
  const Launch launch;
  const auto half = launch.start("is killed while it makes them", 0);
  EXPECT_EQ(half->line(), "half");
  const auto other = launch.start("looks", 1);
  half->signal(SIGKILL);
  const auto again = launch.start("comes late", 0);
  EXPECT_EQ(again->line(), "made");
  EXPECT_EQ(again->line(), "3.000000 3.000000");
  EXPECT_EQ(other->line(), "found");
}

const Role kDiffers("differs", [] {
  const auto with = [](at::Tensor tensor, const char* name = "weight") {
    say_error([&] { share_parameters({{name, tensor}, {"bias", torch::zeros({3})}}); });
  };
  with(torch::ones({3, 5}));
  if (rank() == 0) return with(torch::ones({3, 5}));  // another model, by the same name
  with(torch::ones({5, 3}));
  with(torch::ones({3, 5}, torch::kDouble));
  with(torch::ones({5, 3}).t());
  with(torch::ones({3, 5}), "wait");
  say_error([&] { share_parameters({{"weight", torch::ones({3, 5})}}); });
  SharedParametersOptions other;
  other.name = "critic";
  other.timeout = milliseconds(50);
  say_error([&] { share_parameters({{"weight", torch::ones({3, 5})}}, other); });
});
const Role kSharesNothing("shares nothing", [] {
  char path[] = "/tmp/hogwild-XXXXXX";
  const Descriptor file(mkstemp(path));
  unlink(path);
  const std::string other = std::to_string(file.get());
  for (const std::string& variable : {std::string(), std::string("999"), std::string("0x"), other}) {
    setenv(kSharedParametersVariable, variable.c_str(), 1);
    say_error([] { Shared().share(); });
  }
});

TEST(SharedParameters, WhatDiffersBetweenProcessesIsNamed) {
  const Launch launch;
  const auto first = launch.start("differs", 0), second = launch.start("differs", 1);
  EXPECT_EQ(first->line(), "no error");
  EXPECT_EQ(second->line(), "no error");
  EXPECT_THAT(first->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("another model's parameters under the name ''")));
  const auto differs = [](const char* here) {
    return IsError(ErrorCode::kInvalidArgument,
                   AllOf(HasSubstr(here), HasSubstr("in their memory weight: Float of sizes [3, 5] and strides [5, 1]")));
  };
  EXPECT_THAT(second->line(), differs("here weight: Float of sizes [5, 3]"));
  EXPECT_THAT(second->line(), differs("here weight: Double of sizes [3, 5]"));
  EXPECT_THAT(second->line(), differs("here weight: Float of sizes [3, 5] and strides [1, 3]"));
  EXPECT_THAT(second->line(), differs("here wait: Float"));
  EXPECT_THAT(second->line(), IsError(ErrorCode::kInvalidArgument,
                                      HasSubstr("here no further one, in their memory bias: Float")));
  EXPECT_THAT(second->line(), IsError(ErrorCode::kTimeout, AllOf(HasSubstr("local rank 0"), HasSubstr("'critic'"))));
}

TEST(SharedParameters, WithoutMemoryForThemIsAnError) {
  const Launch launch;
  const auto process = launch.start("shares nothing", 0);
  for (const char* error : {"start them with tandem run --shared-parameters", "999, which cannot be opened",
                            "TANDEM_SHARED_PARAMETERS is '0x'", "is no memory for shared parameters"}) {
    EXPECT_THAT(process->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr(error)));
  }
}

TEST(SharedParameters, OfThreadsAreOneMemoryAndStayTheSameTensors) {
  SharedParametersOptions options;
  options.name = "threads";
  std::atomic<int> made{0};
  std::vector<torch::nn::Conv2d> nets;
  for (int i = 0; i < 3; ++i) nets.emplace_back(torch::nn::Conv2dOptions(4, 8, 3));
  for (auto& net : nets) net->weight.set_data(net->weight.contiguous(at::MemoryFormat::ChannelsLast));
  const at::Tensor held = nets[0]->weight;
  std::vector<std::thread> threads;
  for (auto& net : nets) threads.emplace_back([&] { made += share_parameters(*net, options); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(torch::equal(nets[0]->weight, nets[1]->weight));
  EXPECT_TRUE(nets[2]->weight.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(nets[2]->weight.requires_grad() && nets[2]->weight.is_leaf());
  {
    at::NoGradGuard guard;
    held.fill_(5);
  }
  EXPECT_TRUE(torch::equal(nets[2]->weight, torch::full_like(held, 5)));
  nets[1]->forward(torch::ones({1, 4, 5, 5})).sum().backward();
  EXPECT_TRUE(nets[1]->weight.grad().defined());
  EXPECT_FALSE(nets[0]->weight.grad().defined());
}

TEST(SharedParameters, TakesDenseLeavesOfTheirOwnMemory) {
  const auto code_of = [](const NamedTensors& tensors) {
    try {
      share_parameters(tensors);
      return std::string("none");
    } catch (const Error& error) {
      return std::to_string(static_cast<int>(error.code())) + " " + error.what();
    }
  };
  const at::Tensor whole = torch::ones({4}, torch::requires_grad());
  EXPECT_THAT(code_of({{"a", whole}, {"b", whole.detach()}}),
              AllOf(StartsWith("2 "), HasSubstr("'b' has its memory from 'a'")));
  EXPECT_THAT(code_of({{"a", whole * 2}}), HasSubstr("result of an operation"));
  EXPECT_THAT(code_of({{"a", torch::ones({2, 1}).expand({2, 3})}}), HasSubstr("'a' does not fill its memory"));
  EXPECT_THAT(code_of({{"a", torch::ones({2}, torch::kMeta)}}), StartsWith("10 "));
  EXPECT_THAT(code_of({{"a", torch::ones({2, 2}).to_sparse()}}), StartsWith("10 "));
  EXPECT_THAT(code_of({{"a", at::Tensor()}}), HasSubstr("undefined"));
  EXPECT_EQ(code_of({{"a", whole}, {"same", whole}, {"empty", torch::ones({0})}}), "none");
}

// --- across hosts

constexpr int kRemoteSteps = 30;

at::Tensor& owned() {
  static auto* weight = new at::Tensor(torch::zeros({8}, torch::dtype(torch::kDouble).requires_grad(true)));
  return *weight;
}
at::Tensor goal() { return torch::arange(8, torch::kDouble); }
void join_with_weight() {
  rpc::register_function("weight", [](const rpc::Values&) { return rpc::RRef(owned()).value(); });
  rpc::register_function("distance", [](const rpc::Values&) { return at::IValue((owned() - goal()).pow(2).sum()); });
  join();
}
const Role kRemoteTrainer("trains another host's parameters", [] {
  join_with_weight();
  say_error([] {
    rpc::DistributedOptimizerOptions lock_free;
    lock_free.locked = false;
    const rpc::RRef weight = rpc::RRef::from(rpc::rpc_sync("worker0", "weight"));
    rpc::DistributedOptimizer optimizer("SGD", {weight}, {{"lr", 0.05}}, lock_free);
    for (int step = 0; step < kRemoteSteps; ++step) {
      const rpc::AutogradContext context;
      context.backward({rpc::rpc_sync("worker0", "distance").toTensor()});
      optimizer.step(context.id());
    }
  });
  rpc::shutdown();
});
const Role kRemoteOwner("has parameters", [] {
  join_with_weight();
  rpc::shutdown();
  say(std::to_string((owned() - goal()).abs().max().item<double>()));
});

TEST(HogwildAcrossHosts, TrainersOfTwoHostsStepOnOneOwnersParameters) {
  if (!Network::why_not().empty()) GTEST_SKIP() << "NOT TESTED: no hosts on this machine: " << Network::why_not();
  const std::vector<int> hosts{0, 0, 1};
  const char* const trains = "trains another host's parameters";
  const std::vector<std::string> does{"has parameters", trains, trains};
  const Network network(2);
  const Job job(Environment{{"MASTER_ADDR", Network::address(0)}});
  Children workers;
  for (int rank = 0; rank < 3; ++rank) {
    const int host = hosts[static_cast<std::size_t>(rank)];
    Environment environment = network.on(host);
    environment["TEST_ADDRESS"] = Network::address(host);
    workers.push_back(job.start(does[static_cast<std::size_t>(rank)], rank, 3, environment));
  }
  EXPECT_EQ(workers[1]->line(), "no error");
  EXPECT_EQ(workers[2]->line(), "no error");
  // Each trainer's steps alone take the distance to 0.9^30 of 7, 0.3, and both together to 0.9^60, 0.013, at best.
  EXPECT_LT(std::stod(workers[0]->line()), 0.31);
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

}  // namespace
}  // namespace tandem::testing::rpc_hogwild_test
