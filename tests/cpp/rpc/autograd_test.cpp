// Distributed autograd and optimizers: what one process computes, several do.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>

#include "cpp/rpc/workers.h"
#include "tandem/dist_autograd.h"
#include "tandem/dist_optimizer.h"
#include "tandem/optim.h"

namespace tandem::testing::rpc_autograd_test {
namespace {

using namespace workers;
using ::testing::_;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using rpc::AutogradContext;
using rpc::DistributedOptimizer;
using rpc::RRef;
using rpc::Values;

constexpr int kWidth = 4, kRows = 6, kSteps = 20;

at::Tensor weight_of(int worker) {
  return torch::sin(torch::arange(kWidth * kWidth, torch::kDouble) * 1.7 + worker).view({kWidth, kWidth}).requires_grad_(true);
}
at::Tensor input_of(int step) {
  return torch::cos(torch::arange(kRows * kWidth, torch::kDouble) * 0.3 + step).view({kRows, kWidth});
}
at::Tensor layer(const at::Tensor& x, const at::Tensor& weight) {
  return torch::tanh(x.matmul(weight)) + x.mean(1, true);
}

struct Fails : torch::autograd::Function<Fails> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x * 1; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*, torch::autograd::variable_list) {
    throw std::runtime_error("no gradient today");
  }
};

at::Tensor& own_weight() {
  static at::Tensor weight = weight_of(rank());
  return weight;
}
at::Tensor& spare_weight() {
  static at::Tensor weight = weight_of(rank() + 100);
  return weight;
}
std::atomic<int> hooks{0};

void register_more() {
  rpc::register_function("weight", [](const Values&) { return RRef(own_weight()).value(); });
  rpc::register_function("value", [](const Values&) { return at::IValue(own_weight().detach().clone()); });
  rpc::register_function("set weight", [](const Values& given) {
    const torch::NoGradGuard no_grad;
    own_weight().copy_(given.at(0).toTensor());
    return at::IValue();
  });
  rpc::register_function("weight sum", [](const Values&) { return at::IValue(own_weight().sum()); });
  rpc::register_function("layer", [](const Values& given) { return at::IValue(layer(given.at(0).toTensor(), own_weight())); });
  rpc::register_function("spare layer",
                         [](const Values& given) { return at::IValue(layer(given.at(0).toTensor(), spare_weight())); });
  // This worker's layer and those of the workers after it.
  rpc::register_function("layers", [](const Values& given) {
    const at::Tensor here = layer(given.at(0).toTensor(), own_weight());
    if (given.at(1).toInt() == 0) return at::IValue(here);
    return rpc::rpc_sync("worker" + std::to_string(rank() + 1), "layers", {here, given.at(1).toInt() - 1});
  });
  rpc::register_function("reference layer", [](const Values& given) {
    return at::IValue(layer(RRef::from(given.at(0)).to_here().toTensor(), own_weight()));
  });
  rpc::register_function("failing backward", [](const Values& given) { return at::IValue(Fails::apply(given.at(0).toTensor())); });
  rpc::register_function("ends in backward", [](const Values& given) {
    at::Tensor x = given.at(0).toTensor() * 1;
    x.register_hook([](const at::Tensor& gradient) -> at::Tensor {
      kill(getpid(), SIGKILL);
      return gradient;
    });
    return at::IValue(x);
  });
  rpc::register_function("gradients", [](const Values& given) {
    try {
      return at::IValue(static_cast<std::int64_t>(rpc::dist_gradients(given.at(0).toInt()).size()));
    } catch (const Error& error) {
      return at::IValue(-static_cast<std::int64_t>(error.code()));
    }
  });
  rpc::register_function("contexts", [](const Values&) { return at::IValue(rpc::context_count()); });
  rpc::register_function("hook", [](const Values& given) {
    if (rpc::dist_gradients(given.at(0).toInt()).size() == 1) ++hooks;
    return at::IValue();
  });
  rpc::register_function("hooks", [](const Values&) { return at::IValue(hooks.load()); });
}

void train_from_here(const std::function<void()>& body) {
  register_more();
  join();
  say_error(body);
  rpc::shutdown();
  say("left");
}

const Role kTrains("serves layers", [] { train_from_here([] {}); });

