// Behaviours that PyTorch's own tests of DistributedDataParallel assert and that no other file here shows:
// docs/ddp-parity.md has the whole list.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <map>

#include "cpp/comm/threads.h"
#include "cpp/ddp/gradients.h"
#include "tandem/activation_checkpoint.h"
#include "tandem/ddp.h"

namespace tandem::testing::parity_test {
namespace {

using ::testing::HasSubstr;
using Outputs = std::vector<at::Tensor>;

constexpr int kSteps = 4;

at::Tensor batch(int rank, int step) {
  return gradient({6, 4}, rank, step);
}

at::Tensor weight_of(int salt) {
  return gradient({4, 4}, salt).set_requires_grad(true);
}

DataParallelOptions with(bool views, bool searches, bool is_static) {
  DataParallelOptions options;
  options.bucket_cap_mb = 0;
  options.gradient_as_bucket_view = views;
  options.find_unused_parameters = searches;
  options.static_graph = is_static;
  return options;
}

// Parameters "p0", "p1" …, and a function of them, the input and the step.
struct FunctionImpl : torch::nn::Module {
  using Body = std::function<Outputs(const Outputs& parameters, const at::Tensor& x, int rank, int step)>;
  FunctionImpl(Outputs given, Body body) : parameters(std::move(given)), body(std::move(body)) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      register_parameter("p" + std::to_string(i), parameters[i], parameters[i].requires_grad());
    }
  }
  Outputs forward(const at::Tensor& x, int rank, int step) { return body(parameters, x, rank, step); }
  Outputs parameters;
  Body body;
};
TORCH_MODULE(Function);

at::Tensor sum_of(const Outputs& outputs) {
  at::Tensor sum = torch::zeros({}, torch::kDouble);
  for (const at::Tensor& output : outputs) sum = sum + output.pow(2).mean();
  return sum;
}

// The mean over ranks of what each has alone: zeros where a rank does not use a parameter, undefined where none does.
Outputs mean_alone(const Outputs& weights, const FunctionImpl::Body& body, int size, int step) {
  Outputs means(weights.size());
  for (int rank = 0; rank < size; ++rank) {
    Outputs copies;
    for (const at::Tensor& weight : weights) copies.push_back(weight.detach().clone().set_requires_grad(true));
    sum_of(body(copies, batch(rank, step), rank, step)).backward();
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (!copies[i].grad().defined()) continue;
      means[i] = means[i].defined() ? means[i] + copies[i].grad() / size : copies[i].grad() / size;
    }
  }
  return means;
}

// Every gradient of every step is the mean over ranks of those that each has alone.
void expect_means(const FunctionImpl::Body& body, int count, const DataParallelOptions& options) {
  run_groups(2, [&](ProcessGroup& group) {
    Outputs weights;
    for (int i = 0; i < count; ++i) weights.push_back(weight_of(i));
    Function module(weights, body);
    DistributedDataParallel<Function> ddp(module, shared(group), options);
    for (int step = 0; step < kSteps; ++step) {
      const Outputs expected = mean_alone(weights, body, 2, step);
      for (const at::Tensor& weight : weights) weight.mutable_grad().reset();
      sum_of(ddp.forward(batch(group.rank(), step), group.rank(), step)).backward();
      const torch::NoGradGuard no_grad;
      for (int i = 0; i < count; ++i) {
        SCOPED_TRACE("step " + std::to_string(step) + ", p" + std::to_string(i));
        ASSERT_EQ(weights[i].grad().defined(), expected[i].defined());
        if (!expected[i].defined()) continue;
        EXPECT_LT(difference(weights[i].grad(), expected[i]), 1e-12);
        weights[i].sub_(weights[i].grad(), 0.1);
      }
    }
  });
}

Function product_with(const at::Tensor& weight) {
  return Function(Outputs{weight},
                  [](const Outputs& p, const at::Tensor& x, int, int) { return Outputs{x.mm(p[0])}; });
}

// --------------------------------------------------------------------------------------------------- which are unused

// test_global_local_unused_params_grad (with views, and with a static graph)
TEST(ParityUnused, GradientsOfWhatNoRankUsesAreLeftAloneAndOfWhatOneUsesAreNot) {
  const auto body = [](const Outputs& p, const at::Tensor& x, int rank, int) {
    return Outputs{x.mm(p[rank == 0 ? 0 : 1])};  // and never p[2]
  };
  expect_means(body, 3, with(false, true, false));
  expect_means(body, 3, with(true, true, false));
  expect_means(body, 3, with(false, true, true));
}

