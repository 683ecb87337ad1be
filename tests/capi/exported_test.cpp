// Programs of torch.export through the C ABI; the archives are those of tests/cpp/exported/models.py.
#include <cstddef>

#include "capi/autograd_values.h"
#include "cpp/data/temp_dir.h"

namespace exported_test {
namespace {

using namespace calls;
using testing::ElementsAre;
using testing::HasSubstr;

std::string file(const std::string& name) {
  return std::string(EXPORTED_FILES "/") + name;
}

Module load(const std::string& name, const char* other_mode = nullptr) {
  tdm_exported_options options = TDM_EXPORTED_OPTIONS_INIT;
  options.other_mode = other_mode;
  tdm_module* made = nullptr;
  EXPECT_OK(tdm_exported_load(file(name).c_str(), &options, &made));
  return Module(made);
}

tdm_error* call_program(const Module& program, const std::vector<tdm_value>& arguments, tdm_value* out) {
  return tdm_exported_call(program.get(), arguments.data(), arguments.size(), out);
}

const tdm_value* elements(const tdm_value& value) {
  return static_cast<const tdm_value*>(value.as.list.data);
}

Tensor ones(const std::vector<std::int64_t>& shape) {
  tdm_value dtype{};
  dtype.tag = TDM_VALUE_DTYPE;
  dtype.as.enumeration = TDM_DTYPE_FLOAT64;
  return call("aten::ones", "", {ints(shape), dtype});
}

std::vector<std::string> names_of(const Module& program) {
  tdm_named_tensors* list = nullptr;
  EXPECT_OK(tdm_module_named_parameters(program.get(), &list));
  const NamedTensors named(list);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tdm_named_tensors_size(list); ++i) names.emplace_back(tdm_named_tensors_name(list, i));
  return names;
}

class Exported : public testing::Test {
  const LeakCheck leaks;
};

TEST_F(Exported, ProgramsAreModulesThatTrain) {
  const Module program = load("mlp.pt2");
  EXPECT_THAT(names_of(program), ElementsAre("layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.2.bias",
                                             "layers.4.weight", "layers.4.bias"));
  const Tensor x = ones({2, 6});
  const std::vector<Tensor> weights = parameters(program);
  const std::vector<tdm_tensor*> pointers = borrowed(weights);
  const std::vector<tdm_option> settings{option("lr", of(0.1))};
  tdm_optimizer* optimizer = nullptr;
  ASSERT_OK(tdm_optimizer_create("SGD", pointers.data(), pointers.size(), settings.data(), settings.size(), &optimizer));
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) {
    const Tensor y = forward(program, {of(x)});
    const Tensor loss = call("aten::mean", "", {of(call("aten::square", "", {of(y)}))});
    losses.emplace_back();
    EXPECT_OK(tdm_tensor_item_double(loss.get(), &losses.back()));
    EXPECT_OK(tdm_optimizer_zero_grad(optimizer, 1));
    EXPECT_OK(backward(loss));
    EXPECT_OK(tdm_optimizer_step(optimizer));
  }
  EXPECT_LT(losses[2], losses[1]);
  EXPECT_LT(losses[1], losses[0]);
  tdm_optimizer_free(optimizer);

  const tandem::test::TempDir folder;
  const std::string path = folder / "trained.pt2";
  ASSERT_OK(tdm_exported_save(program.get(), path.c_str()));
  tdm_module* again = nullptr;
  ASSERT_OK(tdm_exported_load(path.c_str(), nullptr, &again));
  const Module loaded(again);
  tdm_value given{};
  ASSERT_OK(call_program(loaded, {of(x)}, &given));
  ASSERT_EQ(given.tag, TDM_VALUE_TENSOR);
  tdm_tensor* shared = nullptr;
  ASSERT_OK(tdm_tensor_share(given.as.tensor, &shared));
  const Tensor first(shared), second = forward(program, {of(x)});
  tdm_value same{};
  EXPECT_OK(call(find("aten::equal"), {of(first), of(second)}, &same));
  EXPECT_TRUE(same.as.boolean);
  tdm_value_clear(&given);
}

TEST_F(Exported, ValuesNest) {
  const Module program = load("regions.pt2");
  tdm_strings *names = nullptr, *descriptions = nullptr;
  ASSERT_OK(tdm_exported_inputs(program.get(), &names, &descriptions));
  EXPECT_THAT(take_strings(names), ElementsAre("x", "count", "name", "options_weights_0", "options_factor"));
  EXPECT_THAT(take_strings(descriptions)[3], "Double[3, 3]");
  const Tensor x = ones({4, 3}), weight = ones({3, 3}), factor = ones({1});
  const std::vector<tdm_value> weights{of(weight)};
  const std::vector<tdm_value> options{of("weights"), list(TDM_VALUE_TUPLE, weights), of("factor"), of(factor)};
  tdm_value result{};
  ASSERT_OK(call_program(program, {of(x), of(3), of("sum"), list(TDM_VALUE_DICT, options)}, &result));
  ASSERT_EQ(result.tag, TDM_VALUE_TUPLE);
  ASSERT_EQ(result.as.list.size, 5u);
  EXPECT_EQ(elements(result)[0].tag, TDM_VALUE_DICT);
  EXPECT_EQ(elements(result)[1].tag, TDM_VALUE_TUPLE);
  EXPECT_EQ(elements(result)[2].as.integer, 5);
  EXPECT_EQ(elements(result)[3].tag, TDM_VALUE_NONE);
  tdm_value_clear(&result);
  EXPECT_REFUSED(call_program(program, {of(x), of(4), of("sum"), list(TDM_VALUE_DICT, options)}, &result),
                 TDM_ERROR_INVALID_ARGUMENT, "count must be 3");
  EXPECT_EQ(result.tag, TDM_VALUE_NONE);
}

