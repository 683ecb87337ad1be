// The facade alone, as a C++17 program would use it: libtandem is linked, the core is not.
#include "tandem/abi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

namespace tandem::abi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor floats(const std::vector<float>& values, const std::vector<int64_t>& sizes) {
  return Tensor::from_vector(values, TDM_DTYPE_FLOAT32, sizes);
}

TEST(Facade, ErrorsCarryCodeOperationAndMessage) {
  try {
    Operator::find("aten::no_such_operator");
    FAIL() << "found an operator that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TDM_ERROR_NOT_FOUND);
    EXPECT_EQ(error.operation(), "tdm_op_find");
    EXPECT_THAT(error.message(), HasSubstr("no_such_operator"));
    EXPECT_EQ(error.what(), error.operation() + ": " + error.message());
  }
}

TEST(Facade, TensorsHoldTheirDataAndShareOnCopy) {
  Tensor tensor = Tensor::from_vector<int64_t>({int64_t{1} << 40, 2}, TDM_DTYPE_INT64, {2});
  const Tensor copy = tensor;
  EXPECT_TRUE(copy.is_same(tensor));
  EXPECT_THAT(copy.to_vector<int64_t>(), ElementsAre(int64_t{1} << 40, 2));
  EXPECT_THAT(copy.sizes(), ElementsAre(2));
  EXPECT_THAT(copy.strides(), ElementsAre(1));
  tensor = Tensor();
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(copy.nbytes(), 16u);
}

