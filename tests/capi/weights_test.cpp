// Files of torch.save, states of optimizers as Python has them, names that are matched and renamed.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "capi/calls.h"
#include "cpp/data/temp_dir.h"

namespace weights_test {
namespace {

using namespace calls;
using tandem::test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;

const tdm_value* elements(const tdm_value& value) {
  return static_cast<const tdm_value*>(value.as.list.data);
}

std::string text(const tdm_value& value) {
  return value.tag == TDM_VALUE_STRING ? std::string(value.as.string.data, value.as.string.size) : "no string";
}

// The value of a dict's key.
tdm_value at(const tdm_value& dict, const std::string& name) {
  EXPECT_EQ(dict.tag, TDM_VALUE_DICT);
  for (std::size_t i = 0; i + 1 < dict.as.list.size; i += 2) {
    if (text(elements(dict)[i]) == name) return elements(dict)[i + 1];
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

bool is_mapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(path)) return true;
  }
  return false;
}

class Weights : public testing::Test {
 protected:
  tdm_value reloaded(const tdm_value& value) {
    EXPECT_OK(tdm_pt_save(path.c_str(), &value));
    tdm_value loaded{};
    EXPECT_OK(tdm_pt_load(path.c_str(), nullptr, &loaded));
    return loaded;
  }
  void refused(const tdm_value& value, const std::string& why) {
    EXPECT_REFUSED(tdm_pt_save(path.c_str(), &value), TDM_ERROR_INVALID_ARGUMENT, why);
  }