TEST_F(Exported, ModesAreThoseOfTheArchives) {
  const Module both = load("cnn.pt2", file("cnn_eval.pt2").c_str()), one = load("cnn.pt2");
  EXPECT_OK(tdm_module_train(both.get(), 0));
  EXPECT_OK(tdm_module_train(both.get(), 1));
  EXPECT_OK(tdm_module_train(one.get(), 1));
  EXPECT_REFUSED(tdm_module_train(one.get(), 0), TDM_ERROR_UNSUPPORTED, "was exported in training mode");
}

TEST_F(Exported, TiedParametersHaveAllNames) {
  const Module program = load("decoder.pt2");
  tdm_named_tensors* list = nullptr;
  ASSERT_OK(tdm_module_named_parameters(program.get(), &list));
  const NamedTensors named(list);
  std::vector<Tensor> tied;
  for (std::size_t i = 0; i < tdm_named_tensors_size(list); ++i) {
    const std::string name = tdm_named_tensors_name(list, i);
    if (name != "lm_head.weight" && name != "model.embed_tokens.weight") continue;
    tdm_tensor* found = nullptr;
    ASSERT_OK(tdm_named_tensors_get(list, i, &found));
    tied.emplace_back(found);
  }
  ASSERT_EQ(tied.size(), 2u);
  EXPECT_TRUE(tdm_tensor_is_same(tied[0].get(), tied[1].get()));
}

TEST_F(Exported, OperatorsOfALoadedLibraryTrain) {
  tdm_module* made = nullptr;
  EXPECT_REFUSED(tdm_exported_load(file("custom.pt2").c_str(), nullptr, &made), TDM_ERROR_UNSUPPORTED,
                 "tandem_test.scaled");
  ASSERT_OK(tdm_load_library(EXTENSION));
  const Module program = load("custom.pt2");
  EXPECT_OK(backward(call("aten::sum", "", {of(forward(program, {of(ones({4, 3}))}))})));
  // Four rows of ones, times the operator's 3.
  const Tensor twelves = call("aten::mul", "Scalar", {of(ones({2, 3})), of(12.0)});
  tdm_value as_expected{};
  EXPECT_OK(call(find("aten::equal"), {of(grad(parameters(program)[0])), of(twelves)}, &as_expected));
  EXPECT_TRUE(as_expected.as.boolean);
}

TEST_F(Exported, CompiledCodeRunsWithoutGradients) {
  tdm_exported_options options = TDM_EXPORTED_OPTIONS_INIT;
  options.compiled = COMPILED_MLP_PACKAGE;
  tdm_module* made = nullptr;
  ASSERT_OK(tdm_exported_load(file("mlp_eval.pt2").c_str(), &options, &made));
  const Module program(made);
  // The compiled code gives its results column by column: see tests/cpp/exported/compiled_mlp.cpp.
  const Tensor x = ones({4, 6}), by_graph = forward(program, {of(x)});
  EXPECT_EQ(tdm_tensor_strides(by_graph.get())[0], 3);
  tdm_mode* no_grad = nullptr;
  EXPECT_OK(tdm_mode_enter_grad(0, &no_grad));
  const Tensor y = forward(program, {of(x)});
  EXPECT_OK(tdm_mode_exit(no_grad));
  EXPECT_EQ(tdm_tensor_strides(y.get())[0], 1);
  const Tensor difference = call("aten::sub", "Tensor", {of(y), of(by_graph), of(1.0)});
  const Tensor squares = call("aten::mean", "", {of(call("aten::square", "", {of(difference)}))});
  double error = 1;
  EXPECT_OK(tdm_tensor_item_double(squares.get(), &error));
  EXPECT_LT(error, 1e-24);
  made = nullptr;
  EXPECT_REFUSED(tdm_exported_load(file("cnn_eval.pt2").c_str(), &options, &made), TDM_ERROR_INVALID_ARGUMENT,
                 "was compiled from another program");
  EXPECT_EQ(made, nullptr);
}

TEST_F(Exported, Mistakes) {
  tdm_module* made = nullptr;
  EXPECT_REFUSED(tdm_exported_load("/nowhere/a.pt2", nullptr, &made), TDM_ERROR_NOT_FOUND, "/nowhere/a.pt2");
  EXPECT_REFUSED(tdm_exported_load(__FILE__, nullptr, &made), TDM_ERROR_DATA_LOSS, "is no archive of torch.export.save");
  EXPECT_REFUSED(tdm_exported_load(JIT_FILES "/mlp.pt", nullptr, &made), TDM_ERROR_UNSUPPORTED, "is a TorchScript module");
  const Module linear = calls::module("Linear", {option("in_features", of(1)), option("out_features", of(1))});
  EXPECT_REFUSED(tdm_exported_save(linear.get(), "a.pt2"), TDM_ERROR_INVALID_ARGUMENT, "is of type Linear, and no exported program");
  const Module program = load("mlp.pt2");
  const Tensor wide = ones({2, 7});
  tdm_value result{};
  EXPECT_REFUSED(call_program(program, {of(wide)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "size 1 of x is 7, but the program was exported for 6");
}

}  // namespace
}  // namespace exported_test
