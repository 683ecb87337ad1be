// TorchScript through the C ABI; the files are those of tests/jit/models.py.
#include <cstddef>
#include <thread>

#include "capi/autograd_values.h"
#include "cpp/data/temp_dir.h"

namespace jit_test {
namespace {

using namespace calls;
using testing::ElementsAre;
using testing::HasSubstr;

std::string file(const std::string& name) {
  return std::string(JIT_FILES "/") + name;
}

Module load(const std::string& name) {
  tdm_module* made = nullptr;
  EXPECT_OK(tdm_jit_load(file(name).c_str(), &made));
  return Module(made);
}

Module compile(const char* source) {
  tdm_module* made = nullptr;
  EXPECT_OK(tdm_jit_compile(source, &made));
  return Module(made);
}

tdm_error* call_method(const Module& module, const char* method, const std::vector<tdm_value>& arguments,
                       tdm_value* out) {
  return tdm_jit_call(module.get(), method, arguments.data(), arguments.size(), out);
}

class Named {
 public:
  explicit Named(tdm_named_tensors* list) : list_(list) {}
  Tensor operator[](const std::string& name) const {
    for (std::size_t i = 0; i < tdm_named_tensors_size(list_.get()); ++i) {
      if (tdm_named_tensors_name(list_.get(), i) != name) continue;
      tdm_tensor* found = nullptr;
      EXPECT_OK(tdm_named_tensors_get(list_.get(), i, &found));
      return Tensor(found);
    }
    ADD_FAILURE() << "no " << name;
    return nullptr;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < tdm_named_tensors_size(list_.get()); ++i)
      all.emplace_back(tdm_named_tensors_name(list_.get(), i));
    return all;
  }

