// Autograd, modules, optimizers and checkpoints through the C ABI.
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <thread>
#include <vector>

#include "capi/autograd_values.h"

namespace training_test {
namespace {

using namespace calls;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Autograd, MatchesTheClosedForm) {
  // L = sum(x^2 · w): dL/dx = 2xw, dL/dw = x^2
  const Tensor x = parameter({1, 2, 3}, {3}), w = parameter({10, 20, 30}, {3});
  const Tensor square = call("aten::mul", "Tensor", {of(x), of(x)});
  const Tensor product = call("aten::mul", "Tensor", {of(square), of(w)});
  EXPECT_EQ(tdm_tensor_requires_grad(product.get()), 1);
  EXPECT_EQ(tdm_tensor_is_leaf(product.get()), 0);
  ASSERT_OK(backward(call("aten::sum", "", {of(product)})));
  EXPECT_THAT(floats(grad(x).get()), ElementsAre(20, 80, 180));
  EXPECT_THAT(floats(grad(w).get()), ElementsAre(1, 4, 9));
  EXPECT_EQ(grad(product), nullptr);
}

TEST(Autograd, AccumulatesAndClears) {
  const Tensor x = parameter({1}, {1});
  ASSERT_OK(backward(call("aten::mul", "Scalar", {of(x), of(3)})));
  ASSERT_OK(backward(call("aten::mul", "Scalar", {of(x), of(4)})));
  EXPECT_THAT(floats(grad(x).get()), ElementsAre(7));
  ASSERT_OK(tdm_tensor_set_grad(x.get(), nullptr));
  EXPECT_EQ(grad(x), nullptr);
  const Tensor seven = tensor({7}, {1}), wrong = tensor({1, 2}, {2});
  ASSERT_OK(tdm_tensor_set_grad(x.get(), seven.get()));
  EXPECT_THAT(floats(grad(x).get()), ElementsAre(7));
  EXPECT_REFUSED(tdm_tensor_set_grad(x.get(), wrong.get()), TDM_ERROR_INVALID_ARGUMENT, "sizes [2]");
}

TEST(Autograd, GradGivesSecondDerivatives) {
  const Tensor x = parameter({3}, {1});
  const Tensor cube = call("aten::pow", "Tensor_Scalar", {of(x), of(3)});
  tdm_tensor* outputs[] = {cube.get()};
  tdm_tensor* inputs[] = {x.get()};
  tdm_tensor* first = nullptr;
  ASSERT_OK(tdm_autograd_grad(outputs, nullptr, 1, inputs, 1, 1, 1, 0, &first));
  const Tensor owned_first(first);
  EXPECT_THAT(floats(first), ElementsAre(27));
  outputs[0] = first;
  tdm_tensor* second = nullptr;
  ASSERT_OK(tdm_autograd_grad(outputs, nullptr, 1, inputs, 1, 0, 0, 0, &second));
  EXPECT_THAT(floats(Tensor(second).get()), ElementsAre(18));

  const Tensor unused = parameter({1}, {1});
  tdm_tensor* both[] = {x.get(), unused.get()};
  tdm_tensor* results[2] = {nullptr, nullptr};
  const Tensor again = call("aten::mul", "Scalar", {of(x), of(2)});
  outputs[0] = again.get();
  EXPECT_REFUSED(tdm_autograd_grad(outputs, nullptr, 1, both, 2, 1, 0, 0, results), TDM_ERROR_INVALID_ARGUMENT,
                 "not have been used");
  ASSERT_OK(tdm_autograd_grad(outputs, nullptr, 1, both, 2, 0, 0, 1, results));
  EXPECT_EQ(results[1], nullptr);
  tdm_tensor_free(results[0]);
}

TEST(Autograd, SaysWhatIsWrong) {
  const Tensor plain = tensor({1}, {1});
  EXPECT_REFUSED(backward(plain), TDM_ERROR_INVALID_ARGUMENT,
                 "does not require grad: none of its inputs has requires_grad set");
  const Tensor x = parameter({1, 2}, {2});
  const Tensor y = call("aten::mul", "Scalar", {of(x), of(2)});
  EXPECT_REFUSED(backward(y), TDM_ERROR_INVALID_ARGUMENT, "only a scalar can do without a gradient");
  tdm_tensor* roots[] = {y.get()};
  const Tensor three = tensor({1, 1, 1}, {3});
  tdm_tensor* gradients[] = {three.get()};
  EXPECT_REFUSED(tdm_autograd_backward(roots, gradients, 1, 0, 0), TDM_ERROR_INVALID_ARGUMENT, "sizes [3]");
  const Tensor sum = call("aten::sum", "", {of(call("aten::mul", "Tensor", {of(x), of(x)}))});
  ASSERT_OK(backward(sum));
  EXPECT_REFUSED(backward(sum), TDM_ERROR_INVALID_ARGUMENT, "second time");
  EXPECT_REFUSED(tdm_autograd_backward(nullptr, nullptr, 1, 0, 0), TDM_ERROR_INVALID_ARGUMENT, "'tensors' is NULL");
  EXPECT_OK(tdm_autograd_backward(nullptr, nullptr, 0, 0, 0));
  const std::int64_t one[] = {1}, ids[] = {1};
  tdm_tensor* whole = nullptr;
  ASSERT_OK(tdm_tensor_from_data(ids, 8, TDM_DTYPE_INT64, one, 1, &whole));
  const Tensor owned(whole);
  EXPECT_REFUSED(tdm_tensor_set_requires_grad(whole, 1), TDM_ERROR_INVALID_ARGUMENT, "only floating-point");
  EXPECT_REFUSED(tdm_tensor_set_requires_grad(y.get(), 0), TDM_ERROR_INVALID_ARGUMENT, "no leaf");
}

TEST(Autograd, GradModeIsAThreadsState) {
  tdm_mode* off = nullptr;
  ASSERT_OK(tdm_mode_enter_grad(0, &off));
  const Tensor x = parameter({1}, {1});
  EXPECT_EQ(tdm_tensor_requires_grad(call("aten::mul", "Scalar", {of(x), of(2)}).get()), 0);
  ASSERT_OK(tdm_mode_exit(off));
  EXPECT_EQ(tdm_tensor_requires_grad(call("aten::mul", "Scalar", {of(x), of(2)}).get()), 1);
}

TEST(Modes, SeedAndThreads) {
  const std::vector<std::int64_t> shape{4};
  ASSERT_OK(tdm_manual_seed(42));
  const auto first = floats(call("aten::rand", "", {ints(shape)}).get());
  ASSERT_OK(tdm_manual_seed(42));
  EXPECT_EQ(floats(call("aten::rand", "", {ints(shape)}).get()), first);
  std::int32_t threads = 0;
  ASSERT_OK(tdm_set_num_threads(2));
  ASSERT_OK(tdm_get_num_threads(&threads));
  EXPECT_EQ(threads, 2);
  EXPECT_REFUSED(tdm_set_num_threads(0), TDM_ERROR_INVALID_ARGUMENT, "at least 1");
  std::int32_t devices = -1;
  ASSERT_OK(tdm_cuda_device_count(&devices));
  EXPECT_GE(devices, 0);
}

TEST(Module, ForwardIsTheModulesFormula) {
  const LeakCheck leaks;
  const Module linear = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  const auto weights = parameters(linear);
  ASSERT_EQ(weights.size(), 2u);
  const float w[] = {2, 3}, b[] = {10};
  ASSERT_OK(tdm_tensor_copy_from(weights[0].get(), w, sizeof w));
  ASSERT_OK(tdm_tensor_copy_from(weights[1].get(), b, sizeof b));
  const Tensor x = tensor({1, 1, 0, 2}, {2, 2});
  EXPECT_THAT(floats(forward(linear, {of(x)}).get()), ElementsAre(15, 16));
}

TEST(Module, RecurrentOnesTakeAndGiveStates) {
  const Module lstm = module("LSTM", {option("input_size", of(3)), option("hidden_size", of(4))});
  const Tensor x = tensor(std::vector<float>(6, 0.5), {2, 1, 3});
  tdm_value results[2];
  std::size_t count = 2;
  const tdm_value input = of(x);
  ASSERT_OK(tdm_module_forward(lstm.get(), &input, 1, results, &count));
  ASSERT_EQ(count, 2u);
  EXPECT_THAT(sizes(results[0].as.tensor), ElementsAre(2, 1, 4));
  ASSERT_EQ(results[1].tag, TDM_VALUE_TUPLE);
  ASSERT_EQ(results[1].as.list.size, 2u);
  const auto* states = static_cast<const tdm_value*>(results[1].as.list.data);
  EXPECT_THAT(sizes(states[1].as.tensor), ElementsAre(1, 1, 4));
  tdm_value again[2];
  const tdm_value with_states[] = {input, results[1]};
  ASSERT_OK(tdm_module_forward(lstm.get(), with_states, 2, again, &count));
  EXPECT_NE(floats(again[0].as.tensor), floats(results[0].as.tensor));
  const auto refused = [&](const tdm_value& second, const char* why) {
    const tdm_value arguments[] = {input, second};
    EXPECT_REFUSED(tdm_module_forward(lstm.get(), arguments, 2, again, &count), TDM_ERROR_INVALID_ARGUMENT, why);
  };
  refused(states[0], "takes a tuple of two tensors as value 1 (hx), not Tensor");
  refused(list(TDM_VALUE_TUPLE, std::vector<tdm_value>{states[0]}), "both states");
  refused(list(TDM_VALUE_TUPLE, std::vector<tdm_value>{states[0], of(1)}), "both states");
  refused(list(TDM_VALUE_DICT, std::vector<tdm_value>{of("h"), states[0]}), "not GenericDict");
  refused(list(TDM_VALUE_DICT, std::vector<tdm_value>{of("h")}), "whose last key has no value");
  refused(list(TDM_VALUE_DICT, std::vector<tdm_value>{of(1), states[0]}), "must be a string, not an int");
  tdm_value cyclic = tagged(TDM_VALUE_TUPLE);
  cyclic.as.list = {&cyclic, 1};
  refused(cyclic, "a value must not contain itself");
  for (auto* values : {results, again}) {
    for (int i = 0; i < 2; ++i) tdm_value_clear(&values[i]);
  }
  count = 1;
  EXPECT_REFUSED(tdm_module_forward(lstm.get(), &input, 1, results, &count), TDM_ERROR_INVALID_ARGUMENT,
                 "gives 2 results");
}

// Each thread with its own mode, as docs/abi-threads.md has it.
TEST(Module, ThreadsShareOneForInference) {
  const Module lstm = module("LSTM", {option("input_size", of(3)), option("hidden_size", of(8)),
                                      option("num_layers", of(2)), option("dropout", of(0.5))});
  ASSERT_OK(tdm_module_train(lstm.get(), 0));
  const auto answer = [&](int request) {
    const Tensor x = tensor(std::vector<float>(12, 0.1F * static_cast<float>(request)), {4, 1, 3});
    tdm_mode* inference = nullptr;
    EXPECT_OK(tdm_mode_enter_inference(1, &inference));
    tdm_value results[2];
    std::size_t count = 2;
    const tdm_value input = of(x);
    EXPECT_OK(tdm_module_forward(lstm.get(), &input, 1, results, &count));
    auto values = floats(results[0].as.tensor);
    for (tdm_value& one : results) tdm_value_clear(&one);
    EXPECT_OK(tdm_mode_exit(inference));
    return values;
  };
  constexpr int kRequests = 8;
  std::vector<std::vector<float>> alone;
  for (int request = 0; request < kRequests; ++request) alone.push_back(answer(request));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const int request = (thread + i) % kRequests;
        EXPECT_EQ(answer(request), alone[static_cast<std::size_t>(request)]) << request;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Module, TrainAndEvalDiffer) {
  const Module dropout = module("Dropout", {option("p", of(0.5))});
  const Tensor ones = tensor(std::vector<float>(100, 1), {100});
  EXPECT_NE(floats(forward(dropout, {of(ones)}).get()), floats(ones.get()));
  ASSERT_OK(tdm_module_train(dropout.get(), 0));
  EXPECT_EQ(floats(forward(dropout, {of(ones)}).get()), floats(ones.get()));
  const Module norm = module("BatchNorm1d", {option("num_features", of(1))});
  tdm_named_tensors* buffers = nullptr;
  ASSERT_OK(tdm_module_named_buffers(norm.get(), &buffers));
  const NamedTensors owned(buffers);
  ASSERT_EQ(tdm_named_tensors_size(buffers), 3u);
  EXPECT_STREQ(tdm_named_tensors_name(buffers, 0), "running_mean");
  tdm_tensor* none = nullptr;
  EXPECT_REFUSED(tdm_named_tensors_get(buffers, 3, &none), TDM_ERROR_OUT_OF_RANGE, "3 tensors");
}

TEST(Module, MovesToAnotherDtypeUnderTheSameHandles) {
  const Module norm = module("BatchNorm1d", {option("num_features", of(2))});
  const auto weights = parameters(norm);
  ASSERT_OK(tdm_module_to(norm.get(), {TDM_DEVICE_CPU, -1}, TDM_DTYPE_FLOAT64));
  EXPECT_EQ(tdm_tensor_get_dtype(weights[0].get()), TDM_DTYPE_FLOAT64);
  tdm_named_tensors* buffers = nullptr;
  ASSERT_OK(tdm_module_named_buffers(norm.get(), &buffers));
  const NamedTensors owned(buffers);
  tdm_tensor* steps = nullptr;
  ASSERT_OK(tdm_named_tensors_get(buffers, 2, &steps));
  EXPECT_EQ(tdm_tensor_get_dtype(Tensor(steps).get()), TDM_DTYPE_INT64);  // counts stay whole
  EXPECT_REFUSED(tdm_module_to(norm.get(), {TDM_DEVICE_CPU, -1}, TDM_DTYPE_INT32), TDM_ERROR_INVALID_ARGUMENT,
                 "floating-point");
}

TEST(Module, SaysWhatIsWrong) {
  tdm_module* out = nullptr;
  const auto create = [&](const char* type, const std::vector<tdm_option>& options) {
    return tdm_module_create(type, options.data(), options.size(), &out);
  };
  EXPECT_REFUSED(create("Liner", {}), TDM_ERROR_NOT_FOUND, "Linear");
  EXPECT_REFUSED(create("Linear", {}), TDM_ERROR_INVALID_ARGUMENT, "'in_features' is missing");
  const auto in = option("in_features", of(2)), out_features = option("out_features", of(1));
  EXPECT_REFUSED(create("Linear", {in, out_features, option("biass", of(true))}), TDM_ERROR_NOT_FOUND,
                 "in_features, out_features, bias");
  EXPECT_REFUSED(create("Linear", {in, option("out_features", of("many"))}), TDM_ERROR_INVALID_ARGUMENT,
                 "'out_features' must be an integer");
  EXPECT_REFUSED(create("Linear", {in, in, out_features}), TDM_ERROR_INVALID_ARGUMENT, "twice");
  EXPECT_REFUSED(create("Linear", {in, option("out_features", of(-1))}), TDM_ERROR_INVALID_ARGUMENT, "negative");
  EXPECT_REFUSED(create("Conv2d", {option("in_channels", of(1)), option("out_channels", of(1)),
                                   option("kernel_size", of(3)), option("padding_mode", of("odd"))}),
                 TDM_ERROR_INVALID_ARGUMENT, "'circular'");
  const std::vector<std::int64_t> three{1, 2, 3};
  EXPECT_REFUSED(create("MaxPool2d", {option("kernel_size", ints(three))}), TDM_ERROR_INVALID_ARGUMENT,
                 "one number or 2");
  EXPECT_REFUSED(create("MultiheadAttention", {option("embed_dim", of(4)), option("num_heads", of(0))}),
                 TDM_ERROR_INVALID_ARGUMENT, "at least 1");
  EXPECT_REFUSED(tdm_module_create(nullptr, nullptr, 0, &out), TDM_ERROR_INVALID_ARGUMENT, "'type' is NULL");
  EXPECT_REFUSED(tdm_module_create("ReLU", nullptr, 2, &out), TDM_ERROR_INVALID_ARGUMENT, "'options' is NULL");
  EXPECT_EQ(out, nullptr);
  const Module relu = module("ReLU", {});
  const Module loss = module("MSELoss", {});
  const Tensor x = tensor({1}, {1});
  tdm_value result{};
  std::size_t count = 1;
  const tdm_value values[] = {of(x), tagged(TDM_VALUE_NONE), of("x")};
  EXPECT_REFUSED(tdm_module_forward(relu.get(), values, 2, &result, &count), TDM_ERROR_INVALID_ARGUMENT,
                 "ReLU: forward takes at most 1");
  EXPECT_REFUSED(tdm_module_forward(loss.get(), values, 2, &result, &count), TDM_ERROR_INVALID_ARGUMENT,
                 "MSELoss: forward needs a tensor as value 1");
  EXPECT_REFUSED(tdm_module_forward(relu.get(), values + 2, 1, &result, &count), TDM_ERROR_INVALID_ARGUMENT,
                 "takes a tensor");
  EXPECT_REFUSED(tdm_module_forward(nullptr, values, 1, &result, &count), TDM_ERROR_INVALID_ARGUMENT, "'module'");
  tdm_strings* types = nullptr;
  ASSERT_OK(tdm_module_types(&types));
  EXPECT_EQ(tdm_strings_data(types, tdm_strings_count(types)), nullptr);
  EXPECT_EQ(tdm_strings_size(types, SIZE_MAX), 0u);
  EXPECT_THAT(take_strings(types), testing::Contains("Conv2d"));
}

std::vector<tdm_option> sgd_options() {
  return {option("lr", of(0.1)), option("momentum", of(0.9))};
}

Optimizer optimizer(const char* type, const std::vector<Tensor>& weights, const std::vector<tdm_option>& options) {
  tdm_optimizer* made = nullptr;
  const auto pointers = borrowed(weights);
  EXPECT_OK(tdm_optimizer_create(type, pointers.data(), pointers.size(), options.data(), options.size(), &made));
  return Optimizer(made);
}

void train_step(const Module& model, const Module& loss, const Optimizer& with, const Tensor& x, const Tensor& y) {
  ASSERT_OK(tdm_optimizer_zero_grad(with.get(), 1));
  ASSERT_OK(backward(forward(loss, {of(forward(model, {of(x)})), of(y)})));
  ASSERT_OK(tdm_optimizer_step(with.get()));
}

std::vector<float> all(const std::vector<Tensor>& weights) {
  std::vector<float> values;
  for (const auto& one : weights) {
    for (const float value : floats(one.get())) values.push_back(value);
  }
  return values;
}

// A model, a file with it and its optimizer in the middle, and a second model that goes on from the file.
void resumes(const char* type, const std::vector<tdm_option>& options) {
  SCOPED_TRACE(type);
  const LeakCheck leaks;
  const auto linear = [] { return module("Linear", {option("in_features", of(3)), option("out_features", of(2))}); };
  const Module loss = module("MSELoss", {});
  const Tensor x = tensor({1, 2, 3, -1, 0.5, 2}, {2, 3}), y = tensor({1, 0, 0, 1}, {2, 2});
  const Module first = linear();
  const auto weights = parameters(first);
  const Optimizer optimizer_1 = optimizer(type, weights, options);
  for (int i = 0; i < 3; ++i) train_step(first, loss, optimizer_1, x, y);

  // Save both.
  tdm_named_tensors* state = nullptr;
  ASSERT_OK(tdm_optimizer_state(optimizer_1.get(), &state));
  const NamedTensors owned_state(state);
  std::vector<std::string> names{"weight", "bias"};
  std::vector<Tensor> extra;
  std::vector<tdm_tensor*> tensors = borrowed(weights);
  for (std::size_t i = 0; i < tdm_named_tensors_size(state); ++i) {
    tdm_tensor* one = nullptr;
    ASSERT_OK(tdm_named_tensors_get(state, i, &one));
    names.emplace_back(tdm_named_tensors_name(state, i));
    extra.emplace_back(one);
    tensors.push_back(one);
  }
  std::vector<const char*> pointers;
  for (const auto& name : names) pointers.push_back(name.c_str());
  const std::string path = testing::TempDir() + "resume." + std::to_string(getpid()) + ".safetensors";
  const char *keys[] = {"note", "a\nkey"}, *values[] = {"step 3", "back\\slash"};
  ASSERT_OK(tdm_safetensors_save(path.c_str(), pointers.data(), tensors.data(), tensors.size(), keys, values, 2));
  for (int i = 0; i < 3; ++i) train_step(first, loss, optimizer_1, x, y);

  // Load into another model and go on.
  tdm_named_tensors* loaded = nullptr;
  tdm_strings *key_list = nullptr, *value_list = nullptr;
  ASSERT_OK(tdm_safetensors_load(path.c_str(), nullptr, &loaded, &key_list, &value_list));
  const NamedTensors owned(loaded);
  EXPECT_EQ(take_strings(key_list), (std::vector<std::string>{"a\nkey", "note"}));
  EXPECT_EQ(take_strings(value_list), (std::vector<std::string>{"back\\slash", "step 3"}));
  const Module second = linear();
  const auto other = parameters(second);
  std::vector<const char*> state_names;
  std::vector<Tensor> state_tensors;
  for (std::size_t i = 0; i < tdm_named_tensors_size(loaded); ++i) {
    tdm_tensor* one = nullptr;
    ASSERT_OK(tdm_named_tensors_get(loaded, i, &one));
    Tensor held(one);
    const std::string name = tdm_named_tensors_name(loaded, i);
    if (name == "weight" || name == "bias") {
      const auto bytes = floats(one);
      ASSERT_OK(tdm_tensor_copy_from(other[name == "bias"].get(), bytes.data(), bytes.size() * sizeof(float)));
    } else {
      state_names.push_back(tdm_named_tensors_name(loaded, i));
      state_tensors.push_back(std::move(held));
    }
  }
  const Optimizer optimizer_2 = optimizer(type, other, options);
  const auto state_pointers = borrowed(state_tensors);
  ASSERT_OK(tdm_optimizer_load_state(optimizer_2.get(), state_names.data(), state_pointers.data(), state_names.size()));
  for (int i = 0; i < 3; ++i) train_step(second, loss, optimizer_2, x, y);
  EXPECT_EQ(all(weights), all(other));
  unlink(path.c_str());
}

tdm_value option_of(const Optimizer& optimizer, std::int64_t group, const char* name) {
  tdm_value value{};
  EXPECT_OK(tdm_optimizer_get_option(optimizer.get(), group, name, &value));
  return value;
}

TEST(Optimizer, GroupsHaveSettingsOfTheirOwn) {
  const Module model = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  const auto weights = parameters(model);
  const auto pointers = borrowed(weights);
  const tdm_option settings[] = {option("lr", of(0.5)), option("weight_decay", of(0.1))};
  tdm_optimizer* made = nullptr;
  ASSERT_OK(tdm_optimizer_create("AdamW", pointers.data(), 1, settings, 2, &made));
  const Optimizer adam(made);
  const tdm_option own[] = {option("weight_decay", of(0.0)), option("amsgrad", of(true))};
  tdm_tensor* const second[] = {pointers[1]};
  ASSERT_OK(tdm_optimizer_add_group(adam.get(), second, 1, own, 2));
  std::int64_t groups = 0;
  ASSERT_OK(tdm_optimizer_group_count(adam.get(), &groups));
  EXPECT_EQ(groups, 2);
  EXPECT_EQ(option_of(adam, 1, "lr").as.real, 0.5);
  EXPECT_EQ(option_of(adam, 1, "weight_decay").as.real, 0);
  const tdm_value amsgrad = option_of(adam, 1, "amsgrad");
  EXPECT_EQ(amsgrad.tag, TDM_VALUE_BOOL);
  EXPECT_EQ(amsgrad.as.boolean, 1);
  tdm_value betas = option_of(adam, TDM_ALL_GROUPS, "betas");
  ASSERT_EQ(betas.tag, TDM_VALUE_DOUBLE_LIST);
  ASSERT_EQ(betas.as.list.size, 2u);
  EXPECT_EQ(static_cast<const double*>(betas.as.list.data)[1], 0.999);
  tdm_value_clear(&betas);

  tdm_value value{};
  EXPECT_REFUSED(tdm_optimizer_get_option(adam.get(), TDM_ALL_GROUPS, "weight_decay", &value),
                 TDM_ERROR_INVALID_ARGUMENT, "differs between groups (0.1, 0)");
  const tdm_option lr = option("lr", of(0.25));
  ASSERT_OK(tdm_optimizer_set_option(adam.get(), 1, &lr));
  EXPECT_EQ(option_of(adam, 0, "lr").as.real, 0.5);
  EXPECT_REFUSED(tdm_optimizer_set_option(adam.get(), 2, &lr), TDM_ERROR_OUT_OF_RANGE, "no group 2; it has 2");
  EXPECT_REFUSED(tdm_optimizer_get_option(adam.get(), -2, "lr", &value), TDM_ERROR_OUT_OF_RANGE, "TDM_ALL_GROUPS");
  EXPECT_REFUSED(tdm_optimizer_add_group(adam.get(), nullptr, 0, nullptr, 0), TDM_ERROR_INVALID_ARGUMENT, "is empty");
  EXPECT_REFUSED(tdm_optimizer_add_group(adam.get(), second, 1, nullptr, 0), TDM_ERROR_INVALID_ARGUMENT,
                 "parameter 2 is there a second time");
}

TEST(Optimizer, ResumesWhereItWas) {
  resumes("SGD", sgd_options());
  resumes("Adam", {option("lr", of(0.01)), option("amsgrad", of(true))});
  resumes("AdamW", {option("lr", of(0.01))});
  resumes("Adagrad", {option("lr", of(0.05)), option("lr_decay", of(0.1))});
  resumes("RMSprop", {option("momentum", of(0.9)), option("centered", of(true))});
}

TEST(Optimizer, OptionsByName) {
  const Module model = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  const auto weights = parameters(model);
  const Optimizer adam = optimizer("Adam", weights, {});
  EXPECT_EQ(option_of(adam, TDM_ALL_GROUPS, "lr").as.real, 1e-3);
  const tdm_option lr = option("lr", of(0.5)), negative = option("lr", of(-1)), typo = option("rate", of(1));
  ASSERT_OK(tdm_optimizer_set_option(adam.get(), TDM_ALL_GROUPS, &lr));
  EXPECT_EQ(option_of(adam, 0, "lr").as.real, 0.5);
  EXPECT_REFUSED(tdm_optimizer_set_option(adam.get(), 0, &negative), TDM_ERROR_INVALID_ARGUMENT, "at least 0");
  EXPECT_REFUSED(tdm_optimizer_set_option(adam.get(), 0, &typo), TDM_ERROR_NOT_FOUND, "weight_decay");
  tdm_value value{};
  EXPECT_REFUSED(tdm_optimizer_get_option(adam.get(), 0, "rate", &value), TDM_ERROR_NOT_FOUND, "weight_decay");
  const std::vector<double> betas{0.8, 0.9};
  const tdm_option both = option("betas", list(TDM_VALUE_DOUBLE_LIST, betas));
  ASSERT_OK(tdm_optimizer_set_option(adam.get(), TDM_ALL_GROUPS, &both));
  EXPECT_EQ(option_of(adam, TDM_ALL_GROUPS, "beta2").as.real, 0.9);

  tdm_optimizer* out = nullptr;
  auto pointers = borrowed(weights);
  EXPECT_REFUSED(tdm_optimizer_create("Adamm", pointers.data(), 2, nullptr, 0, &out), TDM_ERROR_NOT_FOUND, "AdamW");
  pointers[1] = pointers[0];
  EXPECT_REFUSED(tdm_optimizer_create("SGD", pointers.data(), 2, nullptr, 0, &out), TDM_ERROR_INVALID_ARGUMENT,
                 "parameter 1 is there a second time");
  const tdm_option nesterov = option("nesterov", of(true));
  EXPECT_REFUSED(tdm_optimizer_create("SGD", pointers.data(), 1, &nesterov, 1, &out), TDM_ERROR_INVALID_ARGUMENT,
                 "momentum");
  const char* names[] = {"0.momentum"};
  EXPECT_REFUSED(tdm_optimizer_load_state(adam.get(), names, pointers.data(), 1), TDM_ERROR_INVALID_ARGUMENT,
                 "exp_avg");
  const char* far[] = {"7.exp_avg"};
  EXPECT_REFUSED(tdm_optimizer_load_state(adam.get(), far, pointers.data(), 1), TDM_ERROR_INVALID_ARGUMENT,
                 "there are 2");
  const char* shape[] = {"1.exp_avg"};
  EXPECT_REFUSED(tdm_optimizer_load_state(adam.get(), shape, pointers.data(), 1), TDM_ERROR_INVALID_ARGUMENT,
                 "sizes [1, 2]");
}

TEST(Safetensors, MissingAndBrokenFiles) {
  tdm_named_tensors* out = nullptr;
  EXPECT_REFUSED(tdm_safetensors_load("/nowhere/at.all", nullptr, &out, nullptr, nullptr), TDM_ERROR_NOT_FOUND,
                 "/nowhere/at.all");
  const Tensor t = tensor({1}, {1});
  const char* names[] = {"t"};
  tdm_tensor* tensors[] = {t.get()};
  EXPECT_REFUSED(tdm_safetensors_save("/nowhere/at.all", names, tensors, 1, nullptr, nullptr, 0), TDM_ERROR_NOT_FOUND,
                 "/nowhere/at.all");
  EXPECT_REFUSED(tdm_safetensors_load(nullptr, nullptr, &out, nullptr, nullptr), TDM_ERROR_INVALID_ARGUMENT, "'path'");
}

}  // namespace
}  // namespace training_test