// test_find_unused_parameters_when_unused_parameters_empty
TEST(ParityUnused, ARankThatUsesAllExchangesWithOneThatDoesNot) {
  expect_means(
      [](const Outputs& p, const at::Tensor& x, int rank, int) {
        return Outputs{rank == 0 ? x.mm(p[0]).mm(p[1]) : x.mm(p[1])};
      },
      2, with(false, true, false));
}

// test_ddp_shared_grad_acc_unused_params: a parameter under two names that nothing uses
TEST(ParityUnused, ASharedParameterMayBeUnused) {
  for (const bool searches : {false, true}) {
    run_groups(2, [&](ProcessGroup& group) {
      const at::Tensor used = weight_of(0), unused = weight_of(1);
      Function module(Outputs{used, unused, unused}, [](const Outputs& p, const at::Tensor& x, int, int) {
        return Outputs{x.mm(p[0])};
      });
      DistributedDataParallel<Function> ddp(module, shared(group), with(false, searches, !searches));
      for (int step = 0; step < kSteps; ++step) {
        sum_of(ddp.forward(batch(group.rank(), step), 0, step)).backward();
        EXPECT_FALSE(unused.grad().defined());
      }
    });
  }
}

// Gives what it takes, and no gradient back.
struct NoGradient : torch::autograd::Function<NoGradient> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x.clone(); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*, torch::autograd::variable_list) {
    return {at::Tensor()};
  }
};

// test_undefined_grad_parity_unused_parameters: parameters are in the graph and get no gradient all the same. Their
// hooks run, with an undefined gradient.
TEST(ParityUnused, AnUndefinedGradientCountsAsNone) {
  run_groups(2, [](ProcessGroup& group) {
    const at::Tensor first = weight_of(0), second = weight_of(1);
    Function module(Outputs{first, second}, [](const Outputs& p, const at::Tensor& x, int, int) {
      return Outputs{NoGradient::apply(x.mm(p[0])).mm(p[1])};
    });
    DistributedDataParallel<Function> ddp(module, shared(group), with(false, true, false));
    for (int step = 0; step < kSteps; ++step) {
      first.mutable_grad().reset();
      sum_of(ddp.forward(batch(group.rank(), step), 0, step)).backward();
      EXPECT_TRUE(!first.grad().defined() || first.grad().abs().max().item<double>() == 0);
      EXPECT_TRUE(second.grad().defined());
    }
  });
}

// test_different_graph_across_ranks
TEST(ParityUnused, RanksMayHaveDifferentStaticGraphs) {
  expect_means(
      [](const Outputs& p, const at::Tensor& x, int rank, int) {
        return Outputs{rank == 0 ? torch::tanh(x.mm(p[0])).mm(p[1]) : torch::tanh(x.mm(p[1])).mm(p[0])};
      },
      2, with(false, false, true));
}

// test_invalid_static_graph: a parameter that comes into use, or goes out of it, after the first backward
TEST(ParityUnused, AStaticGraphThatChangesIsAnError) {
  for (const int used_at : {0, 1}) {
    run_groups(2, [&](ProcessGroup& group) {
      const Outputs weights = {weight_of(0), weight_of(1)};
      Function module(weights, [&](const Outputs& p, const at::Tensor& x, int, int step) {
        return Outputs{step == used_at ? x.mm(p[0]).mm(p[1]) : x.mm(p[0])};
      });
      DistributedDataParallel<Function> ddp(module, shared(group), with(false, false, true));
      const auto train = [&] {
        for (int step = 0; step < 3; ++step) sum_of(ddp.forward(batch(group.rank(), step), 0, step)).backward();
      };
      EXPECT_ANY_THROW(train());
    });
  }
}

// ---------------------------------------------------------------------------------------------------------- outputs

struct NestedImpl : torch::nn::Module {
  using Result = std::pair<at::Tensor, std::map<std::string, std::optional<at::Tensor>>>;
  NestedImpl() {
    a = register_parameter("a", gradient({4, 4}, 0));
    b = register_parameter("b", gradient({4, 4}, 1));
    c = register_parameter("c", gradient({4, 4}, 2));
  }
  Result forward(const at::Tensor& x) { return {x.mm(a), {{"b", x.mm(b)}, {"c", x.mm(c)}, {"none", std::nullopt}}}; }
  at::Tensor a, b, c;
};
TORCH_MODULE(Nested);