  const LeakCheck leaks;
  const TempDir folder;
  const std::string path = folder / "a.pt";
};

TEST_F(Weights, ValuesKeepTheirKinds) {
  const Tensor one = tensor({1, 2}, {2});
  const std::vector<tdm_tensor*> tensors{one.get(), nullptr};
  const std::vector<tdm_value> inner{of(1), of("b")};
  const std::vector<const char*> texts{"x", "y"};
  const std::vector<std::int64_t> numbers{5, -6};
  const std::vector<std::uint8_t> flags{1, 0};
  tdm_value device = tagged(TDM_VALUE_DEVICE);
  device.as.device = {TDM_DEVICE_CPU, -1};
  const std::vector<tdm_value> items{of("tensor"),  of(one),
                                     of("tuple"),   list(TDM_VALUE_TUPLE, inner),
                                     of("list"),    list(TDM_VALUE_LIST, inner),
                                     of("tensors"), list(TDM_VALUE_TENSOR_LIST, tensors),
                                     of("texts"),   list(TDM_VALUE_STRING_LIST, texts),
                                     of("ints"),    ints(numbers),
                                     of("flags"),   list(TDM_VALUE_BOOL_LIST, flags),
                                     of("dtype"),   tagged(TDM_VALUE_DTYPE, TDM_DTYPE_BFLOAT16),
                                     of("device"),  device,
                                     of(-7),        of(true),
                                     of("none"),    tagged(TDM_VALUE_NONE),
                                     of("real"),    of(0.5)};
  tdm_value back = reloaded(list(TDM_VALUE_DICT, items));
  EXPECT_EQ(floats(at(back, "tensor").as.tensor), (std::vector<float>{1, 2}));
  EXPECT_EQ(at(back, "tuple").tag, TDM_VALUE_TUPLE);
  EXPECT_EQ(text(elements(at(back, "tuple"))[1]), "b");
  EXPECT_EQ(at(back, "list").tag, TDM_VALUE_LIST);
  const tdm_value mixed = at(back, "tensors");
  ASSERT_EQ(mixed.tag, TDM_VALUE_LIST);
  EXPECT_EQ(elements(mixed)[0].tag, TDM_VALUE_TENSOR);
  EXPECT_EQ(elements(mixed)[1].tag, TDM_VALUE_NONE);
  EXPECT_EQ(text(elements(at(back, "texts"))[1]), "y");
  EXPECT_EQ(elements(at(back, "ints"))[1].as.integer, -6);
  EXPECT_EQ(elements(at(back, "flags"))[0].tag, TDM_VALUE_BOOL);
  EXPECT_EQ(at(back, "dtype").as.enumeration, TDM_DTYPE_BFLOAT16);
  EXPECT_EQ(at(back, "device").as.device.type, TDM_DEVICE_CPU);
  EXPECT_EQ(at(back, "real").as.real, 0.5);
  EXPECT_EQ(at(back, "none").tag, TDM_VALUE_NONE);
  EXPECT_EQ(elements(back)[18].as.integer, -7);
  // What holds tensors at any depth is freed with it.
  tdm_value_clear(&back);
}

TEST_F(Weights, RefuseWhatIsNoValueOfPython) {
  const std::vector<tdm_value> odd{of("a")}, keyed{of(0.5), of(1)}, bad{of("\xff"), of(1)};
  refused(list(TDM_VALUE_DICT, odd), "'value' is a dict whose last key has no value");
  refused(list(TDM_VALUE_DICT, keyed), "'value[0]' is a key of a dict and must be a string or an int, not a double");
  refused(list(TDM_VALUE_DICT, bad), "not UTF-8");
  refused(tagged(TDM_VALUE_LAYOUT), "'value' cannot be a layout");
  refused(tagged(1234), "unknown tag 1234");
  tdm_value endless = tagged(TDM_VALUE_LIST);
  endless.as.list = {&endless, 1};
  refused(endless, "nests more than 64");
  const std::vector<tdm_value> none{of(static_cast<tdm_tensor*>(nullptr))};
  refused(list(TDM_VALUE_LIST, none), "'value[0]' is NULL");
  EXPECT_FALSE(std::filesystem::exists(path));
  tdm_value out{};
  EXPECT_REFUSED(tdm_pt_load(path.c_str(), nullptr, &out), TDM_ERROR_NOT_FOUND, path);
  EXPECT_OK(tdm_pt_save(path.c_str(), &odd[0]));
  tdm_pt_load_options options = TDM_PT_LOAD_OPTIONS_INIT;
  options.most_values = 0;
  EXPECT_REFUSED(tdm_pt_load(path.c_str(), &options, &out), TDM_ERROR_INVALID_ARGUMENT, "most_values");
}

TEST_F(Weights, AnOptimizerGoesOnFromItsStateDict) {
  const Tensor first = tensor({1, 2}, {2}), second = tensor({1, 2}, {2});
  const auto optimizer = [](const Tensor& parameter, double lr) {
    tdm_tensor* const one = parameter.get();
    const tdm_option options[] = {option("lr", of(lr)), option("momentum", of(0.5))};
    tdm_optimizer* made = nullptr;
    EXPECT_OK(tdm_tensor_set_requires_grad(one, 1));
    EXPECT_OK(tdm_optimizer_create("SGD", &one, 1, options, 2, &made));
    return Optimizer(made);
  };
  const auto step = [](const Tensor& parameter, const Optimizer& sgd) {
    const Tensor gradient = tensor({1, -1}, {2});
    EXPECT_OK(tdm_tensor_set_grad(parameter.get(), gradient.get()));
    EXPECT_OK(tdm_optimizer_step(sgd.get()));
  };
  const Optimizer a = optimizer(first, 0.25), b = optimizer(second, 7);
  step(first, a);
  step(second, b);
  tdm_value state{};
  ASSERT_OK(tdm_optimizer_state_dict(a.get(), &state));
  const tdm_value group = elements(at(state, "param_groups"))[0];
  EXPECT_EQ(at(group, "lr").as.real, 0.25);
  EXPECT_EQ(elements(at(state, "state"))[0].as.integer, 0);
  tdm_value loaded = reloaded(state);
  ASSERT_OK(tdm_optimizer_load_state_dict(b.get(), &loaded));
  const auto values = floats(first.get());
  ASSERT_OK(tdm_tensor_copy_from(second.get(), values.data(), 8));
  step(first, a);
  step(second, b);
  EXPECT_EQ(floats(first.get()), floats(second.get()));
  const tdm_value none{};
  EXPECT_REFUSED(tdm_optimizer_load_state_dict(b.get(), &none), TDM_ERROR_INVALID_ARGUMENT, "no state_dict of SGD");
  tdm_value_clear(&state);
  tdm_value_clear(&loaded);
}

TEST_F(Weights, NamesAreMatchedAndReplaced) {
  const Tensor a = tensor({1}, {1}), b = tensor({2}, {1}), c = tensor({3, 4}, {2});
  const char *into_names[] = {"a", "b"}, *from_names[] = {"a", "c"};
  tdm_tensor *into[] = {a.get(), b.get()}, *from[] = {b.get(), c.get()};
  tdm_strings *missing = nullptr, *unexpected = nullptr;
  const std::string message =
      calls::message(tdm_tensors_load(into_names, into, 2, from_names, from, 2, 1, 0, &missing, &unexpected),
                     TDM_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(message, testing::AllOf(HasSubstr("missing: 'b'"), HasSubstr("unexpected: 'c'")));
  EXPECT_EQ(missing, nullptr);
  EXPECT_EQ(floats(a.get()), (std::vector<float>{1}));
  ASSERT_OK(tdm_tensors_load(into_names, into, 2, from_names, from, 2, 0, 0, &missing, &unexpected));
  EXPECT_THAT(take_strings(missing), ElementsAre("b"));
  EXPECT_THAT(take_strings(unexpected), ElementsAre("c"));
  EXPECT_EQ(floats(a.get()), (std::vector<float>{2}));
  ASSERT_OK(tdm_tensors_load(into_names, into, 1, from_names, from, 1, 1, 0, nullptr, nullptr));

  const char *names[] = {"module.a", "b"}, *patterns[] = {"^module\\.", "b"}, *replacements[] = {"", "$&$&"};
  tdm_strings* replaced = nullptr;
  ASSERT_OK(tdm_names_replace(names, 2, patterns, replacements, 2, &replaced));
  EXPECT_THAT(take_strings(replaced), ElementsAre("a", "bb"));
  patterns[0] = "[";
  EXPECT_REFUSED(tdm_names_replace(names, 2, patterns, replacements, 2, &replaced), TDM_ERROR_INVALID_ARGUMENT,
                 "'[' is no regular expression");
}

TEST_F(Weights, SafetensorsAreSpreadOverFiles) {
  const Tensor a = tensor({1, 2, 3}, {3}), b = tensor({4}, {1});
  const char* names[] = {"a", "b"};
  tdm_tensor* tensors[] = {a.get(), b.get()};
  const std::string model = folder / "model";
  const auto save = [&](std::int64_t bytes) {
    return tdm_safetensors_save_sharded(model.c_str(), names, tensors, 2, nullptr, nullptr, 0, bytes);
  };
  EXPECT_REFUSED(save(0), TDM_ERROR_INVALID_ARGUMENT, "'shard_bytes' is 0");
  ASSERT_OK(save(12));
  EXPECT_TRUE(std::filesystem::exists(model + "/model-00002-of-00002.safetensors"));
  EXPECT_REFUSED(save(12), TDM_ERROR_INVALID_ARGUMENT, "of an earlier save");
  tdm_named_tensors* list = nullptr;
  ASSERT_OK(tdm_safetensors_load(model.c_str(), nullptr, &list, nullptr, nullptr));
  const NamedTensors owned(list);
  EXPECT_EQ(tdm_named_tensors_size(list), 2u);
  EXPECT_STREQ(tdm_named_tensors_name(list, 1), "b");
  EXPECT_FALSE(is_mapped(model + "/model-00001-of-00002.safetensors"));

  tdm_safetensors_load_options options = TDM_SAFETENSORS_LOAD_OPTIONS_INIT;
  options.mapped = 1;
  tdm_named_tensors* mapped_list = nullptr;
  ASSERT_OK(tdm_safetensors_load(model.c_str(), &options, &mapped_list, nullptr, nullptr));
  const NamedTensors mapped(mapped_list);
  EXPECT_TRUE(is_mapped(model + "/model-00001-of-00002.safetensors"));
  tdm_tensor* seen = nullptr;
  ASSERT_OK(tdm_named_tensors_get(mapped_list, 0, &seen));
  const Tensor own(seen);
  EXPECT_EQ(floats(own.get()), (std::vector<float>{1, 2, 3}));
  EXPECT_OK(tdm_tensor_copy_from(own.get(), std::vector<float>{7, 8, 9}.data(), 12));
  EXPECT_EQ(floats(own.get()), (std::vector<float>{7, 8, 9}));
  tdm_named_tensors* again_list = nullptr;
  ASSERT_OK(tdm_safetensors_load(model.c_str(), nullptr, &again_list, nullptr, nullptr));
  const NamedTensors again(again_list);
  tdm_tensor* unchanged = nullptr;
  ASSERT_OK(tdm_named_tensors_get(again_list, 0, &unchanged));
  EXPECT_EQ(floats(Tensor(unchanged).get()), (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace weights_test
