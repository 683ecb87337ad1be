// Modules that take and give several values, nested ones too: ranks train as one process does on all batches.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <deque>
#include <map>
#include <variant>

#include "cpp/comm/threads.h"
#include "cpp/ddp/gradients.h"
#include "tandem/ddp.h"

namespace tandem::testing::several_values_test {
namespace {

using ::testing::HasSubstr;

constexpr int kRanks = 2, kSteps = 6;

struct Words {
  std::optional<at::Tensor> mask;
  std::vector<at::Tensor> tokens;
  auto fields() { return std::tie(mask, tokens); }
};

struct Translation {
  at::Tensor logits;
  std::vector<at::Tensor> attention;
  std::map<std::string, std::optional<at::Tensor>> losses;
  std::tuple<at::Tensor, std::variant<std::monostate, at::Tensor>> state;
  std::int64_t length = 0;
  auto fields() { return std::tie(logits, attention, losses, state, length); }
};

// An encoder and decoder; what it gives does not lead to all parameters alike.
struct TranslatorImpl : torch::nn::Module {
  TranslatorImpl() {
    for (const char* name : {"encoder", "decoder", "attention", "masked", "auxiliary", "cell"}) {
      register_parameter(name, gradient({4, 4}, static_cast<int>(parameters().size())));
    }
  }
  Translation forward(const Words& source, const at::Tensor& target, double scale) {
    const auto p = named_parameters();
    at::Tensor hidden = torch::tanh(source.tokens.at(0).mm(p["encoder"]));
    if (source.mask) hidden = hidden * source.mask->mm(p["masked"]);
    Translation out;
    out.logits = (hidden + target).mm(p["decoder"]) * scale;
    out.attention = {hidden.detach(), hidden.mm(p["attention"])};
    out.losses = {{"auxiliary", hidden.mm(p["auxiliary"]).pow(2).mean(1)}, {"none", std::nullopt}};
    out.state = {hidden, hidden.mm(p["cell"])};
    out.length = target.size(0);
    return out;
  }
};
TORCH_MODULE(Translator);

struct Batch {
  Words words;
  at::Tensor target;
};

// Of one rank; of all together where `rank` is -1.
Batch batch(int rank, int step, bool masked, std::int64_t rows = 3) {
  if (rank < 0) {
    std::vector<at::Tensor> tokens, masks, targets;
    for (int each = 0; each < kRanks; ++each) {
      const Batch one = batch(each, step, masked, rows);
      tokens.push_back(one.words.tokens[0]);
      targets.push_back(one.target);
      if (masked) masks.push_back(*one.words.mask);
    }
    Batch all{{std::nullopt, {torch::cat(tokens)}}, torch::cat(targets)};
    if (masked) all.words.mask = torch::cat(masks);
    return all;
  }
  Batch one{{std::nullopt, {gradient({rows, 4}, rank, step)}}, gradient({rows, 4}, rank + 7, step)};
  if (masked) one.words.mask = gradient({rows, 4}, rank + 14, step);
  return one;
}

// A mean over the batch, of what `uses` says.
at::Tensor loss_of(const Translation& out, int uses) {
  at::Tensor loss = out.logits.pow(2).mean();
  if (uses == 1) loss = loss + out.losses.at("auxiliary")->mean();
  if (uses == 2) loss = loss + out.attention[1].pow(2).mean();
  return loss;
}

void descend(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  for (const at::Tensor& parameter : module.parameters()) {
    if (parameter.grad().defined()) parameter.sub_(parameter.grad(), 0.1);
    parameter.mutable_grad().reset();
  }
}

// What a step does: which outputs the loss uses, whether there is a mask, and how many backwards come before the
// exchange.
struct Plan {
  std::function<int(int step)> uses;
  std::function<bool(int step)> masked;
  int accumulated = 0;
};

std::map<std::string, at::Tensor> alone(const Plan& plan) {
  Translator net;
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i <= plan.accumulated; ++i) {
      const Batch all = batch(-1, step + 10 * i, plan.masked(step));
      loss_of(net->forward(all.words, all.target, 2), plan.uses(step)).backward();
    }
    descend(*net);
  }
  std::map<std::string, at::Tensor> state;
  for (const auto& item : net->named_parameters()) state.emplace(item.key(), item.value().detach());
  return state;
}

