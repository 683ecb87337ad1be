// Modules that take and give several values, nested ones too, under DDP through the C ABI; ranks as threads.
#include <functional>
#include <thread>

#include "capi/calls.h"

namespace {

using namespace calls;
using ::testing::HasSubstr;

struct FreeHandles {
  void operator()(tdm_process_group* group) const { tdm_process_group_free(group); }
  void operator()(tdm_ddp* ddp) const { tdm_ddp_free(ddp); }
};
using Group = std::unique_ptr<tdm_process_group, FreeHandles>;
using Ddp = std::unique_ptr<tdm_ddp, FreeHandles>;

constexpr int kRanks = 2, kSteps = 4;

void run_ranks(const std::function<void(tdm_process_group*, int)>& body) {
  tdm_store* store = nullptr;
  ASSERT_OK(tdm_store_hash(&store));
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
      options.rank = rank;
      options.world_size = kRanks;
      options.timeout_ms = 20000;
      tdm_process_group* group = nullptr;
      ASSERT_OK(tdm_process_group_create(&options, store, &group));
      const Group owned(group);
      body(group, rank);
    });
  }
  for (auto& rank : ranks) rank.join();
  tdm_store_free(store);
}

// Owned values.
struct Values {
  explicit Values(std::size_t size) : values(size) {}
  ~Values() {
    for (tdm_value& value : values) tdm_value_clear(&value);
  }
  Values(const Values&) = delete;
  tdm_value& operator[](std::size_t i) { return values[i]; }
  tdm_value* data() { return values.data(); }
  std::vector<tdm_value> values;
};

const tdm_value& element(const tdm_value& list, std::size_t i) {
  EXPECT_LT(i, list.as.list.size);
  return static_cast<const tdm_value*>(list.as.list.data)[i];
}
const tdm_value& item(const tdm_value& dict, const std::string& key) {
  EXPECT_EQ(dict.tag, TDM_VALUE_DICT);
  for (std::size_t i = 0; i + 1 < dict.as.list.size; i += 2) {
    const auto& text = element(dict, i).as.string;
    if (std::string(text.data, text.size) == key) return element(dict, i + 1);
  }
  ADD_FAILURE() << "there is no " << key;
  return dict;
}

struct Model {
  Module lstm, head, auxiliary;

  Model() = default;
  explicit Model(int) {
    lstm = module("LSTM", {option("input_size", of(3)), option("hidden_size", of(4))});
    head = module("Linear", {option("in_features", of(4)), option("out_features", of(2))});
    auxiliary = module("Linear", {option("in_features", of(4)), option("out_features", of(2))});
  }
  Model clone() const {
    Model copy;
    for (const auto& [from, to] : {std::pair{&lstm, &copy.lstm}, {&head, &copy.head}, {&auxiliary, &copy.auxiliary}}) {
      tdm_module* made = nullptr;
      EXPECT_OK(tdm_module_clone(from->get(), &made));
      to->reset(made);
    }
    return copy;
  }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> all;
    for (const Module* one : {&lstm, &head, &auxiliary}) {
      for (Tensor& tensor : calls::parameters(*one)) all.push_back(std::move(tensor));
    }
    return all;
  }

  // Of x and a state that may be NONE, as torch.nn.LSTM takes it: a dict {logits, state, losses: {auxiliary, none},
  // length}, which `use` is given.
  void forward(const tdm_value& x, const tdm_value& state, const std::function<void(const tdm_value&)>& use) const {
    Values recurrent(2);
    const tdm_value arguments[] = {x, state};
    std::size_t count = 2;
    ASSERT_OK(tdm_module_forward(lstm.get(), arguments, 2, recurrent.data(), &count));
    ASSERT_EQ(count, 2u);
    ASSERT_EQ(recurrent[1].tag, TDM_VALUE_TUPLE);
    const Tensor logits = calls::forward(head, {recurrent[0]}), more = calls::forward(auxiliary, {recurrent[0]});
    const std::vector<tdm_value> losses = {of("auxiliary"), of(more), of("none"), tagged(TDM_VALUE_NONE)};
    const std::vector<tdm_value> all = {of("logits"), of(logits),   of("state"),
                                        recurrent[1], of("losses"), list(TDM_VALUE_DICT, losses),
                                        of("length"), of(2)};
    use(list(TDM_VALUE_DICT, all));
  }
};