std::string settled_contexts() {
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text.clear();
    for (const rpc::Worker& worker : rpc::workers()) text += std::to_string(rpc::rpc_sync(worker.name, "contexts").toInt()) + " ";
    if (text.find_first_not_of("0 ") == std::string::npos) break;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return text;
}

// Optimizers of dense gradients, each with options that use its state.
struct Chosen {
  const char* type;
  std::vector<Option> options;
};
std::vector<Chosen> optimizers() {
  return {{"SGD", {{"lr", 0.05}, {"momentum", 0.9}, {"weight_decay", 0.01}}},
          {"Adadelta", {{"lr", 0.5}}},
          {"Adafactor", {}},
          {"Adagrad", {{"lr", 0.05}}},
          {"Adam", {{"lr", 0.01}, {"amsgrad", true}}},
          {"AdamW", {{"lr", 0.01}}},
          {"Adamax", {{"lr", 0.01}}},
          {"ASGD", {{"lr", 0.05}}},
          {"Muon", {{"lr", 0.01}}},
          {"NAdam", {{"lr", 0.01}}},
          {"RAdam", {{"lr", 0.01}}},
          {"RMSprop", {{"lr", 0.01}, {"momentum", 0.5}}},
          {"Rprop", {{"lr", 0.01}}}};
}

at::Tensor loss_of(const at::Tensor& output, int step) {
  return (output - input_of(step + 7)).square().mean();
}

// One process: the weights of all.
std::vector<at::Tensor> alone(const Chosen& chosen, int size) {
  std::vector<at::Tensor> weights;
  for (int worker = 0; worker < size; ++worker) weights.push_back(weight_of(worker));
  const auto optimizer = optim::make_optimizer(chosen.type, weights, chosen.options);
  for (int step = 0; step < kSteps; ++step) {
    at::Tensor x = input_of(step);
    for (const at::Tensor& weight : weights) x = layer(x, weight);
    optimizer->zero_grad();
    loss_of(x, step).backward();
    optimizer->step();
  }
  return weights;
}

const Role kEquals("compares", [] {
  train_from_here([] {
    const int size = static_cast<int>(rpc::workers().size());
    std::vector<RRef> parameters;
    for (const rpc::Worker& worker : rpc::workers()) parameters.push_back(RRef::from(rpc::rpc_sync(worker.name, "weight")));
    for (const Chosen& chosen : optimizers()) {
      for (const rpc::Worker& worker : rpc::workers()) {
        const at::Tensor first = weight_of(worker.id);
        rpc::rpc_sync(worker.name, "set weight", {first.detach()});
      }
      DistributedOptimizer optimizer(chosen.type, parameters, chosen.options);
      for (int step = 0; step < kSteps; ++step) {
        const AutogradContext context;
        const at::Tensor here = layer(input_of(step), own_weight());
        const at::Tensor output = rpc::rpc_sync("worker1", "layers", {here, size - 2}).toTensor();
        context.backward({loss_of(output, step)});
        optimizer.step(context.id());
      }
      const std::vector<at::Tensor> expected = alone(chosen, size);
      double most = 0;
      for (const rpc::Worker& worker : rpc::workers()) {
        const at::Tensor value = rpc::rpc_sync(worker.name, "value").toTensor();
        most = std::max(most, (value - expected[worker.id]).abs().max().item<double>());
      }
      const double moved = (expected[1] - weight_of(1)).abs().max().item<double>();
      say(std::string(chosen.type) + (most < 1e-12 && moved > 1e-6 ? " equal" : " differs by " + std::to_string(most)));
    }
    say(settled_contexts());
  });
});

TEST(Autograd, TwentyStepsOverSeveralWorkersAreThoseOfOneProcess) {
  for (const int size : {2, 3}) {
    const Job job;
    std::vector<std::string> all(size, "serves layers");
    all[0] = "compares";
    const auto workers = start(job, all);
    for (const Chosen& chosen : optimizers()) EXPECT_EQ(workers[0]->line(), std::string(chosen.type) + " equal") << size;
    EXPECT_EQ(workers[0]->line(), size == 2 ? "0 0 " : "0 0 0 ");
    for (const auto& worker : workers) {
      EXPECT_EQ(worker->line(), "no error");
      EXPECT_EQ(worker->line(), "left");
      EXPECT_EQ(worker->line(), "no error");
      EXPECT_EQ(worker->wait(), 0);
    }
  }
}