TEST(Facade, IndexesAsPythonDoes) {
  Tensor x = floats({0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_THAT(get_item(x, {Index::ellipsis(), Index::at(-1)}).to_vector<float>(), ElementsAre(2, 5));
  EXPECT_THAT(get_item(x, {Index::new_axis(), Index::at(1), Index::slice(1)}).sizes(), ElementsAre(1, 2));
  const Tensor places = Tensor::from_vector<int64_t>({1, 1}, TDM_DTYPE_INT64, {2});
  EXPECT_THAT(get_item(x, {Index::tensor(places), Index::at(0)}).to_vector<float>(), ElementsAre(3, 3));
  EXPECT_THAT(get_item(x, {Index::boolean(false)}).sizes(), ElementsAre(0, 2, 3));
  set_item(x, {Index::at(0)}, floats({7}, {1}));
  set_item(x, {Index::slice(0, 2), Index::at(2)}, 9);
  EXPECT_THAT(x.to_vector<float>(), ElementsAre(7, 7, 9, 3, 4, 9));
  EXPECT_EQ(x.layout(), TDM_LAYOUT_STRIDED);
  EXPECT_EQ(x.grad_fn_name(), "");
}

TEST(Facade, ProfilesWhatRuns) {
  start_profiler(/*record_shapes=*/true);
  const Operator tanh = Operator::find("aten::tanh");
  tanh.call_tensor(Arguments::of(floats({1, 2}, {2})));
  const auto path = std::filesystem::temp_directory_path() / ("tandem-facade-profile-" + std::to_string(getpid()));
  const std::string table = stop_profiler(path);
  EXPECT_THAT(table, HasSubstr("aten::tanh"));
  EXPECT_GT(std::filesystem::file_size(path), 0u);
  std::filesystem::remove(path);
  EXPECT_THROW(stop_profiler(), Error);
}

TEST(Facade, HandlesAreFreed) {
  const int64_t before = live_count("tensor");
  {
    std::vector<Tensor> tensors;
    for (int i = 0; i < 10; ++i) tensors.push_back(floats({1, 2}, {2}));
    Tensor moved = std::move(tensors[0]);
    tensors[1] = moved;
    EXPECT_EQ(live_count("tensor"), before + 10);
  }
  EXPECT_EQ(live_count("tensor"), before);
}

TEST(Facade, OperatorsTakeAllKindsOfArguments) {
  const Tensor x = floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const Operator sum = Operator::find("aten::sum", "dim_IntList");
  EXPECT_THAT(sum.call_tensor(Arguments::of(x, std::vector<int64_t>{1}, true)).sizes(), ElementsAre(2, 1));

  Arguments with_dtype = Arguments::of(x);
  with_dtype.add_dtype(TDM_DTYPE_FLOAT64);
  EXPECT_EQ(Operator::find("aten::to", "dtype").call_tensor(with_dtype).dtype(), TDM_DTYPE_FLOAT64);

  const std::vector<Tensor> parts = {x, x};
  EXPECT_THAT(Operator::find("aten::cat").call_tensor(Arguments::of(TensorList(parts), 0)).sizes(), ElementsAre(4, 3));

  Results topk = Operator::find("aten::topk").call(Arguments::of(x, 2));
  ASSERT_EQ(topk.size(), 2u);
  EXPECT_THAT(topk.take_tensor(0).to_vector<float>(), ElementsAre(3, 2, 6, 5));
  EXPECT_THAT(topk.take_tensor(1).to_vector<int64_t>(), ElementsAre(2, 1, 2, 1));

  EXPECT_EQ(Operator::find("aten::size", "int").call(Arguments::of(x, 1)).integer(0), 3);
  Results halves = Operator::find("aten::split", "Tensor").call(Arguments::of(x, 1));
  EXPECT_EQ(halves.tensors(0).size(), 2u);
  EXPECT_THROW(halves.integer(0), Error);
  EXPECT_THROW(halves.tag(1), Error);
}

TEST(Facade, GradientsAndScopes) {
  Tensor x = floats({1, 2, 3}, {3});
  x.set_requires_grad(true);
  EXPECT_FALSE(x.grad().defined());
  const int64_t before = live_count("tensor");
  {
    Scope scope;
    const Tensor loss =
        Operator::find("aten::sum")
            .call_tensor(Arguments::of(Operator::find("aten::mul", "Tensor").call_tensor(Arguments::of(x, x))));
    backward({&loss}, {}, true);
    const auto gradients = grad({&loss}, {}, {&x});
    EXPECT_THAT(gradients.at(0).to_vector<float>(), ElementsAre(2, 4, 6));
  }
  EXPECT_EQ(live_count("tensor"), before);
  EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(2, 4, 6));
  NoGrad off;
  EXPECT_FALSE(Operator::find("aten::neg").call_tensor(Arguments::of(x)).requires_grad());
}

TEST(Facade, OptimizersHaveGroups) {
  Module linear("Linear", std::move(Options().set("in_features", 2).set("out_features", 1)));
  const std::vector<Tensor> of = linear.named_parameters().tensors();
  TensorList weight, bias;
  weight.add(of[0]);
  bias.add(of[1]);
  Optimizer adam("Adam", weight, std::move(Options().set("lr", 0.1)));
  adam.add_group(bias, std::move(Options().set("betas", std::vector<double>{0.5, 0.6}).set("amsgrad", true)));
  EXPECT_EQ(adam.group_count(), 2);
  EXPECT_THAT(adam.option(1, "betas").reals(0), ElementsAre(0.5, 0.6));
  EXPECT_TRUE(adam.option(1, "amsgrad").flag(0));
  EXPECT_FALSE(adam.option(0, "amsgrad").flag(0));
  adam.set_options(TDM_ALL_GROUPS, std::move(Options().set("lr", 0.5).set("eps", 1e-3)));
  EXPECT_EQ(adam.option(1, "lr").real(0), 0.5);
  EXPECT_EQ(adam.option(TDM_ALL_GROUPS, "eps").real(0), 1e-3);
  EXPECT_THROW(adam.option(TDM_ALL_GROUPS, "betas"), Error);
}

TEST(Facade, SchedulersAndAveragesFollowOptimizers) {
  Tensor x = floats({4}, {1});
  x.set_requires_grad(true);
  TensorList parameters;
  parameters.add(x);
  Optimizer sgd("SGD", parameters, std::move(Options().set("lr", 0.25)));
  LrScheduler half("ExponentialLR", sgd, std::move(Options().set("gamma", 0.5)));
  LrScheduler steps = LrScheduler::of_function("MultiplicativeLR", sgd, {}, [](int64_t, double at) {
    if (at == 3) throw std::domain_error("no third");
    return 1 / at;
  });
  LrScheduler both = LrScheduler::chained({&half, &steps});
  AveragedParameters ema(parameters, {}, 0.5);
  for (int step = 0; step < 2; ++step) {
    const Tensor first = sgd.step([&] {
      sgd.zero_grad();
      const Tensor loss = Operator::find("aten::square").call_tensor(Arguments::of(x));
      backward({&loss});
      return loss;
    });
    EXPECT_EQ(first.item_double(), step == 0 ? 16 : 4);
    both.step();
    ema.update();
  }
  EXPECT_EQ(x.item_double(), 1.5);  // 4, then 2 with 0.25, then 1.5 with 0.125
  EXPECT_EQ(ema.state().tensor(1).item_double(), 1.75);
  EXPECT_THAT(both.last_lr(), ElementsAre(0.25 / 4 / 2));
  try {
    both.step();
    FAIL() << "the function was not asked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TDM_ERROR_CALLBACK);
    EXPECT_THROW(std::rethrow_exception(error.cause()), std::domain_error);
  }
  Results state = half.state();
  Results items = state.take_elements(0);
  Arguments flat, given;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items.tag(i) == TDM_VALUE_STRING) {
      flat.add(items.string(i));
    } else if (items.tag(i) == TDM_VALUE_DOUBLE_LIST) {
      flat.add(items.reals(i));
    } else if (items.tag(i) == TDM_VALUE_INT) {
      flat.add(items.integer(i));
    } else if (items.tag(i) == TDM_VALUE_BOOL) {
      flat.add(items.flag(i));
    } else {
      flat.add(items.real(i));
    }
  }
  given.add_nested(TDM_VALUE_DICT, flat);
  half.load_state(given);
  EXPECT_THROW(half.load_state(Arguments()), Error);
}