 private:
  NamedTensors list_;
};

Named parameters_of(const Module& module) {
  tdm_named_tensors* list = nullptr;
  EXPECT_OK(tdm_module_named_parameters(module.get(), &list));
  return Named(list);
}

Named expected() {
  tdm_named_tensors* list = nullptr;
  EXPECT_OK(tdm_safetensors_load(file("expected.safetensors").c_str(), nullptr, &list, nullptr, nullptr));
  return Named(list);
}

bool close(const Tensor& found, const Tensor& wanted) {
  tdm_value result{};
  EXPECT_OK(call(find("aten::allclose"), {of(found), of(wanted), of(1e-10), of(1e-12)}, &result));
  return result.as.boolean != 0;
}

Tensor select(const Tensor& tensor, std::int64_t index) {
  return call("aten::select", "int", {of(tensor), of(0), of(index)});
}

const tdm_value* elements(const tdm_value& value) {
  return static_cast<const tdm_value*>(value.as.list.data);
}

double number(const tdm_value& value) {
  double found = 0;
  EXPECT_EQ(value.tag, TDM_VALUE_TENSOR);
  EXPECT_OK(tdm_tensor_item_double(value.as.tensor, &found));
  return found;
}

class Jit : public testing::Test {
  const LeakCheck leaks;
};

TEST_F(Jit, ModulesAreModules) {
  const Module module = load("norm.pt");
  EXPECT_THAT(parameters_of(module).names(),
              ElementsAre("first.weight", "first.bias", "norm.weight", "norm.bias", "last.weight", "last.bias"));
  const Named reference = expected();
  const Tensor x = select(select(reference["inputs"], 0), 0);
  EXPECT_OK(tdm_module_train(module.get(), 0));
  EXPECT_EQ(tdm_module_is_training(module.get()), 0);
  EXPECT_TRUE(close(forward(module, {of(x)}), reference["norm.eval"]));
  EXPECT_OK(tdm_module_train(module.get(), 1));
  EXPECT_EQ(tdm_module_is_training(module.get()), 1);
  EXPECT_TRUE(close(forward(module, {of(x)}), reference["norm.train"]));
  tdm_module* copied = nullptr;
  EXPECT_OK(tdm_module_clone(module.get(), &copied));
  const Module copy(copied);
  const Tensor own = parameters_of(copy)["first.weight"], others = parameters_of(module)["first.weight"];
  EXPECT_FALSE(tdm_tensor_is_same(own.get(), others.get()));
  EXPECT_TRUE(close(own, others));
  EXPECT_OK(tdm_module_to(module.get(), {TDM_UNCHANGED, 0}, TDM_DTYPE_FLOAT32));
  EXPECT_EQ(tdm_tensor_get_dtype(others.get()), TDM_DTYPE_FLOAT32);
  const Tensor small = tensor({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  EXPECT_EQ(tdm_tensor_get_dtype(forward(module, {of(small)}).get()), TDM_DTYPE_FLOAT32);
}

TEST_F(Jit, TrainsUnderDdpAsInPython) {
  tdm_store* store = nullptr;
  ASSERT_OK(tdm_store_hash(&store));
  Module trained;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
      options.rank = rank;
      options.world_size = 2;
      options.timeout_ms = 20000;
      tdm_process_group* group = nullptr;
      EXPECT_OK(tdm_process_group_create(&options, store, &group));
      Module module = load("mlp.pt");
      const std::vector<Tensor> weights = parameters(module);
      const std::vector<tdm_tensor*> pointers = borrowed(weights);
      const std::vector<const char*> names(pointers.size(), "a weight");
      tdm_ddp* ddp = nullptr;
      EXPECT_OK(tdm_ddp_create(group, pointers.data(), names.data(), pointers.size(), nullptr, 0, nullptr, &ddp));
      const std::vector<tdm_option> settings{option("lr", of(0.1)), option("momentum", of(0.9))};
      tdm_optimizer* optimizer = nullptr;
      EXPECT_OK(
          tdm_optimizer_create("SGD", pointers.data(), pointers.size(), settings.data(), settings.size(), &optimizer));
      const Named reference = expected();
      const Tensor inputs = select(reference["inputs"], rank), targets = select(reference["targets"], rank);
      for (int step = 0; step < 20; ++step) {
        EXPECT_OK(tdm_optimizer_zero_grad(optimizer, 1));
        EXPECT_OK(tdm_ddp_prepare_forward(ddp, 1, nullptr, 0, nullptr));
        const Tensor output = forward(module, {of(select(inputs, step))});
        tdm_value given = of(output), prepared{};
        EXPECT_OK(tdm_ddp_prepare_backward(ddp, &given, 1, &prepared));
        const Tensor loss = call("aten::mse_loss", "", {prepared, of(select(targets, step))});
        EXPECT_OK(backward(loss));
        EXPECT_OK(tdm_optimizer_step(optimizer));
        tdm_value_clear(&prepared);
      }
      tdm_optimizer_free(optimizer);
      tdm_ddp_free(ddp);
      tdm_process_group_free(group);
      if (rank == 0) trained = std::move(module);
    });
  }
  for (auto& rank : ranks) rank.join();
  tdm_store_free(store);
  const tandem::test::TempDir folder;
  const std::string path = folder / "mlp.pt";
  EXPECT_OK(tdm_jit_save(trained.get(), path.c_str()));
  tdm_module* again = nullptr;
  ASSERT_OK(tdm_jit_load(path.c_str(), &again));
  const Module loaded(again);
  const Named found = parameters_of(loaded), reference = expected();
  for (const std::string& name : found.names())
    EXPECT_TRUE(close(found[name], reference["mlp.trained." + name])) << name;
}