const Role kUnused("leaves parts unused", [] {
  train_from_here([] {
    const auto gradients_on = [](const std::string& worker, const AutogradContext& context) {
      const rpc::WithContext none(-1);
      return rpc::rpc_sync(worker, "gradients", {context.id()}).toInt();
    };
    {
      const AutogradContext context;
      const at::Tensor x = input_of(0).requires_grad_(true);
      const at::Tensor used = rpc::rpc_sync("worker1", "layers", {x, 1}).toTensor();
      rpc::rpc_sync("worker1", "spare layer", {x});      // nothing depends on the result
      rpc::rpc_sync("worker2", "spare layer", {used});   // nor here, on another worker
      rpc::rpc_sync("worker1", "name", {x});             // no result depends on x
      const at::Tensor detached = rpc::rpc_sync("worker2", "layer", {used}).toTensor().detach();
      context.backward({(used * detached).sum()}, /*retain_graph=*/true);
      say(std::to_string(context.gradients().size()) + " " + std::to_string(gradients_on("worker1", context)) + " " +
          std::to_string(gradients_on("worker2", context)));
      const at::Tensor once = context.gradients().at(0).second.clone();
      const at::Tensor w1 = weight_of(1), w2 = weight_of(2);
      const at::Tensor y = input_of(0).requires_grad_(true), z = layer(layer(y, w1), w2);
      const at::Tensor loss = (z * layer(z, w2).detach()).sum();
      const at::Tensor expected = torch::autograd::grad({loss}, {y}, {}, true)[0];
      say((once - expected).abs().max().item<double>() < 1e-12 ? "equal" : "differs");
      // Again, with what was left out before.
      const at::Tensor spare = rpc::rpc_sync("worker1", "spare layer", {x}).toTensor();
      context.backward({(used * detached).sum() + spare.sum() * 0.5});
      const at::Tensor more = torch::autograd::grad({loss + layer(y, weight_of(101)).sum() * 0.5}, {y})[0];
      say((context.gradients().at(0).second - once - more).abs().max().item<double>() < 1e-12 ? "equal" : "differs");
      say(std::to_string(gradients_on("worker1", context)));
    }
    say(settled_contexts());
    say(std::to_string(rpc::current_context()));
  });
});