void expect_as_alone(const Plan& plan, const DataParallelOptions& options) {
  const auto expected = alone(plan);
  run_groups(kRanks, [&](ProcessGroup& group) {
    Translator net;
    DistributedDataParallel<Translator> ddp(net, shared(group), options);
    for (int step = 0; step < kSteps; ++step) {
      for (int i = 0; i <= plan.accumulated; ++i) {
        const Batch own = batch(group.rank(), step + 10 * i, plan.masked(step));
        std::optional<DistributedDataParallel<Translator>::NoSync> local;
        if (i < plan.accumulated) local.emplace(ddp.reducer());
        const Translation out = ddp.forward(own.words, own.target, 2);
        EXPECT_EQ(out.length, own.target.size(0));
        EXPECT_FALSE(out.losses.at("none").has_value());
        EXPECT_FALSE(out.attention[0].requires_grad());
        loss_of(out, plan.uses(step)).backward();
      }
      descend(*net);
    }
    for (const auto& item : net->named_parameters()) {
      EXPECT_LT(difference(item.value().detach(), expected.at(item.key())), 1e-12) << item.key();
    }
  });
}

DataParallelOptions with(bool views, bool searches, bool is_static) {
  DataParallelOptions options;
  options.bucket_cap_mb = 0;
  options.gradient_as_bucket_view = views;
  options.find_unused_parameters = searches;
  options.static_graph = is_static;
  return options;
}

int by_step(int step) {
  return step % 3;
}
bool every_other(int step) {
  return step % 2 == 0;
}

TEST(SeveralValues, TrainAsOneProcessWhicheverOutputsTheLossUses) {
  for (const bool views : {false, true}) {
    expect_as_alone({by_step, every_other}, with(views, true, false));
    expect_as_alone({by_step, every_other, 1}, with(views, true, false));
  }
}

TEST(SeveralValues, TrainAsOneProcessInAStaticGraph) {
  for (const int accumulated : {0, 2}) {
    const Plan plan{[](int) { return 1; }, [](int) { return true; }, accumulated};
    expect_as_alone(plan, with(false, false, true));
    expect_as_alone(plan, with(true, false, true));
  }
}