TEST_F(Jit, MethodsTakeAndGiveNestedValues) {
  const Module module = load("nested.pt");
  tdm_strings* methods = nullptr;
  ASSERT_OK(tdm_jit_methods(module.get(), &methods));
  EXPECT_THAT(take_strings(methods), ElementsAre("check", "forward", "numbers", "point", "product", "shift"));
  const Tensor one = tensor({1}, {1}), two = tensor({2}, {1});
  const std::vector<tdm_value> pair{of(one), of(two)}, parts{of(two)}, named{of("a"), of(one), of("b"), of(two)};
  tdm_value result{};
  ASSERT_OK(call_method(module, "forward",
                        {list(TDM_VALUE_TUPLE, pair), list(TDM_VALUE_LIST, parts), list(TDM_VALUE_DICT, named), of(10)},
                        &result));
  ASSERT_EQ(result.tag, TDM_VALUE_DICT);
  ASSERT_EQ(result.as.list.size, 4u);
  const tdm_value& all = elements(result)[1];
  ASSERT_EQ(all.tag, TDM_VALUE_TUPLE);
  EXPECT_EQ(number(elements(all)[0]), 12);
  ASSERT_EQ(elements(all)[1].tag, TDM_VALUE_TENSOR_LIST);
  tdm_value_clear(&result);

  const std::vector<std::int64_t> counts{1, 2}, row{1, 2, 3};
  const std::vector<tdm_value> table{of(7), of(0.5), of(8), of(2)},
      rows{ints(row), list(TDM_VALUE_LIST, std::vector<tdm_value>{})};
  const std::vector<const char*> names{"x", "y"};
  ASSERT_OK(call_method(
      module, "numbers",
      {ints(counts), list(TDM_VALUE_DICT, table), list(TDM_VALUE_STRING_LIST, names), list(TDM_VALUE_LIST, rows)},
      &result));
  ASSERT_EQ(result.tag, TDM_VALUE_TUPLE);
  ASSERT_EQ(result.as.list.size, 4u);
  EXPECT_EQ(elements(result)[0].as.integer, 3);
  const tdm_value& values = elements(result)[1];
  ASSERT_EQ(values.tag, TDM_VALUE_DICT);
  EXPECT_EQ(elements(values)[1].tag, TDM_VALUE_DOUBLE_LIST);
  const tdm_value& reversed = elements(result)[2];
  ASSERT_EQ(reversed.tag, TDM_VALUE_LIST);
  ASSERT_EQ(reversed.as.list.size, 2u);
  ASSERT_EQ(elements(reversed)[0].tag, TDM_VALUE_INT_LIST);
  EXPECT_EQ(static_cast<const std::int64_t*>(elements(reversed)[0].as.list.data)[0], 3);
  EXPECT_EQ(elements(reversed)[1].as.list.size, 0u);
  EXPECT_EQ(elements(result)[3].tag, TDM_VALUE_BOOL);
  tdm_value_clear(&result);
}