// test_output_unused_in_loss_{tuple,dict}_module, test_dataclass_output, test_dataclass_output_unused_param,
// test_ddp_static_graph_nested_types
TEST(ParityOutputs, ThatTheLossDoesNotUseMayBeNested) {
  for (const bool is_static : {false, true}) {
    for (const bool views : {false, true}) {
      run_groups(2, [&](ProcessGroup& group) {
        Nested net;
        DistributedDataParallel<Nested> ddp(net, shared(group), with(views, !is_static, is_static));
        at::Tensor expected = torch::zeros({4, 4}, torch::kDouble);
        for (int rank = 0; rank < 2; ++rank) {
          expected += batch(rank, 0).sum(0).view({4, 1}).expand({4, 4}) / 2;
        }
        for (int step = 0; step < kSteps; ++step) {
          for (const at::Tensor& p : net->parameters()) p.mutable_grad().reset();
          auto [first, others] = ddp.forward(batch(group.rank(), 0));
          EXPECT_FALSE(others.at("none").has_value());
          (first.sum() + others.at("b")->sum()).backward();
          EXPECT_LT(difference(net->a.grad(), expected), 1e-12);
          EXPECT_LT(difference(net->b.grad(), expected), 1e-12);
          EXPECT_FALSE(net->c.grad().defined());
        }
      });
    }
  }
}

// test_ddp_returns_tensor_with_no_grad, test_ddp_new_tensor_in_fwd(_static_graph): outputs that no parameter is in
TEST(ParityOutputs, WithoutGradientPassAsTheyAre) {
  for (const DataParallelOptions& options :
       {with(false, false, false), with(false, true, false), with(true, false, true)}) {
    run_groups(2, [&](ProcessGroup& group) {
      const at::Tensor weight = weight_of(0);
      Function module(Outputs{weight}, [](const Outputs& p, const at::Tensor& x, int, int) {
        return Outputs{x.mm(p[0]), x.detach(), torch::ones({2}, torch::kDouble).set_requires_grad(true), at::Tensor()};
      });
      DistributedDataParallel<Function> ddp(module, shared(group), options);
      for (int step = 0; step < kSteps; ++step) {
        weight.mutable_grad().reset();
        const Outputs outputs = ddp.forward(batch(group.rank(), 0), 0, step);
        EXPECT_FALSE(outputs[1].requires_grad());
        EXPECT_TRUE(outputs[2].requires_grad());
        EXPECT_FALSE(outputs[3].defined());
        (outputs[0].sum() + outputs[2].sum()).backward();
        const at::Tensor mean = (batch(0, 0) + batch(1, 0)).sum(0).view({4, 1}).expand({4, 4}) / 2;
        EXPECT_LT(difference(weight.grad(), mean), 1e-12);
      }
    });
  }
}

// test_ignored_output, test_ignored_output_with_unused_parameters
TEST(ParityOutputs, MayBeDroppedWithoutABackward) {
  const auto body = [](const Outputs& p, const at::Tensor& x, int, int) { return Outputs{x.mm(p[0]).mm(p[1])}; };
  for (const bool unused : {false, true}) {
    run_groups(2, [&](ProcessGroup& group) {
      Outputs weights = {weight_of(0), weight_of(1)};
      if (unused) weights.push_back(weight_of(2));
      Function module(weights, body);
      DistributedDataParallel<Function> ddp(module, shared(group), with(false, unused, false));
      for (int step = 0; step < 4; ++step) ddp.forward(batch(group.rank(), step), 0, step);
      for (int step = 0; step < 4; ++step) {
        for (const at::Tensor& weight : weights) weight.mutable_grad().reset();
        const Outputs expected = mean_alone(weights, body, 2, step);
        sum_of(ddp.forward(batch(group.rank(), step), 0, step)).backward();
        EXPECT_LT(difference(weights[0].grad(), expected[0]), 1e-12);
        EXPECT_LT(difference(weights[1].grad(), expected[1]), 1e-12);
        EXPECT_FALSE(unused && weights[2].grad().defined());
      }
    });
  }
}

// ------------------------------------------------------------------------------------------------------- checkpoints

// Computes x·p again in backward.
at::Tensor checkpointed(const at::Tensor& x, const at::Tensor& p) {
  const auto run = [p](const Outputs& inputs) { return torch::tanh(inputs[0].mm(p)); };
  const nn::ActivationCheckpoint checkpoint([run](const Outputs& inputs) { run(inputs); }, {x});
  return run({x});
}

struct Checkpointed {
  const char* name;
  FunctionImpl::Body body;
  int parameters;
  bool needs_search;
};

class ParityCheckpoints : public ::testing::TestWithParam<Checkpointed> {};