TEST(SeveralValues, WithoutSearchOutputsThatTheLossLeavesOutAreNamed) {
  run_groups(kRanks, [&](ProcessGroup& group) {
    Translator net;
    DistributedDataParallel<Translator> ddp(net, shared(group), with(false, false, false));
    const Batch own = batch(group.rank(), 0, true);
    loss_of(ddp.forward(own.words, own.target, 2), 0).backward();
    const Error error = error_of([&] { ddp.forward(own.words, own.target, 2); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("auxiliary"));
    EXPECT_THAT(error.what(), HasSubstr("attention"));
  });
}

// Ranks whose batches differ in size, in arguments whose first tensor lies deep.
TEST(SeveralValues, AverageBySamplesFindsTheBatchAtAnyDepth) {
  const auto rows = [](int rank) { return rank == 0 ? std::int64_t{2} : std::int64_t{5}; };
  Translator expected;
  for (int step = 0; step < kSteps; ++step) {
    const Batch one = batch(0, step, false, rows(0)), other = batch(1, step, false, rows(1));
    const Words words{std::nullopt, {torch::cat({one.words.tokens[0], other.words.tokens[0]})}};
    loss_of(expected->forward(words, torch::cat({one.target, other.target}), 2), 1).backward();
    descend(*expected);
  }
  run_groups(kRanks, [&](ProcessGroup& group) {
    Translator net;
    DataParallelOptions options = with(false, true, false);
    options.average_by_samples = true;
    DistributedDataParallel<Translator> ddp(net, shared(group), options);
    for (int step = 0; step < kSteps; ++step) {
      const Batch own = batch(group.rank(), step, false, rows(group.rank()));
      loss_of(ddp.forward(own.words, own.target, 2), 1).backward();
      descend(*net);
    }
    for (const auto& item : net->named_parameters()) {
      EXPECT_LT(difference(item.value().detach(), expected->named_parameters()[item.key()].detach()), 1e-12);
    }
  });
}

// Its batch is in a type that nobody looks into.
struct ReaderImpl : torch::nn::Module {
  ReaderImpl() { weight = register_parameter("weight", torch::ones({2}, torch::kDouble)); }
  torch::Tensor forward(const torch::data::Example<>& batch) { return batch.data * weight; }
  torch::Tensor weight;
};
TORCH_MODULE(Reader);

TEST(SeveralValues, AverageBySamplesRefusesABatchThatItCannotFind) {
  run_groups(kRanks, [](ProcessGroup& group) {
    Reader net;
    DataParallelOptions options;
    options.average_by_samples = true;
    DistributedDataParallel<Reader> ddp(net, shared(group), options);
    const torch::data::Example<> batch(torch::ones({3, 2}, torch::kDouble), torch::ones({3}));
    const Error error = error_of([&] { ddp.forward(batch); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("pass the batch's tensor itself"));
    EXPECT_EQ(error_of([&] { ddp.set_batch_samples(-1); }).code(), ErrorCode::kInvalidArgument);

    // Of four samples one is on rank 0.
    const int rows = group.rank() == 0 ? 1 : 3;
    ddp.set_batch_samples(rows);
    const at::Tensor mine = torch::full({rows, 2}, group.rank() == 0 ? 1.0 : 5.0, torch::kDouble);
    ddp.forward(torch::data::Example<>(mine, torch::ones({rows}))).sum(1).mean().backward();
    EXPECT_LT(difference(net->weight.grad(), torch::full({2}, 4.0, torch::kDouble)), 1e-12);
    ddp.set_batch_samples(std::nullopt);
    EXPECT_EQ(error_of([&] { ddp.forward(batch); }).code(), ErrorCode::kInvalidArgument);
  });
}

TEST(SeveralValues, JoinServesRanksWithFewerBatches) {
  Translator expected;
  for (int step = 0; step < 4; ++step) {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == 1 && step >= 2) continue;
      const Batch own = batch(rank, step, true);
      (loss_of(expected->forward(own.words, own.target, 2), 2) / kRanks).backward();
    }
    descend(*expected);
  }
  run_groups(kRanks, [&](ProcessGroup& group) {
    Translator net;
    DistributedDataParallel<Translator> ddp(net, shared(group), with(false, true, false));
    ddp.join([&] {
      for (int step = 0; step < (group.rank() == 0 ? 4 : 2); ++step) {
        const Batch own = batch(group.rank(), step, true);
        loss_of(ddp.forward(own.words, own.target, 2), 2).backward();
        descend(*net);
      }
    });
    for (const auto& item : net->named_parameters()) {
      EXPECT_LT(difference(item.value().detach(), expected->named_parameters()[item.key()].detach()), 1e-12)
          << item.key();
    }
  });
}

// Tells the dtypes that it was given.
struct DtypesImpl : torch::nn::Module {
  DtypesImpl() { weight = register_parameter("weight", torch::ones({4, 4})); }
  using Tensors = std::deque<std::map<std::string, at::Tensor>>;
  std::pair<at::Tensor, std::vector<at::ScalarType>> forward(Tensors& nested, const std::optional<at::Tensor>& none,
                                                             std::pair<at::Tensor, int> numbered,
                                                             const std::unique_ptr<int>& other) {
    EXPECT_FALSE(none.has_value());
    EXPECT_EQ(*other, numbered.second);
    const auto& first = nested.at(0);
    return {first.at("x").mm(weight),
            {first.at("x").scalar_type(), first.at("ids").scalar_type(), numbered.first.scalar_type()}};
  }
  at::Tensor weight;
};
TORCH_MODULE(Dtypes);