TEST(Facade, ModulesAndOptimizersLearn) {
  manual_seed(1);
  Module linear("Linear", std::move(Options().set("in_features", 4).set("out_features", 1)));
  const NamedTensors parameters = linear.named_parameters();
  EXPECT_THAT(parameters.names(), ElementsAre("weight", "bias"));
  EXPECT_THROW(parameters.name(2), Error);
  Optimizer sgd("SGD", parameters.tensors(), std::move(Options().set("lr", 0.01)));
  EXPECT_DOUBLE_EQ(sgd.option(TDM_ALL_GROUPS, "lr").real(0), 0.01);
  const Operator mse = Operator::find("aten::mse_loss");
  const Tensor input = floats({1, 2, 3, 4}, {1, 4}), target = floats({2}, {1, 1});
  Module copied = linear.clone();
  const double untrained = linear.forward_tensor(input).item_double();
  double first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    const Tensor loss = mse.call_tensor(Arguments::of(linear.forward_tensor(input), target));
    sgd.zero_grad();
    backward({&loss});
    sgd.step();
    last = loss.item_double();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, first / 100);
  EXPECT_EQ(copied.forward_tensor(input).item_double(), untrained);
}

TEST(Facade, TwoRanksReduceOverAHashStore) {
  const Store store = Store::hash();
  const auto rank = [&](int32_t number) {
    ProcessGroupOptions options;
    options.rank = number;
    options.world_size = 2;
    options.timeout_ms = 60000;
    ProcessGroup group(options, &store);
    const Tensor tensor = floats({number + 1.0f}, {1});
    Work work = group.all_reduce_async(tensor);
    work.wait();
    EXPECT_EQ(tensor.item_double(), 3);
    group.barrier();
  };
  std::thread other(rank, 1);
  rank(0);
  other.join();
}