Tensor loss_of(const tdm_value& outputs, bool with_auxiliary) {
  const auto mean_square = [](const tdm_value& x) {
    const Tensor square = call("aten::mul", "Tensor", {x, x});
    return call("aten::mean", "", {of(square)});
  };
  Tensor loss = mean_square(item(outputs, "logits"));
  if (!with_auxiliary) return loss;
  const Tensor more = mean_square(item(item(outputs, "losses"), "auxiliary"));
  return call("aten::add", "Tensor", {of(loss), of(more)});
}

void backward(const Tensor& loss) {
  tdm_tensor* root = loss.get();
  ASSERT_OK(tdm_autograd_backward(&root, nullptr, 1, 0, 0));
}

Optimizer descent(const std::vector<Tensor>& parameters) {
  const auto pointers = borrowed(parameters);
  const tdm_option rate = option("lr", of(0.5));
  tdm_optimizer* made = nullptr;
  EXPECT_OK(tdm_optimizer_create("SGD", pointers.data(), pointers.size(), &rate, 1, &made));
  return Optimizer(made);
}
void step(const Optimizer& optimizer) {
  ASSERT_OK(tdm_optimizer_step(optimizer.get()));
  ASSERT_OK(tdm_optimizer_zero_grad(optimizer.get(), 1));
}

// Two steps of a sequence for each of two samples; other numbers for each rank and step.
std::vector<float> numbers(int rank, int step, int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7 + rank * 5 + step * 3) % 11) / 11 - 0.5f);
  return values;
}
Tensor joined(const std::function<Tensor(int rank)>& of_rank) {
  std::vector<Tensor> parts;
  for (int rank = 0; rank < kRanks; ++rank) parts.push_back(of_rank(rank));
  return call("aten::cat", "", {list(TDM_VALUE_TENSOR_LIST, borrowed(parts)), of(1)});
}

struct Case {
  bool searches, is_static, accumulates;
};

// Each rank on its batch as a model alone on all of them.
void expect_as_alone(const Case& how) {
  const auto uses_auxiliary = [&](int step) { return !how.searches || step % 2 == 1; };
  const auto with_state = [](int step) { return step % 2 == 0; };
  const auto x_of = [](int rank, int step) { return tensor(numbers(rank, step, 12), {2, 2, 3}); };
  const auto state_of = [](int rank, int step) { return tensor(numbers(rank, step + 40, 8), {1, 2, 4}); };
  const Model start(0);
  const Model reference = start.clone();
  {
    const Optimizer optimizer = descent(reference.parameters());
    for (int i = 0; i < kSteps; ++i) {
      for (int part = 0; part <= how.accumulates; ++part) {
        const int number = i + 20 * part;
        const Tensor x = joined([&](int rank) { return x_of(rank, number); });
        const Tensor h = joined([&](int rank) { return state_of(rank, number); });
        const std::vector<tdm_value> states = {of(h), of(h)};
        const tdm_value state = with_state(i) ? list(TDM_VALUE_TUPLE, states) : tagged(TDM_VALUE_NONE);
        reference.forward(of(x), state,
                          [&](const tdm_value& outputs) { backward(loss_of(outputs, uses_auxiliary(i))); });
      }
      step(optimizer);
    }
  }
  std::vector<std::vector<float>> expected;
  for (const Tensor& one : reference.parameters()) expected.push_back(floats(one.get()));

  run_ranks([&](tdm_process_group* group, int rank) {
    const Model model = start.clone();
    const auto parameters = model.parameters();
    const auto pointers = borrowed(parameters);
    tdm_ddp_options options = TDM_DDP_OPTIONS_INIT;
    options.bucket_cap_mb = 0;
    options.find_unused_parameters = how.searches;
    options.static_graph = how.is_static;
    tdm_ddp* made = nullptr;
    ASSERT_OK(tdm_ddp_create(group, pointers.data(), nullptr, pointers.size(), nullptr, 0, &options, &made));
    const Ddp ddp(made);
    const Optimizer optimizer = descent(parameters);
    for (int i = 0; i < kSteps; ++i) {
      for (int part = 0; part <= how.accumulates; ++part) {
        const int number = i + 20 * part;
        ASSERT_OK(tdm_ddp_set_require_backward_grad_sync(made, part == how.accumulates));
        const Tensor x = x_of(rank, number), h = state_of(rank, number);
        const std::vector<tdm_value> states = {of(h), of(h)};
        const tdm_value arguments[] = {of(x), with_state(i) ? list(TDM_VALUE_TUPLE, states) : tagged(TDM_VALUE_NONE)};
        Values prepared(2);
        ASSERT_OK(tdm_ddp_prepare_forward(made, 1, arguments, 2, prepared.data()));
        model.forward(prepared[0], prepared[1], [&](const tdm_value& outputs) {
          Values found(1);
          ASSERT_OK(tdm_ddp_prepare_backward(made, &outputs, 1, found.data()));
          EXPECT_EQ(item(found[0], "length").as.integer, 2);
          EXPECT_EQ(item(item(found[0], "losses"), "none").tag, TDM_VALUE_NONE);
          EXPECT_EQ(floats(element(item(found[0], "state"), 0).as.tensor),
                    floats(element(item(outputs, "state"), 0).as.tensor));
          backward(loss_of(found[0], uses_auxiliary(i)));
        });
      }
      step(optimizer);
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_THAT(floats(parameters[i].get()), ::testing::Pointwise(::testing::FloatNear(1e-5f), expected[i])) << i;
    }
  });
}