TEST(SeveralValues, MixedPrecisionCastsTensorsAtAnyDepth) {
  run_groups(kRanks, [&](ProcessGroup& group) {
    for (const bool casts : {true, false}) {
      Dtypes net;
      DataParallelOptions options;
      if (casts) options.mixed_precision.param_dtype = torch::kBFloat16;
      DistributedDataParallel<Dtypes> ddp(net, shared(group), options);
      DtypesImpl::Tensors nested = {{{"x", torch::ones({2, 4})}, {"ids", torch::ones({2}, torch::kLong)}}};
      const auto [y, dtypes] =
          ddp.forward(nested, std::nullopt, std::pair<at::Tensor, int>(torch::ones({3}), 8), std::make_unique<int>(8));
      const auto low = casts ? torch::kBFloat16 : torch::kFloat;
      EXPECT_EQ(dtypes, (std::vector<at::ScalarType>{low, torch::kLong, low}));
      EXPECT_EQ(nested[0].at("x").scalar_type(), torch::kFloat) << "the caller's own";
      y.sum().backward();
      EXPECT_EQ(net->weight.grad().scalar_type(), torch::kFloat);
    }
  });
}

struct SometimesImpl : torch::nn::Module {
  SometimesImpl() { weight = register_parameter("weight", torch::ones({4, 4}, torch::kDouble)); }
  std::map<std::string, std::optional<at::Tensor>> forward(const at::Tensor& x, bool gives) {
    if (!gives) return {{"loss", std::nullopt}};
    return {{"loss", x.mm(weight).sum()}};
  }
  at::Tensor weight;
};
TORCH_MODULE(Sometimes);

TEST(SeveralValues, AForwardThatGivesNoTensorIsAnErrorThatDoesNotEndTraining) {
  run_groups(kRanks, [&](ProcessGroup& group) {
    Sometimes net;
    DistributedDataParallel<Sometimes> ddp(net, shared(group));
    const at::Tensor x = gradient({4, 4}, group.rank());
    const Error error = error_of([&] { ddp.forward(x, false); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("forward gave no tensor"));
    {
      const torch::NoGradGuard no_grad;
      EXPECT_FALSE(ddp.forward(x, false).at("loss").has_value());
    }
    ddp.forward(x, true).at("loss")->backward();
    const at::Tensor mean = mean_gradient({4, 4}, kRanks).sum(0).view({4, 1}).expand({4, 4});
    EXPECT_LT(difference(net->weight.grad(), mean), 1e-12);
  });
}

static_assert(!internal::Nested<std::tuple<at::Tensor, std::shared_ptr<at::Tensor>>>::kKnown,
              "tensors that DDP cannot find are refused");
static_assert(internal::Nested<std::tuple<at::Tensor, std::string, double, std::optional<bool>>>::kKnown);
static_assert(internal::Nested<torch::nn::ASMoutput>::kTensors);
struct Logits {
  at::Tensor values;
  auto fields() { return std::tie(values); }
};
struct RenamedLogits : Logits {};
struct LogitsAndMore : Logits {
  at::Tensor more;
};
struct AllOfLogitsAndMore : LogitsAndMore {
  auto fields() { return std::tie(values, more); }
};
static_assert(internal::Nested<RenamedLogits>::kKnown && internal::Nested<AllOfLogitsAndMore>::kKnown);
static_assert(!internal::Nested<LogitsAndMore>::kKnown, "what it adds would be passed over");
static_assert(internal::Nested<torch::OrderedDict<std::string, at::Tensor>>::kOnlyTensors);

}  // namespace
}  // namespace tandem::testing::several_values_test