TEST(Facade, RecordsBecomeBatches) {
  const std::string path = std::filesystem::temp_directory_path() / ("facade_" + std::to_string(getpid()));
  {
    RecordIOWriter writer(path, TDM_COMPRESSOR_GZIP);
    for (uint8_t i = 0; i < 6; ++i) writer.write(&i, 1);
    writer.finish();
  }
  RecordIOReader reader(path);
  EXPECT_EQ(reader.count(), 6);
  EXPECT_EQ(reader.get(5), std::string(1, 5));
  Fields fields;
  fields.add("number", TDM_DTYPE_UINT8, {}, TDM_DTYPE_INT64);
  LoaderOptions options;
  options.batch_size = 4;
  options.shuffle = false;
  options.drop_last = true;
  Loader loader({path}, fields, options);
  EXPECT_EQ(loader.batch_count(), 1);
  loader.start_epoch(0);
  EXPECT_THAT(loader.next().at(0).to_vector<int64_t>(), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(loader.next().empty());

  options.drop_last = false;
  options.tail = TDM_TAIL_PAD;
  options.global_batch = true;
  Loader padded({path}, fields, options);
  padded.next();
  padded.commit();
  const std::string state = padded.state();
  padded.next();
  EXPECT_EQ(padded.state(), state);
  EXPECT_EQ(padded.local_count(), 2);
  EXPECT_EQ(padded.global_count(), 2);
  EXPECT_THAT(padded.mask().to_vector<uint8_t>(), ElementsAre(1, 1, 0, 0));
  Loader restored({path}, fields, options);
  restored.restore(state);
  EXPECT_EQ(restored.current_epoch(), 0);
  restored.start_epoch(0, -1);
  EXPECT_THAT(restored.next().at(0).to_vector<int64_t>(), ElementsAre(4, 5, 0, 0));
  std::filesystem::remove(path);
}

TEST(Facade, CheckpointsKeepMetadata) {
  const std::string path = std::filesystem::temp_directory_path() / ("facade_c_" + std::to_string(getpid()));
  const std::vector<Tensor> tensors = {floats({1, 2}, {2})};
  save_safetensors(path, {"x"}, tensors, {"two\nlines"}, {"back\\slash"});
  const Checkpoint file(path);
  EXPECT_EQ(file.name(0), "x");
  EXPECT_THAT(file.tensor(0).to_vector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(file.metadata_keys(), ElementsAre("two\nlines"));
  EXPECT_THAT(file.metadata_values(), ElementsAre("back\\slash"));
  std::filesystem::remove(path);
}

bool comes_true(const std::atomic<bool>& value) {
  for (int i = 0; i < 3000 && !value; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return value;
}

TEST(LeaveSignal, ANoticeIsOfOneRunAndASecondOneKillsNobody) {
  std::atomic<bool> first{false}, second{false};
  {
    const LeaveSignal signal([&] { first = true; });
    EXPECT_THROW(LeaveSignal([] {}), Error);
    raise(SIGUSR1);
    EXPECT_TRUE(comes_true(first));
  }
  raise(SIGUSR1);
  const LeaveSignal signal([&] { second = true; });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(second);
  raise(SIGUSR1);
  EXPECT_TRUE(comes_true(second));
}

TEST(LeaveSignal, WithoutANoticeTheHandlerGoes) {
  struct sigaction before = {}, after = {};
  sigaction(SIGUSR1, nullptr, &before);
  const auto restore = [&](void*) { sigaction(SIGUSR1, &before, nullptr); };
  const std::unique_ptr<void, decltype(restore)> at_end(&before, restore);
  signal(SIGUSR1, SIG_IGN);
  { const LeaveSignal signal([] {}); }
  sigaction(SIGUSR1, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
  signal(SIGUSR1, [](int) {});
  EXPECT_THROW(LeaveSignal([] {}), Error);  // the program's own
}

}  // namespace
}  // namespace tandem::abi