TEST(Autograd, WhatTheLossDoesNotDependOnHoldsNobodyUp) {
  const Job job(Environment{{"TEST_RPC_TIMEOUT_MS", "20000"}});
  const auto workers = start(job, {"leaves parts unused", "serves layers", "serves layers"});
  EXPECT_EQ(workers[0]->line(), "1 1 1");
  EXPECT_EQ(workers[0]->line(), "equal");
  EXPECT_EQ(workers[0]->line(), "equal");
  EXPECT_EQ(workers[0]->line(), "2");
  EXPECT_EQ(workers[0]->line(), "0 0 0 ");
  EXPECT_EQ(workers[0]->line(), "-1");
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

// Parts of graphs that this worker keeps.
std::atomic<std::int64_t> parts{0};
void register_parts() {
  rpc::register_function("part", [](const Values& given) {
    const std::shared_ptr<void> part(&parts, [](void*) { --parts; });
    ++parts;
    at::Tensor x = given.at(0).toTensor() * 1;
    x.register_hook([part](const at::Tensor& gradient) { return gradient; });
    return at::IValue(x);
  });
  rpc::register_function("parts", [](const Values&) { return at::IValue(parts.load()); });
}
const Role kParts("has parts", [] {
  register_parts();
  train_from_here([] {});
});
const Role kLeavesOut("leaves parts out", [] {
  register_parts();
  train_from_here([] {
    const at::Tensor x = input_of(0).requires_grad_(true);
    for (int i = 0; i < 3; ++i) {
      const AutogradContext context;
      const at::Tensor used = rpc::rpc_sync("worker1", "layer", {x}).toTensor();
      rpc::rpc_sync("worker1", "part", {x});
      context.backward({used.sum()});
    }
    std::int64_t left = -1;
    for (int i = 0; i < 500 && left != 0; ++i) {
      left = rpc::rpc_sync("worker1", "parts").toInt();
      std::this_thread::sleep_for(milliseconds(10));
    }
    say(std::to_string(left));
    // Answers that come once their context is over.
    std::vector<rpc::Future> calls;
    {
      const AutogradContext context;
      for (int i = 0; i < 20; ++i) calls.push_back(rpc::rpc_async("worker1", "layer", {x}));
    }
    for (const rpc::Future& call : calls) {
      try {
        call.wait();
      } catch (const Error&) {
        // The worker may know by now that it is over.
      }
    }
    say(settled_contexts());
  });
});

TEST(Autograd, WhatIsLeftOutGoesWithItsContext) {
  const Job job(Environment{{"TEST_RPC_TIMEOUT_MS", "20000"}});
  const auto workers = start(job, {"leaves parts out", "has parts"});
  EXPECT_EQ(workers[0]->line(), "0");
  EXPECT_EQ(workers[0]->line(), "0 0 ");
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

// Twelve backward passes at a time, each of which calls back: more than there are threads.
const Role kHooks("calls in backward", [] {
  rpc::register_function("calls back", [](const Values& given) {
    at::Tensor x = given.at(0).toTensor() * 1;
    x.register_hook([](const at::Tensor& gradient) {
      const rpc::WithContext none(-1);
      return gradient * rpc::rpc_sync("worker0", "number").toInt();
    });
    return at::IValue(x);
  });
  rpc::register_function("number", [](const Values&) { return at::IValue(3); });
  train_from_here([] {
    if (rank() != 0) return;
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int i = 0; i < 12; ++i) {
      threads.emplace_back([&right] {
        const AutogradContext context;
        const at::Tensor x = input_of(0).requires_grad_(true);
        context.backward({rpc::rpc_sync("worker1", "calls back", {x}).toTensor().sum()});
        if (context.gradients().at(0).second.equal(torch::full_like(x, 3))) ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
    say(std::to_string(right.load()));
  });
});

TEST(Autograd, HooksOfAGraphMayCallOthers) {
  const Job job(Environment{{"TEST_RPC_TIMEOUT_MS", "20000"}});
  const auto workers = start(job, {"calls in backward", "calls in backward"});
  EXPECT_EQ(workers[0]->line(), "12");
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

const Role kReferences("goes through references", [] {
  train_from_here([] {
    const AutogradContext context;
    const at::Tensor x = input_of(0).requires_grad_(true);
    RRef first = rpc::remote("worker1", "layer", {x});
    RRef second = rpc::remote("worker2", "reference layer", {first.value()});
    context.backward({second.to_here().toTensor().sum()});
    const at::Tensor y = input_of(0).requires_grad_(true);
    const at::Tensor expected =
        torch::autograd::grad({layer(layer(y, weight_of(1)), weight_of(2)).sum()}, {y})[0];
    say((context.gradients().at(0).second - expected).abs().max().item<double>() < 1e-12 ? "equal" : "differs");
    say(x.grad().defined() ? "grad" : "no grad");
  });
});

TEST(Autograd, GradientsGoThroughReferences) {
  const Job job;
  const auto workers = start(job, {"goes through references", "serves layers", "serves layers"});
  EXPECT_EQ(workers[0]->line(), "equal");
  EXPECT_EQ(workers[0]->line(), "no grad");
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

const Role kFails("fails in backward", [] {
  register_more();
  join();
  const at::Tensor x = input_of(0).requires_grad_(true);
  {
    const AutogradContext context;
    const at::Tensor y = rpc::rpc_sync("worker1", "failing backward", {x}).toTensor();
    say_error([&] { context.backward({y.sum()}); });
    say_error([&] { context.backward({torch::ones(1)}); });
    say_error([&] { rpc::dist_gradients(12345); });
    rpc::CallOptions again;
    again.retries = 1;
    say_error([&] { rpc::rpc_async("worker1", "name", {}, again); });
  }
  {
    const AutogradContext context;
    const at::Tensor y = rpc::rpc_sync("worker1", "layer", {x}).toTensor();
    context.backward({y.sum()});
    say(std::to_string(context.gradients().size()));
  }
  const AutogradContext context;
  const at::Tensor y = rpc::rpc_sync("worker1", "ends in backward", {x}).toTensor();
  say_error([&] { context.backward({y.sum()}); });
  rpc::shutdown(/*graceful=*/false);
});

TEST(Autograd, AFailureElsewhereIsAnErrorHere) {
  const Job job(Environment{{"TEST_RPC_TIMEOUT_MS", "20000"}});
  const auto workers = start(job, {"fails in backward", "serves layers"});
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("no gradient today")));
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("root 0 of backward")));
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kNotFound, HasSubstr("12345")));
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("not made again")));
  EXPECT_EQ(workers[0]->line(), "1");
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kPeerLost, HasSubstr("distributed backward")));
  EXPECT_EQ(workers[0]->line(), "no error");
  EXPECT_EQ(workers[0]->wait(), 0);
}