TEST(CapiSeveralValues, TrainAsOneProcess) {
  const LeakCheck leaks;
  expect_as_alone({.searches = true, .is_static = false, .accumulates = false});
  expect_as_alone({.searches = true, .is_static = false, .accumulates = true});
  expect_as_alone({.searches = false, .is_static = true, .accumulates = false});
  expect_as_alone({.searches = false, .is_static = true, .accumulates = true});
  expect_as_alone({.searches = false, .is_static = false, .accumulates = true});
}

Ddp over(tdm_process_group* group, const Tensor& parameter, const tdm_ddp_options& options) {
  tdm_tensor* pointer = parameter.get();
  tdm_ddp* ddp = nullptr;
  EXPECT_OK(tdm_ddp_create(group, &pointer, nullptr, 1, nullptr, 0, &options, &ddp));
  return Ddp(ddp);
}
Tensor weight(const std::vector<float>& values) {
  Tensor made = tensor(values, {static_cast<std::int64_t>(values.size())});
  EXPECT_OK(tdm_tensor_set_requires_grad(made.get(), 1));
  return made;
}
std::vector<float> gradient_of(const Tensor& parameter) {
  tdm_tensor* gradient = nullptr;
  EXPECT_OK(tdm_tensor_grad(parameter.get(), &gradient));
  const Tensor owned(gradient);
  return gradient ? floats(gradient) : std::vector<float>();
}

TEST(CapiSeveralValues, TheBatchAndWhatIsCastAreFoundAtAnyDepth) {
  run_ranks([](tdm_process_group* group, int rank) {
    const Tensor parameter = weight({1, 1});
    tdm_ddp_options options = TDM_DDP_OPTIONS_INIT;
    options.average_by_samples = 1;
    options.param_dtype = TDM_DTYPE_BFLOAT16;
    const Ddp ddp = over(group, parameter, options);
    const std::int64_t rows = rank == 0 ? 1 : 3;
    const Tensor x = tensor(std::vector<float>(2 * rows, rank == 0 ? 4.f : 8.f), {rows, 2});
    const Tensor ids = call("aten::arange", "", {of(3)});
    const std::vector<tdm_tensor*> many = {x.get(), nullptr};
    const std::vector<tdm_value> dict = {of("x"), of(x), of("ids"), of(ids)};
    const std::vector<std::int64_t> integers = {5, 6};
    const std::vector<tdm_value> tuple = {tagged(TDM_VALUE_NONE),
                                          list(TDM_VALUE_DICT, dict),
                                          list(TDM_VALUE_TENSOR_LIST, many),
                                          ints(integers),
                                          of("text"),
                                          of(0.5)};
    const tdm_value argument = list(TDM_VALUE_TUPLE, tuple);
    Values prepared(1), outputs(1);
    ASSERT_OK(tdm_ddp_prepare_forward(ddp.get(), 1, &argument, 1, prepared.data()));
    const tdm_value& cast = prepared[0];
    EXPECT_EQ(tdm_tensor_get_dtype(item(element(cast, 1), "x").as.tensor), TDM_DTYPE_BFLOAT16);
    EXPECT_EQ(tdm_tensor_get_dtype(item(element(cast, 1), "ids").as.tensor), TDM_DTYPE_INT64);
    auto* const* cast_many = static_cast<tdm_tensor* const*>(element(cast, 2).as.list.data);
    EXPECT_EQ(tdm_tensor_get_dtype(cast_many[0]), TDM_DTYPE_BFLOAT16);
    EXPECT_EQ(cast_many[1], nullptr);
    EXPECT_EQ(static_cast<const std::int64_t*>(element(cast, 3).as.list.data)[1], 6);
    EXPECT_STREQ(element(cast, 4).as.string.data, "text");
    EXPECT_EQ(tdm_tensor_get_dtype(x.get()), TDM_DTYPE_FLOAT32) << "the caller's own";

    const Tensor product = call("aten::mul", "Tensor", {of(parameter), item(element(cast, 1), "x")});
    const Tensor loss = call("aten::mean", "", {of(product)});
    const tdm_value output = of(loss);
    ASSERT_OK(tdm_ddp_prepare_backward(ddp.get(), &output, 1, outputs.data()));
    tdm_tensor* root = outputs[0].as.tensor;
    ASSERT_OK(tdm_autograd_backward(&root, nullptr, 1, 0, 0));
    EXPECT_EQ(gradient_of(parameter), (std::vector<float>{3.5, 3.5})) << "(1 * 4 + 3 * 8) / 4 / 2";
  });
}