// test_ddp_checkpointing_{once, twice, twice_static_graph, unused_params, weight_sharing, twice_weight_sharing,
// dynamic_module, dynamic_weight_sharing}, as with use_reentrant=False
TEST_P(ParityCheckpoints, GiveTheMeanOverRanks) {
  const Checkpointed& given = GetParam();
  for (const bool views : {false, true}) {
    if (!given.needs_search) {
      expect_means(given.body, given.parameters, with(views, false, false));
      expect_means(given.body, given.parameters, with(views, false, true));
    }
    expect_means(given.body, given.parameters, with(views, true, false));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modules, ParityCheckpoints,
    ::testing::Values(
        Checkpointed{"Once",
                     [](const Outputs& p, const at::Tensor& x, int, int) {
                       return Outputs{checkpointed(x.mm(p[0]), p[1])};
                     },
                     2, false},
        Checkpointed{"Twice",
                     [](const Outputs& p, const at::Tensor& x, int, int) {
                       return Outputs{checkpointed(checkpointed(x.mm(p[0]), p[1]), p[1])};
                     },
                     2, false},
        Checkpointed{"WeightSharing",
                     [](const Outputs& p, const at::Tensor& x, int, int) {
                       return Outputs{checkpointed(checkpointed(x.mm(p[0]), p[0]), p[0])};
                     },
                     1, false},
        Checkpointed{"Unused",
                     [](const Outputs& p, const at::Tensor& x, int, int) {
                       return Outputs{checkpointed(x.mm(p[0]), p[1])};
                     },
                     3, true},
        Checkpointed{"Dynamic",
                     [](const Outputs& p, const at::Tensor& x, int, int step) {
                       return Outputs{checkpointed(x, p[step % 2])};
                     },
                     2, true}),
    [](const auto& info) { return info.param.name; });

// ------------------------------------------------------------------------------------------------------------- other

// test_ddp_zero_output_features
TEST(ParityOther, AParameterMayHaveNoElements) {
  run_groups(2, [](ProcessGroup& group) {
    const at::Tensor weight = weight_of(0);
    const at::Tensor empty = torch::zeros({0, 4}, torch::kDouble).set_requires_grad(true);
    Function module(Outputs{weight, empty}, [](const Outputs& p, const at::Tensor& x, int, int) {
      return Outputs{x.mm(p[0]), x.mm(p[1].t())};
    });
    DistributedDataParallel<Function> ddp(module, shared(group), with(false, false, false));
    for (int step = 0; step < kSteps; ++step) {
      weight.mutable_grad().reset();
      const Outputs outputs = ddp.forward(batch(group.rank(), 0), 0, step);
      (outputs[0].sum() + outputs[1].sum()).backward();
      const at::Tensor mean = (batch(0, 0) + batch(1, 0)).sum(0).view({4, 1}).expand({4, 4}) / 2;
      EXPECT_LT(difference(weight.grad(), mean), 1e-12);
      EXPECT_EQ(empty.grad().sizes(), empty.sizes());
    }
  });
}

// test_ddp_forward_backward_hook: hooks see what this rank has, before it is averaged, once each
TEST(ParityOther, HooksOfTensorsRunOnceWithThisRanksGradient) {
  run_groups(2, [](ProcessGroup& group) {
    const at::Tensor weight = weight_of(0);
    Function module = product_with(weight);
    DistributedDataParallel<Function> ddp(module, shared(group), with(false, true, false));
    std::vector<at::Tensor> seen;
    weight.register_hook([&](const at::Tensor& gradient) { seen.push_back(gradient.clone()); });
    for (int step = 0; step < kSteps; ++step) {
      weight.mutable_grad().reset();
      ddp.forward(batch(group.rank(), 0), 0, step)[0].sum().backward();
      ASSERT_EQ(static_cast<int>(seen.size()), step + 1);
      const at::Tensor mine = batch(group.rank(), 0).sum(0).view({4, 1}).expand({4, 4});
      EXPECT_LT(difference(seen.back(), mine), 1e-12);
      const at::Tensor mean = (batch(0, 0) + batch(1, 0)).sum(0).view({4, 1}).expand({4, 4}) / 2;
      EXPECT_LT(difference(weight.grad(), mean), 1e-12);
    }
  });
}

// test_ddp_uneven_input_exception: what the program throws inside of join comes out, and DDP goes on
TEST(ParityOther, AnExceptionInsideOfJoinComesOut) {
  run_groups(2, [](ProcessGroup& group) {
    const at::Tensor weight = weight_of(0);
    Function module = product_with(weight);
    DistributedDataParallel<Function> ddp(module, shared(group));
    const auto step = [&] { sum_of(ddp.forward(batch(group.rank(), 0), 0, 0)).backward(); };
    EXPECT_THROW(ddp.join([&] {
      step();
      throw std::out_of_range("the program's");
    }),
                 std::out_of_range);
    ddp.join([&] {
      for (int i = 0; i < 1 + group.rank(); ++i) step();
    });
  });
}

// test_ddp_remove_autograd_hooks: a module whose backward failed trains under a DDP of its own afterwards
TEST(ParityOther, AModuleIsFreeAgainAfterABackwardThatFailed) {
  run_groups(2, [](ProcessGroup& group) {
    const Outputs weights = {weight_of(0), weight_of(1)};
    bool fails = true;
    const auto body = [&](const Outputs& p, const at::Tensor& x, int, int) {
      const at::Tensor hidden = x.mm(p[0]);
      if (fails) hidden.register_hook([](const at::Tensor&) { throw std::runtime_error("the program's"); });
      return Outputs{hidden.mm(p[1])};
    };
    Function module(weights, body);
    {
      DistributedDataParallel<Function> ddp(module, shared(group), with(false, false, false));
      EXPECT_ANY_THROW(sum_of(ddp.forward(batch(group.rank(), 0), 0, 0)).backward());
    }
    fails = false;
    DistributedDataParallel<Function> ddp(module, shared(group), with(false, false, false));
    for (int step = 0; step < kSteps; ++step) {
      const Outputs expected = mean_alone(weights, body, 2, step);
      for (const at::Tensor& weight : weights) weight.mutable_grad().reset();
      sum_of(ddp.forward(batch(group.rank(), step), 0, step)).backward();
      for (int i = 0; i < 2; ++i) EXPECT_LT(difference(weights[i].grad(), expected[i]), 1e-12);
    }
  });
}

// test_accumulate_gradients_no_sync_allreduce_hook: a hook sees what accumulated
TEST(ParityOther, AHookExchangesWhatAccumulated) {
  for (const bool views : {false, true}) {
    run_groups(2, [&](ProcessGroup& group) {
      const at::Tensor weight = weight_of(0);
      Function module = product_with(weight);
      DistributedDataParallel<Function> ddp(module, shared(group), with(views, false, false));
      ddp.reducer().register_comm_hook(allreduce_hook(shared(group)));
      for (int step = 0; step < kSteps; ++step) {
        weight.mutable_grad().reset();
        {
          const auto no_sync = ddp.no_sync();
          ddp.forward(batch(group.rank(), 0), 0, step)[0].sum().backward();
        }
        ddp.forward(batch(group.rank(), 1), 0, step)[0].sum().backward();
        at::Tensor mean = torch::zeros({4}, torch::kDouble);
        for (int rank = 0; rank < 2; ++rank) mean += (batch(rank, 0) + batch(rank, 1)).sum(0) / 2;
        EXPECT_LT(difference(weight.grad(), mean.view({4, 1}).expand({4, 4})), 1e-12);
      }
    });
  }
}

// test_save_load_checkpoint: a module's state is the same with DDP around it
TEST(ParityOther, AModulesStateLoadsWithAndWithoutIt) {
  run_groups(2, [](ProcessGroup& group) {
    const auto train = [&](torch::nn::Linear& net, DistributedDataParallel<torch::nn::Linear>& ddp, int steps) {
      for (int step = 0; step < steps; ++step) {
        for (auto& p : net->parameters()) p.mutable_grad().reset();
        ddp.forward(batch(group.rank(), step)).pow(2).mean().backward();
        const torch::NoGradGuard no_grad;
        for (auto& p : net->parameters()) p.sub_(p.grad(), 0.1);
      }
    };
    const auto make = [] {
      torch::nn::Linear net(4, 4);
      net->to(torch::kDouble);
      return net;
    };
    torch::nn::Linear net = make();
    DistributedDataParallel<torch::nn::Linear> ddp(net, shared(group));
    train(net, ddp, 3);
    std::stringstream file;
    torch::save(net, file);
    train(net, ddp, 3);
    torch::nn::Linear loaded = make();
    torch::load(loaded, file);
    DistributedDataParallel<torch::nn::Linear> again(loaded, shared(group));
    train(loaded, again, 3);
    EXPECT_TRUE(loaded->weight.equal(net->weight));
  });
}

}  // namespace
}  // namespace tandem::testing::parity_test
