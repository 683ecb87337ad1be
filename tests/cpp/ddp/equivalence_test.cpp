// The claim that data-parallel training is one process's training on the joined batch: models of many shapes, trained
// by 2, 3 and 4 ranks and by one process side by side, in double; gradients are compared after each backward.
#include <gmock/gmock.h>
#include <torch/torch.h>
#include <torch/version.h>

#include "cpp/comm/threads.h"
#include "tandem/ddp.h"

namespace tandem::testing::equivalence_test {
namespace {

constexpr int kSteps = 4;
constexpr int kRows = 24;  // of a step's joined batch
constexpr double kRate = 0.05;

using Outputs = std::vector<at::Tensor>;

struct Model : torch::nn::Module {
  // `rank` is whose rows these are, -1 when they are all ranks'.
  virtual Outputs run(const at::Tensor& x, int step, int rank) = 0;
  // A mean over rows.
  virtual at::Tensor loss(const Outputs& outputs) { return outputs[0].flatten(1).pow(2).sum(1).mean(); }
};

at::Tensor numbers(int step) {
  return torch::sin(torch::arange(kRows * 6, torch::kDouble) * 0.7 + step).view({kRows, 6});
}
at::Tensor words(int step) {
  return ((torch::arange(kRows * 3, torch::kLong) * 7 + step) % 11).view({kRows, 3});
}

template <typename Layer>
Layer in_double(Layer layer) {
  layer->to(torch::kDouble);
  return layer;
}
torch::nn::Linear linear(int in, int out) {
  return in_double(torch::nn::Linear(in, out));
}

struct Mlp : Model {
  torch::nn::Linear a = register_module("a", linear(6, 16)), b = register_module("b", linear(16, 16)),
                    c = register_module("c", linear(16, 4));
  Outputs run(const at::Tensor& x, int, int) override { return {c(torch::tanh(b(torch::tanh(a(x)))))}; }
};

struct Cnn : Model {
  torch::nn::Conv2d a = register_module("a", in_double(torch::nn::Conv2d(1, 3, 2))),
                    b = register_module("b", in_double(torch::nn::Conv2d(3, 4, 1)));
  torch::nn::GroupNorm norm = register_module("norm", in_double(torch::nn::GroupNorm(2, 4)));
  torch::nn::Linear end = register_module("end", linear(8, 2));
  Outputs run(const at::Tensor& x, int, int) override {
    return {end(norm(b(torch::relu(a(x.view({-1, 1, 2, 3}))))).flatten(1))};
  }
};

struct ChannelsLast : Cnn {
  ChannelsLast() {
    torch::NoGradGuard no_grad;
    for (auto& parameter : parameters()) {
      if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
    }
  }
};

struct Lstm : Model {
  torch::nn::LSTM lstm =
      register_module("lstm", in_double(torch::nn::LSTM(torch::nn::LSTMOptions(2, 5).batch_first(true))));
  torch::nn::Linear end = register_module("end", linear(5, 2));
  Outputs run(const at::Tensor& x, int, int) override {
    return {end(std::get<0>(lstm(x.view({-1, 3, 2}))).select(1, 2))};
  }
};

struct Gru : Model {
  torch::nn::GRU gru = register_module(
      "gru",
      in_double(torch::nn::GRU(torch::nn::GRUOptions(3, 4).num_layers(2).bidirectional(true).batch_first(true))));
  Outputs run(const at::Tensor& x, int, int) override { return {std::get<0>(gru(x.view({-1, 2, 3})))}; }
};

struct Transformer : Model {
  torch::nn::TransformerEncoderLayer layer =
      register_module("layer", in_double(torch::nn::TransformerEncoderLayer(
                                   torch::nn::TransformerEncoderLayerOptions(2, 2).dim_feedforward(7).dropout(0))));
  Outputs run(const at::Tensor& x, int, int) override {
    return {layer(x.view({-1, 3, 2}).transpose(0, 1)).transpose(0, 1)};
  }
};

template <bool kSparse>
struct Words : Model {
  torch::nn::Embedding table =
      register_module("table", in_double(torch::nn::Embedding(torch::nn::EmbeddingOptions(11, 5).sparse(kSparse))));
  torch::nn::Linear end = register_module("end", linear(5, 3));
  Outputs run(const at::Tensor& x, int, int) override { return {end(table(x).mean(1))}; }
};

struct Bag : Model {
  torch::nn::EmbeddingBag table = register_module(
      "table",
      in_double(torch::nn::EmbeddingBag(torch::nn::EmbeddingBagOptions(11, 4).sparse(true).mode(torch::kSum))));
  Outputs run(const at::Tensor& x, int, int) override { return {table(x)}; }
};

// One tensor is embedding and output layer, registered as both.
struct Tied : Model {
  torch::nn::Embedding table = register_module("table", in_double(torch::nn::Embedding(11, 5)));
  at::Tensor weight = register_parameter("weight", table->weight);
  at::Tensor bias = register_parameter("bias", torch::zeros({11}, torch::kDouble));
  Outputs run(const at::Tensor& x, int, int) override {
    return {torch::nn::functional::linear(table(x).sum(1), weight, bias)};
  }
};

struct Repeated : Model {
  torch::nn::Linear a = register_module("a", linear(6, 6)), end = register_module("end", linear(6, 2));
  Outputs run(const at::Tensor& x, int, int) override {
    return {end(torch::tanh(a(torch::tanh(a(torch::tanh(a(x)))))))};
  }
};

struct Frozen : Mlp {
  Frozen() {
    for (auto& parameter : a->parameters()) parameter.set_requires_grad(false);
    b->bias.set_requires_grad(false);
  }
};

struct Branches : Model {
  torch::nn::Linear start = register_module("start", linear(6, 5)), left = register_module("left", linear(5, 3)),
                    right = register_module("right", linear(5, 3)), never = register_module("never", linear(5, 3));
};
struct NeverUsed : Branches {
  Outputs run(const at::Tensor& x, int, int) override {
    const at::Tensor hidden = torch::tanh(start(x));
    return {left(hidden) + right(hidden)};
  }
};
struct ByStep : Branches {
  Outputs run(const at::Tensor& x, int step, int) override {
    const at::Tensor hidden = torch::tanh(start(x));
    return {step % 2 == 0 ? left(hidden) : right(hidden)};
  }
};
struct ByRank : Branches {
  Outputs run(const at::Tensor& x, int step, int rank) override {
    const at::Tensor hidden = torch::tanh(start(x));
    return {(step + rank) % 2 == 0 ? left(hidden) : right(hidden)};
  }
};
struct TwoHeads : Branches {
  Outputs run(const at::Tensor& x, int, int) override {
    const at::Tensor hidden = torch::tanh(start(x));
    return {left(hidden), right(hidden)};
  }
};
struct AllHeads : TwoHeads {
  at::Tensor loss(const Outputs& outputs) override { return (outputs[0].pow(2) + outputs[1].exp()).sum(1).mean(); }
};

struct MixedTypes : Model {
  torch::nn::Linear a = register_module("a", linear(6, 5));
  torch::nn::Linear b = register_module("b", torch::nn::Linear(5, 5));  // float
  Outputs run(const at::Tensor& x, int, int) override {
    return {b(torch::tanh(a(x)).to(torch::kFloat)).to(torch::kDouble)};
  }
};

struct Complex : Model {
  at::Tensor weight = register_parameter("weight", torch::view_as_complex(torch::randn({6, 3, 2}, torch::kDouble)));
  at::Tensor scale = register_parameter("scale", torch::randn({3}, torch::kDouble));
  Outputs run(const at::Tensor& x, int, int) override {
    return {torch::abs(torch::matmul(x.to(torch::kComplexDouble), weight)) * scale};
  }
};

// Gives a parameter itself to the loss, beside what is computed.
struct GivesParameter : Model {
  torch::nn::Linear a = register_module("a", linear(6, 3));
  at::Tensor penalty = register_parameter("penalty", torch::randn({3}, torch::kDouble));
  Outputs run(const at::Tensor& x, int, int) override { return {a(x), penalty}; }
  at::Tensor loss(const Outputs& outputs) override { return Model::loss({outputs[0]}) + outputs[1].pow(3).sum(); }
};

enum class Way { kPlain, kAccumulate, kSeveralForwards, kUnevenBatches, kUnevenSteps, kUnevenStepsOfActive };

struct Shape {
  const char* name;
  std::function<std::shared_ptr<Model>()> make;
  bool takes_words = false;
  DataParallelOptions options = {};
  Way way = Way::kPlain;
  int times = 1;  // that accumulate
  bool by_rank = false;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.name;
}

template <typename T>
std::function<std::shared_ptr<Model>()> model() {
  return [] { return std::make_shared<T>(); };
}

enum Option : unsigned { kViews = 1, kSmallBuckets = 2, kUnused = 4, kStatic = 8, kAlone = 16, kSkip = 32 };
DataParallelOptions with(unsigned flags) {
  DataParallelOptions options = {};
  options.gradient_as_bucket_view = flags & kViews;
  if (flags & kSmallBuckets) options.bucket_cap_mb = 0.0005;
  if (flags & kAlone) options.bucket_cap_mb = 0;
  options.find_unused_parameters = flags & kUnused;
  options.static_graph = flags & kStatic;
  options.skip_all_reduce_unused_params = flags & kSkip;
  return options;
}
DataParallelOptions by_samples(unsigned flags = 0) {
  DataParallelOptions options = with(flags);
  options.average_by_samples = true;
  return options;
}

std::vector<Shape> shapes() {
  return {
      {"Mlp", model<Mlp>()},
      {"MlpViewsSmallBuckets", model<Mlp>(), false, with(kViews | kSmallBuckets)},
      {"MlpEachGradientAlone", model<Mlp>(), false, with(kAlone)},
      {"Cnn", model<Cnn>(), false, with(kSmallBuckets)},
      {"ChannelsLast", model<ChannelsLast>(), false, with(kViews)},
      {"Lstm", model<Lstm>(), false, with(kViews)},
      {"Gru", model<Gru>(), false, with(kSmallBuckets)},
      {"Transformer", model<Transformer>(), false, with(kSmallBuckets | kViews)},
      {"Embedding", model<Words<false>>(), true},
      {"SparseEmbedding", model<Words<true>>(), true},
      {"SparseBag", model<Bag>(), true, with(kViews)},
      {"TiedWeights", model<Tied>(), true, with(kUnused)},
      {"LayerThreeTimes", model<Repeated>(), false, with(kSmallBuckets)},
      {"LayerThreeTimesStatic", model<Repeated>(), false, with(kSmallBuckets | kStatic | kViews)},
      {"FrozenParts", model<Frozen>()},
      {"NeverUsed", model<NeverUsed>(), false, with(kUnused)},
      {"NeverUsedSkipped", model<NeverUsed>(), false, with(kUnused | kSkip | kAlone)},
      {"NeverUsedStatic", model<NeverUsed>(), false, with(kStatic)},
      {"BranchByStep", model<ByStep>(), false, with(kUnused | kSmallBuckets)},
      {"BranchByRank", model<ByRank>(), false, with(kUnused | kViews), Way::kPlain, 1, true},
      {"OneHeadOfTwo", model<TwoHeads>(), false, with(kUnused)},
      {"AllHeads", model<AllHeads>(), false, with(kUnused | kSmallBuckets)},
      {"MixedTypes", model<MixedTypes>(), false, with(kViews)},
      {"ComplexNumbers", model<Complex>()},
      {"OutputsAParameter", model<GivesParameter>()},
      {"NoSync2", model<Mlp>(), false, with(kSmallBuckets), Way::kAccumulate, 2},
      {"NoSync8", model<Lstm>(), false, with(kSmallBuckets | kViews), Way::kAccumulate, 8},
      {"NoSync2Sparse", model<Words<true>>(), true, with(0), Way::kAccumulate, 2},
      {"NoSync2Unused", model<ByStep>(), false, with(kUnused), Way::kAccumulate, 2},
      {"NoSync2Static", model<Mlp>(), false, with(kStatic | kViews), Way::kAccumulate, 2},
      {"NoSync2BySamples", model<Mlp>(), false, by_samples(), Way::kAccumulate, 2},
      {"ThreeForwards", model<Mlp>(), false, with(kSmallBuckets), Way::kSeveralForwards, 3},
      {"ThreeForwardsUnused", model<ByStep>(), false, with(kUnused), Way::kSeveralForwards, 3},
      {"UnevenBatches", model<Mlp>(), false, by_samples(), Way::kUnevenBatches},
      {"UnevenBatchesParameterOut", model<GivesParameter>(), false, by_samples(kViews), Way::kUnevenBatches},
      {"UnevenBatchesUnused", model<TwoHeads>(), false, by_samples(kUnused), Way::kUnevenBatches},
      {"Join", model<Mlp>(), false, with(kSmallBuckets), Way::kUnevenSteps},
      {"JoinUnused", model<NeverUsed>(), false, with(kUnused), Way::kUnevenSteps},
      {"JoinStatic", model<Repeated>(), false, with(kStatic | kSmallBuckets), Way::kUnevenSteps},
      {"JoinSparse", model<Words<true>>(), true, with(0), Way::kUnevenSteps},
      {"JoinOfActive", model<Lstm>(), false, with(kViews), Way::kUnevenStepsOfActive},
      {"JoinBySamples", model<Mlp>(), false, by_samples(), Way::kUnevenStepsOfActive},
  };
}

// Rows of a step's joined batch that a rank has.
std::pair<int, int> rows_of(const Shape& shape, int rank, int size) {
  if (shape.way != Way::kUnevenBatches) return {rank * (kRows / size), kRows / size};
  // 3, 4, 5 …, and the last one the rest.
  int begin = 0;
  for (int r = 0; r < rank; ++r) begin += 3 + r;
  return {begin, rank + 1 < size ? 3 + rank : kRows - begin};
}

int steps_of(const Shape& shape, int rank, int size) {
  const bool uneven = shape.way == Way::kUnevenSteps || shape.way == Way::kUnevenStepsOfActive;
  return uneven ? std::max(0, kSteps - (size - 1 - rank) * 2) : kSteps;  // the last one has all
}

at::Tensor batch(const Shape& shape, int step) {
  return shape.takes_words ? words(step) : numbers(step);
}

struct Gradient {
  at::Tensor value;  // undefined where there is none
};
using Gradients = std::vector<std::vector<Gradient>>;  // step, parameter

std::vector<Gradient> gradients_of(Model& model) {
  std::vector<Gradient> all;
  for (const auto& parameter : model.parameters()) {
    const at::Tensor& gradient = parameter.grad();
    all.push_back({gradient.defined() ? gradient.to_dense().clone() : at::Tensor()});
  }
  return all;
}

void take_step(Model& model) {
  torch::NoGradGuard no_grad;
  for (auto& parameter : model.parameters()) {
    if (!parameter.grad().defined()) continue;
    parameter.sub_(parameter.grad().to_dense(), kRate);
    parameter.mutable_grad().reset();
  }
}

// One process. The batch is joined, but for models that compute by rank.
Gradients train_alone(const Shape& shape, Model& model, int size) {
  Gradients all;
  for (int step = 0; step < kSteps; ++step) {
    const auto backward = [&](int number) {
      const at::Tensor x = batch(shape, number);
      const bool uneven = shape.way == Way::kUnevenSteps || shape.way == Way::kUnevenStepsOfActive;
      if (!shape.by_rank && !uneven) {
        model.loss(model.run(x, number, -1)).backward();
        return;
      }
      int active = 0;
      for (int rank = 0; rank < size; ++rank) active += steps_of(shape, rank, size) > step;
      const int divisor = shape.way == Way::kUnevenStepsOfActive ? active : size;
      for (int rank = size - (uneven ? active : size); rank < size; ++rank) {
        const auto [begin, count] = rows_of(shape, rank, size);
        (model.loss(model.run(x.narrow(0, begin, count), number, rank)) / divisor).backward();
      }
    };
    const int times = shape.way == Way::kPlain ? 1 : shape.times;
    for (int i = 0; i < times; ++i) backward(step * times + i);
    all.push_back(gradients_of(model));
    take_step(model);
  }
  return all;
}

// The same on one of several ranks.
Gradients train_rank(const Shape& shape, Model& model, const std::shared_ptr<ProcessGroup>& group, int* exchanges,
                     int* buckets) {
  const int rank = group->rank(), size = group->size();
  const auto reducer = internal::make_reducer(group, model, shape.options);
  if (exchanges) {
    reducer->register_comm_hook([exchanges, hook = allreduce_hook(group)](c10d::GradBucket& bucket) {
      ++*exchanges;
      return hook(bucket);
    });
  }
  const auto forward = [&](int number) {
    const auto [begin, count] = rows_of(shape, rank, size);
    reducer->prepare_forward(true, count);
    Outputs outputs = model.run(batch(shape, number).narrow(0, begin, count), number, rank);
    reducer->prepare_backward(outputs);
    return model.loss(outputs);
  };
  const bool joins = shape.way == Way::kUnevenSteps || shape.way == Way::kUnevenStepsOfActive;
  if (joins) {
    JoinOptions join;
    join.divide_by_initial_world_size = shape.way == Way::kUnevenSteps;
    reducer->begin_join(join);
  }
  Gradients all;
  for (int step = 0; step < steps_of(shape, rank, size); ++step) {
    if (shape.way == Way::kSeveralForwards) {
      at::Tensor loss = forward(step * shape.times);
      for (int i = 1; i < shape.times; ++i) loss = loss + forward(step * shape.times + i);
      loss.backward();
    } else {
      for (int i = 0; i < shape.times; ++i) {
        reducer->set_require_backward_grad_sync(i + 1 == shape.times);
        forward(step * shape.times + i).backward();
      }
    }
    all.push_back(gradients_of(model));
    take_step(model);
  }
  if (joins) reducer->end_join();
  if (buckets) *buckets = static_cast<int>(reducer->statistics().bucket_bytes.size());
  return all;
}

void copy_parameters(Model& from, Model& to) {
  torch::NoGradGuard no_grad;
  const auto source = from.parameters();
  auto target = to.parameters();
  for (std::size_t i = 0; i < source.size(); ++i) target[i].copy_(source[i]);
}

class Equivalence : public ::testing::TestWithParam<std::tuple<Shape, int>> {};

TEST_P(Equivalence, OfRanksAndOneProcess) {
  const auto& [shape, size] = GetParam();
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 15
  if (shape.name == std::string("JoinSparse") && steps_of(shape, 0, size) == 0) {
    GTEST_SKIP() << "this LibTorch does not tell a rank without a batch what to exchange for sparse gradients";
  }
#endif
  torch::manual_seed(5);
  const auto alone = shape.make();
  std::vector<std::shared_ptr<Model>> replicas;
  for (int rank = 0; rank < size; ++rank) replicas.push_back(shape.make());  // different from one another
  copy_parameters(*alone, *replicas[0]);
  const auto names = alone->named_parameters().keys();
  const Gradients expected = train_alone(shape, *alone, size);

  std::vector<Gradients> got(size);
  const Store store = hash_store();
  run_ranks(size, [&, &shape = shape, size = size](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, size), store);
    got[rank] = train_rank(shape, *replicas[rank], group, nullptr, nullptr);
    group->barrier();
  });
  bool in_double = true;
  for (const auto& parameter : alone->parameters()) in_double &= parameter.scalar_type() != torch::kFloat;
  for (int rank = 0; rank < size; ++rank) {
    ASSERT_EQ(static_cast<int>(got[rank].size()), steps_of(shape, rank, size));
    for (std::size_t step = 0; step < got[rank].size(); ++step) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        const at::Tensor want = expected[step][i].value, have = got[rank][step][i].value;
        const auto where = [&] { return c10::str(names[i], ", step ", step, ", rank ", rank, " of ", size); };
        if (!want.defined()) {
          // A static graph gives zeros to what nobody used.
          EXPECT_TRUE(!have.defined() || have.abs().max().item<double>() == 0) << where();
          continue;
        }
        ASSERT_TRUE(have.defined()) << where();
        const double tolerance = in_double ? 1e-12 : 1e-6;
        const double scale = std::max(1.0, want.abs().max().item<double>());
        EXPECT_LT((want - have).abs().max().item<double>() / scale, tolerance) << where();
      }
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_TRUE(replicas[rank]->parameters()[i].equal(replicas[0]->parameters()[i])) << names[i];
    }
  }
  double moved = 0;
  for (const auto& gradient : expected.back()) {
    if (gradient.value.defined()) moved += gradient.value.abs().sum().item<double>();
  }
  EXPECT_GT(moved, 1e-6) << "nothing was compared";
}

INSTANTIATE_TEST_SUITE_P(Shapes, Equivalence,
                         ::testing::Combine(::testing::ValuesIn(shapes()), ::testing::Values(2, 3, 4)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + std::to_string(std::get<1>(info.param));
                         });

// Gradients that accumulate are exchanged once.
class Exchanges : public ::testing::TestWithParam<int> {};

TEST_P(Exchanges, AreOneABucketForEachSynchronization) {
  const int times = GetParam();
  Shape shape{"", model<Mlp>(), false, with(kSmallBuckets), Way::kAccumulate, times};
  run_groups(2, [&](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    const auto model = shape.make();
    int exchanges = 0, buckets = 0;
    train_rank(shape, *model, group, &exchanges, &buckets);
    EXPECT_GT(buckets, 1);
    // One bucket holds all until buckets are rebuilt, before the second step's first forward.
    EXPECT_EQ(exchanges, 1 + (kSteps - 1) * buckets);
  });
}

INSTANTIATE_TEST_SUITE_P(Times, Exchanges, ::testing::Values(1, 2, 8));

}  // namespace
}  // namespace tandem::testing::equivalence_test