TEST_F(Jit, MistakesNameTheSchema) {
  const Module module = load("nested.pt");
  const Tensor one = tensor({1}, {1}), below = tensor({-1}, {1});
  tdm_value result{};
  EXPECT_REFUSED(call_method(module, "hide", {}, &result), TDM_ERROR_NOT_FOUND,
                 "no method 'hide'; it has check, forward");
  EXPECT_REFUSED(call_method(module, "shift", {of(one), of("x")}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "'by' must be of type int, and is a str: shift(x: Tensor, by: Optional[int] = None) -> Tensor");
  EXPECT_REFUSED(call_method(module, "check", {of(below)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "ValueError: an element is negative");
  EXPECT_EQ(result.tag, TDM_VALUE_NONE);
  const Module linear = calls::module("Linear", {option("in_features", of(1)), option("out_features", of(1))});
  EXPECT_REFUSED(call_method(linear, "forward", {of(one)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "is of type Linear, and none of TorchScript");
  EXPECT_REFUSED(tdm_jit_save(linear.get(), "a.pt"), TDM_ERROR_INVALID_ARGUMENT, "none of TorchScript");
  std::size_t count = 0;
  EXPECT_REFUSED(tdm_module_forward(module.get(), nullptr, 0, nullptr, &count), TDM_ERROR_INVALID_ARGUMENT,
                 "argument 'pair' is missing");
  tdm_module* none = nullptr;
  EXPECT_REFUSED(tdm_jit_load("/nowhere/a.pt", &none), TDM_ERROR_NOT_FOUND, "/nowhere/a.pt");
  EXPECT_REFUSED(tdm_jit_load_bytes("zip", 3, &none), TDM_ERROR_DATA_LOSS, "the archive is not a valid zip archive");
  EXPECT_REFUSED(tdm_jit_compile("def f(x):\n    return y\n", &none), TDM_ERROR_INVALID_ARGUMENT, "undefined value y");
  std::vector<tdm_value> nested(100);
  for (std::size_t i = 0; i + 1 < nested.size(); ++i) {
    nested[i].tag = TDM_VALUE_LIST;
    nested[i].as.list = {&nested[i + 1], 1};
  }
  EXPECT_REFUSED(call_method(module, "shift", {nested[0]}, &result), TDM_ERROR_INVALID_ARGUMENT, "nests more than 64");
}

TEST_F(Jit, CompiledFunctionsAreCalledAndSaved) {
  const Module module =
      compile("def scaled(x, by: float = 2.0):\n    return x * by\n\ndef both(x):\n    return scaled(x), [x]\n");
  tdm_string* schema = nullptr;
  ASSERT_OK(tdm_jit_schema(module.get(), "both", &schema));
  const String text(schema);
  EXPECT_STREQ(tdm_string_data(text.get()), "both(x: Tensor) -> Tuple[Tensor, List[Tensor]]");
  tdm_string* saved = nullptr;
  ASSERT_OK(tdm_jit_save_bytes(module.get(), &saved));
  const String bytes(saved);
  tdm_module* again = nullptr;
  ASSERT_OK(tdm_jit_load_bytes(tdm_string_data(saved), tdm_string_size(saved), &again));
  const Module loaded(again);
  const Tensor x = parameter({3}, {1});
  tdm_value result{};
  ASSERT_OK(call_method(loaded, "scaled", {of(x)}, &result));
  EXPECT_EQ(number(result), 6);
  tdm_tensor* roots[] = {result.as.tensor};
  EXPECT_OK(tdm_autograd_backward(roots, nullptr, 1, 0, 0));
  EXPECT_THAT(floats(grad(x).get()), ElementsAre(2));
  tdm_value_clear(&result);
}

// tanh(x) @ weight + shift, by operators that are called boxed and unboxed, and one of Tandem's own.
tdm_error* traced(void* user_data, const tdm_jit_trace_call* given) {
  const auto& kept = *static_cast<std::vector<tdm_tensor*>*>(user_data);
  EXPECT_EQ(given->input_count, 2u);
  const Tensor hidden = call("aten::tanh", "", {of(given->inputs[0])});
  const Tensor normal = call("tandem::normalize", "", {of(hidden), of(2.0), of(1)});
  tdm_value made{};
  if (tdm_error* error = call(find("aten::matmul"), {of(normal), of(kept[0])}, &made)) return error;
  const Tensor product(made.as.tensor);
  tdm_value sum{};
  EXPECT_OK(call(find("aten::add", "Tensor"), {of(product), of(given->inputs[1])}, &sum));
  given->outputs[0] = sum.as.tensor;
  given->outputs[1] = given->inputs[0];
  *given->output_count = 2;
  return nullptr;
}

TEST_F(Jit, OperatorsAreTraced) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2}), shift = tensor({1, 1}, {2}), weight = parameter({1, 0, 0, 2}, {2, 2});
  const std::vector<tdm_value> dict{of("shift"), of(shift)}, inputs{of(x), list(TDM_VALUE_DICT, dict)};
  std::vector<tdm_tensor*> kept{weight.get()};
  const char* const name = "layer.weight";
  tdm_jit_trace trace = TDM_JIT_TRACE_INIT;
  trace.inputs = inputs.data();
  trace.input_count = inputs.size();
  trace.function = traced;
  trace.user_data = &kept;
  tdm_module* made = nullptr;
  EXPECT_REFUSED(tdm_jit_trace_function(&trace, &made), TDM_ERROR_CALLBACK,
                 "Cannot insert a Tensor that requires grad as a constant");
  trace.parameter_names = &name;
  trace.parameters = kept.data();
  trace.parameter_count = 1;
  ASSERT_OK(tdm_jit_trace_function(&trace, &made));
  const Module module(made);
  EXPECT_THAT(parameters_of(module).names(), ElementsAre("layer.weight"));
  EXPECT_TRUE(tdm_tensor_is_same(parameters_of(module)["layer.weight"].get(), weight.get()));
  const Tensor other = tensor({3, -1, 0, 5}, {2, 2});
  const std::vector<tdm_value> other_dict{of("shift"), of(x)};
  tdm_value result{};
  ASSERT_OK(call_method(module, "forward", {of(other), list(TDM_VALUE_DICT, other_dict)}, &result));
  ASSERT_EQ(result.tag, TDM_VALUE_TUPLE);
  const Tensor normal = call("tandem::normalize", "", {of(call("aten::tanh", "", {of(other)})), of(2.0), of(1)});
  const Tensor wanted = call("aten::add", "Tensor", {of(call("aten::matmul", "", {of(normal), of(weight)})), of(x)});
  tdm_tensor* shared = nullptr;
  ASSERT_OK(tdm_tensor_share(elements(result)[0].as.tensor, &shared));
  EXPECT_THAT(floats(Tensor(shared).get()), testing::Pointwise(testing::FloatEq(), floats(wanted.get())));
  tdm_value_clear(&result);
  // Python knows no operator of Tandem's own.
  tdm_string* saved = nullptr;
  ASSERT_OK(tdm_jit_save_bytes(module.get(), &saved));
  const String bytes(saved);
  EXPECT_EQ(std::string(tdm_string_data(saved), tdm_string_size(saved)).find("tandem.normalize"), std::string::npos);
}

TEST_F(Jit, ErrorsOfATracedFunctionAreItsCallers) {
  const Tensor x = tensor({1}, {1});
  const tdm_value input = of(x);
  int destroyed = 0;
  tdm_jit_trace trace = TDM_JIT_TRACE_INIT;
  trace.inputs = &input;
  trace.input_count = 1;
  trace.user_data = &destroyed;
  trace.destroy = [](void* user_data) { ++*static_cast<int*>(user_data); };
  trace.function = [](void*, const tdm_jit_trace_call*) {
    return tdm_error_create(TDM_ERROR_IO, "mine", "no network", nullptr, nullptr);
  };
  tdm_module* made = nullptr;
  EXPECT_REFUSED(tdm_jit_trace_function(&trace, &made), TDM_ERROR_CALLBACK, "no network");
  trace.function = [](void*, const tdm_jit_trace_call*) -> tdm_error* { return nullptr; };
  EXPECT_REFUSED(tdm_jit_trace_function(&trace, &made), TDM_ERROR_INVALID_ARGUMENT, "gives a tensor at least");
  EXPECT_EQ(destroyed, 0);
  trace.function = [](void*, const tdm_jit_trace_call* given) -> tdm_error* {
    given->outputs[0] = given->inputs[0];
    *given->output_count = 1;
    return nullptr;
  };
  ASSERT_OK(tdm_jit_trace_function(&trace, &made));
  EXPECT_EQ(destroyed, 1);
  tdm_module_free(made);
  const tdm_value number = of(3);
  trace.inputs = &number;
  EXPECT_REFUSED(tdm_jit_trace_function(&trace, &made), TDM_ERROR_INVALID_ARGUMENT,
                 "'trace->inputs[0]' is, or has, what is no tensor");
}

}  // namespace
}  // namespace jit_test