// Two trainers, one set of parameters; gradients of ones.
constexpr int kShared = 50;
const Role kTrainer("trainer", [] {
  register_more();
  join();
  say_error([] {
    rpc::DistributedOptimizerOptions distributed;
    distributed.locked = number("TEST_LOCKED", 1) == 1;
    distributed.before_step = distributed.after_step = "hook";
    const RRef parameter = RRef::from(rpc::rpc_sync("worker1", "weight"));
    DistributedOptimizer optimizer("SGD", {parameter}, {{"lr", 1.0}}, distributed);
    optimizer.set_option({"lr", 0.25});
    for (int step = 0; step < kShared; ++step) {
      const AutogradContext context;
      const at::Tensor zero = rpc::rpc_sync("worker1", "weight sum").toTensor();
      context.backward({zero});
      optimizer.step(context.id());
    }
    say_error([&] { DistributedOptimizer("Nothing", {parameter}, {}); });
    say_error([&] { DistributedOptimizer("LBFGS", {parameter}, {}).step(AutogradContext().id()); });
    say_error([&] { DistributedOptimizer("SGD", {parameter}, {{"lr", 1.0}}).step(1234567); });
    say_error([&] { DistributedOptimizer("SGD", {RRef(torch::ones(3))}, {{"lr", 0.1}}); });
    say_error([&] { DistributedOptimizer("SGD", {parameter, RRef::from(rpc::rpc_sync("worker1", "weight"))}, {{"lr", 0.1}}); });
    say_error([&] {
      const rpc::WithContext over(1234567);
      rpc::rpc_sync("worker1", "weight sum");
    });
  });
  rpc::shutdown();
});
const Role kOwner("owner of parameters", [] {
  register_more();
  join();
  rpc::shutdown();
  say(std::to_string(((weight_of(1) - own_weight()) / 0.25).mean().item<double>()) + " " + std::to_string(hooks.load()));
});

TEST(Optimizer, StepsOfSeveralTrainersAddUp) {
  for (const char* locked : {"1", "0"}) {
    const Job job(Environment{{"TEST_LOCKED", locked}});
    const auto workers = start(job, {"trainer", "owner of parameters", "trainer"});
    for (const int trainer : {0, 2}) {
      EXPECT_THAT(workers[trainer]->line(), IsError(ErrorCode::kNotFound, AllOf(HasSubstr("worker1"), HasSubstr("Nothing"))));
      EXPECT_THAT(workers[trainer]->line(), IsError(ErrorCode::kUnsupported, HasSubstr("worker1")));
      EXPECT_THAT(workers[trainer]->line(), IsError(ErrorCode::kNotFound, HasSubstr("had part in context 1234567: it is over")));
      EXPECT_THAT(workers[trainer]->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("parameter 0")));
      EXPECT_THAT(workers[trainer]->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("parameter 1 of those on this worker is there a second time")));
      EXPECT_THAT(workers[trainer]->line(), IsError(ErrorCode::kNotFound, AllOf(HasSubstr("weight sum on worker 'worker1'"), HasSubstr("no distributed autograd context 1234567"))));
      EXPECT_EQ(workers[trainer]->line(), "no error");
      EXPECT_EQ(workers[trainer]->line(), "no error");
    }
    double steps = 0;
    int called = 0;
    const std::string line = workers[1]->line();
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf %d", &steps, &called), 2) << line;
    EXPECT_EQ(called, 4 * kShared);
    if (*locked == '1') {
      EXPECT_NEAR(steps, 2 * kShared, 1e-9);
    } else {  // updates of both at a time may be one
      EXPECT_GE(steps, kShared - 1e-9);
      EXPECT_LE(steps, 2 * kShared + 1e-9);
    }
    for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
  }
}

}  // namespace
}  // namespace tandem::testing::rpc_autograd_test