TEST(CapiSeveralValues, AParameterThatForwardGivesStaysOne) {
  run_ranks([](tdm_process_group* group, int rank) {
    const Tensor parameter = weight({1, 2});
    tdm_ddp_options options = TDM_DDP_OPTIONS_INIT;
    options.find_unused_parameters = 1;
    const Ddp ddp = over(group, parameter, options);
    for (int i = 0; i < 3; ++i) {
      ASSERT_OK(tdm_tensor_set_grad(parameter.get(), nullptr));
      ASSERT_OK(tdm_ddp_prepare_forward(ddp.get(), 1, nullptr, 0, nullptr));
      const Tensor factor = tensor({1.f + static_cast<float>(rank), 0}, {2});
      const Tensor product = call("aten::mul", "Tensor", {of(parameter), of(factor)});
      const tdm_value outputs[] = {of(product), of(parameter)};
      Values found(2);
      ASSERT_OK(tdm_ddp_prepare_backward(ddp.get(), outputs, 2, found.data()));
      const Tensor sum = call("aten::add", "Tensor", {found[0], found[1]});
      backward(call("aten::sum", "", {of(sum)}));
      EXPECT_EQ(gradient_of(parameter), (std::vector<float>{2.5, 1}));
    }
  });
}

TEST(CapiSeveralValues, ErrorsSayWhatForwardGave) {
  run_ranks([](tdm_process_group* group, int) {
    const Tensor parameter = weight({1, 2});
    const Ddp ddp = over(group, parameter, TDM_DDP_OPTIONS_INIT);
    ASSERT_OK(tdm_ddp_prepare_forward(ddp.get(), 1, nullptr, 0, nullptr));
    tdm_value found{};
    const std::vector<tdm_value> numbers_alone = {of("loss"), of(0.5)};
    tdm_value output = list(TDM_VALUE_DICT, numbers_alone);
    EXPECT_REFUSED(tdm_ddp_prepare_backward(ddp.get(), &output, 1, &found), TDM_ERROR_INVALID_ARGUMENT,
                   "forward gave no tensor");
    EXPECT_REFUSED(tdm_ddp_prepare_backward(ddp.get(), nullptr, 0, nullptr), TDM_ERROR_INVALID_ARGUMENT,
                   "forward gave no tensor");
    tdm_value cyclic[2] = {of(parameter), {}};
    cyclic[1].tag = TDM_VALUE_TUPLE;
    cyclic[1].as.list = {cyclic, 2};
    EXPECT_REFUSED(tdm_ddp_prepare_backward(ddp.get(), cyclic, 2, &found), TDM_ERROR_INVALID_ARGUMENT,
                   "argument 'outputs[1]' nests more than 64 values in one another; a value must not contain itself");
    EXPECT_REFUSED(tdm_ddp_prepare_forward(ddp.get(), 1, cyclic, 2, nullptr), TDM_ERROR_INVALID_ARGUMENT,
                   "argument 'arguments[1]' nests");
    const std::vector<tdm_value> unknown = {of(parameter), tagged(99)};
    output = list(TDM_VALUE_TUPLE, unknown);
    EXPECT_REFUSED(tdm_ddp_prepare_backward(ddp.get(), &output, 1, &found), TDM_ERROR_INVALID_ARGUMENT,
                   "argument 'outputs[0][1]' cannot be a value with the unknown tag 99");
    EXPECT_EQ(found.tag, TDM_VALUE_NONE);
  });
}

}  // namespace
