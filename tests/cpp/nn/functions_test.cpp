// Operators of namespace tandem against Python's functions of the same name, as reference_functions.py stored them;
// through the dispatcher, as front ends call them.
#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>

#include "reference.h"
#include "tandem/error.h"
#include "tandem/nn_functional.h"
#include "tandem/nn_init.h"
#include "tandem/nn_sequences.h"
#include "tandem/nn_utils.h"

namespace tandem::testing::functions_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// One argument, and the tensors in it.
at::IValue value_of(const json& given, const c10::Argument& argument, std::vector<at::Tensor>& tensors) {
  if (given.is_null()) return {};
  if (given.is_object() && given.contains("tensors")) {
    std::vector<at::Tensor> list;
    for (const json& one : given["tensors"]) list.push_back(tensor_of(one));
    tensors.insert(tensors.end(), list.begin(), list.end());
    return list;
  }
  if (given.is_object()) {
    // How long sequences are is asked for on the CPU, in Python too.
    const bool stays = argument.name() == "lengths" || argument.name() == "batch_sizes";
    return tensors.emplace_back(stays ? tensor_of(given).cpu() : tensor_of(given));
  }
  if (given.is_boolean()) return given.get<bool>();
  if (given.is_string()) return given.get<std::string>();
  const bool real = argument.type()->str().find("float") != std::string::npos;
  if (given.is_array()) {
    return real ? at::IValue(given.get<std::vector<double>>()) : at::IValue(given.get<std::vector<std::int64_t>>());
  }
  return real ? at::IValue(given.get<double>()) : at::IValue(given.get<std::int64_t>());
}

struct Call {
  std::vector<at::Tensor> given;
  std::vector<at::Tensor> results;  // numbers too
};

void add_result(const at::IValue& value, std::vector<at::Tensor>& results) {
  if (value.isTensorList()) {
    for (const at::Tensor& one : value.toTensorVector()) results.push_back(one);
  } else {
    results.push_back(value.isDouble() ? at::scalar_tensor(value.toDouble(), at::kDouble) : value.toTensor());
  }
}

Call call(const json& line, bool with_grad) {
  const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow(("tandem::" + line["op"].get<std::string>()).c_str(), "");
  torch::jit::Stack stack;
  Call made;
  std::map<std::string, std::vector<at::Tensor>> tensors;  // by name: the order of what was stored
  for (const c10::Argument& argument : op.schema().arguments()) {
    if (line["given"].contains(argument.name())) {
      stack.push_back(value_of(line["given"][argument.name()], argument, tensors[argument.name()]));
    } else {
      stack.push_back(argument.default_value().value());
    }
  }
  for (const auto& [name, list] : tensors) made.given.insert(made.given.end(), list.begin(), list.end());
  for (const at::Tensor& one : made.given) {
    if (with_grad && one.is_floating_point()) one.requires_grad_(true);
  }
  torch::manual_seed(17);
  op.callBoxed(&stack);
  for (const at::IValue& value : stack) add_result(value, made.results);
  return made;
}

at::Tensor loss(const std::vector<at::Tensor>& results) {
  at::Tensor total = on_device(at::zeros({}, at::kDouble));
  for (const at::Tensor& one : results) {
    if (!one.defined() || !one.requires_grad()) continue;
    const at::Tensor weights = 1 + at::arange(one.numel(), at::kDouble).remainder(7) / 10;
    total = total + (one.to(at::kDouble) * on_device(weights.view(one.sizes()))).sum();
  }
  return total;
}

void compare(const json& expected, const std::vector<at::Tensor>& found, double tolerance, const char* what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(difference(expected[i], found[i], tolerance), "") << what << " " << i;
  }
}

std::vector<at::Tensor> gradients(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> grads;
  for (const at::Tensor& one : tensors) grads.push_back(one.grad());
  return grads;
}

// Each kind of device has random numbers of its own.
bool draws(const json& line) {
  const std::string op = line["op"];
  if (line["given"].value("dropout_p", 0.0) > 0) return true;
  for (const char* part : {"dropout", "gumbel", "uniform_", "normal_", "orthogonal_", "sparse_"}) {
    if (op.find(part) != std::string::npos) return true;
  }
  return false;
}

// A GPU's gradient of nearest neighbours by a scale is not that of its forward, in Python neither.
bool sums_other_elements(const json& line) {
  return line["op"] == "interpolate" && line["given"].value("mode", "") == "nearest" &&
         line["given"].contains("scale_factor") && line["given"]["scale_factor"].size() == 3;
}

TEST(Functions, ArePythons) {
  const json lines = stored("functions.json");
  EXPECT_GT(lines.size(), 150U);
  for (const json& line : lines) {
    if (wants_gpu() && (draws(line) || sums_other_elements(line))) continue;
    SCOPED_TRACE(line["op"].get<std::string>() + " of " + line["given"].dump());
    const double tolerance = line["tolerance"];
    const Call made = call(line, line.contains("grads"));
    compare(line["results"], made.results, tolerance, "result");
    if (line.contains("left")) {
      compare(line["left"], made.given, tolerance, "argument left");
      compare(line["left_grads"], gradients(made.given), tolerance, "gradient left");
    }
    if (line.contains("grads")) {
      loss(made.results).backward();
      compare(line["grads"], gradients(made.given), tolerance, "gradient");
    }
  }
}

// Every operator has a case.
TEST(Functions, AreAllStored) {
  std::set<std::string> cases;
  for (const json& line : stored("functions.json")) cases.insert("tandem::" + line["op"].get<std::string>());
  std::set<std::string> known;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("tandem::", 0) == 0) known.insert(name.name);
  }
  EXPECT_EQ(cases, known);
}

template <typename Body>
std::string refused(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "nothing was refused";
}

TEST(Functions, ErrorsNameWhatDoesNotFit) {
  namespace F = nn::functional;
  const at::Tensor image = at::zeros({1, 2, 4, 4});
  using Sizes = std::vector<std::int64_t>;
  const auto resized = [&](const std::string& mode, const Sizes& size, std::optional<bool> align = {}) {
    return refused([&] { F::interpolate(image, size, {}, mode, align); });
  };
  EXPECT_THAT(resized("cubic", {2}), HasSubstr("no mode \"cubic\"; it knows nearest"));
  EXPECT_THAT(resized("linear", {2}), HasSubstr("\"linear\" is for 1 dimensions"));
  EXPECT_THAT(resized("nearest", {2, 2, 2}), HasSubstr("size has 3 numbers for the 2 dimensions"));
  EXPECT_THAT(resized("nearest", {2}, true), HasSubstr("takes no align_corners"));
  EXPECT_THAT(refused([&] { F::interpolate(image, {}); }), HasSubstr("none was given"));
  EXPECT_THAT(refused([&] { F::interpolate(at::zeros({2, 3}), Sizes{2}); }), HasSubstr("not sizes [2, 3]"));
  EXPECT_THAT(refused([&] { F::unfold(image, {1, 2, 3}); }), HasSubstr("unfold: kernel_size is one number or two"));
  EXPECT_THAT(refused([&] { F::grid_sample(image, image, "cubic"); }),
              HasSubstr("mode is \"bilinear\", \"nearest\" or"));
  EXPECT_THAT(refused([&] { F::affine_grid(image, {1, 2, 3}); }), HasSubstr("affine_grid: size is"));
  EXPECT_THAT(refused([&] { F::affine_grid(at::zeros({2, 2, 2}), {2, 1, 3, 3}); }), HasSubstr("theta is [2, 2, 3]"));
  EXPECT_THAT(refused([&] { F::dropout1d(image); }), HasSubstr("dropout1d takes 2 or 3 dimensions"));
  EXPECT_THAT(refused([&] { F::dropout2d(image, 1.5); }), HasSubstr("dropout2d: p is a probability, not 1.5"));
  EXPECT_THAT(refused([&] { F::gaussian_nll_loss(image, image, at::zeros({2, 2})); }),
              HasSubstr("var has sizes [2, 2]"));
  EXPECT_THAT(refused([&] { F::gaussian_nll_loss(image, image, image - 1); }), HasSubstr("negative elements"));
  EXPECT_THAT(refused([&] { F::gaussian_nll_loss(image, image, image, false, 1e-6, 7); }), HasSubstr("reduction is 0"));
  EXPECT_THAT(refused([&] { F::lp_pool2d(image, 2, {1, 2, 3}); }), HasSubstr("lp_pool2d: kernel_size"));
}

TEST(Functions, AttentionNamesWhatDoesNotFit) {
  const at::Tensor query = at::zeros({3, 2, 4}), source = at::zeros({5, 2, 4}), weight = at::zeros({12, 4});
  const at::Tensor out = at::zeros({4, 4});
  const auto attend = [&](const at::Tensor& q, const at::Tensor& k, std::int64_t heads, const at::Tensor& w,
                          const at::Tensor& padding = {}, const at::Tensor& mask = {}, bool causal = false) {
    return refused([&] {
      nn::functional::multi_head_attention_forward(q, k, k, 4, heads, w, {}, {}, {}, false, 0, out, {}, true, padding,
                                                   true, mask, false, {}, {}, {}, {}, {}, true, causal);
    });
  };
  EXPECT_THAT(attend(at::zeros({4}), source, 2, weight), HasSubstr("query is [length, batch, embed]"));
  EXPECT_THAT(attend(query, at::zeros({5, 4}), 2, weight), HasSubstr("as many dimensions as each other"));
  EXPECT_THAT(attend(query, source, 3, weight), HasSubstr("4 is not divisible into 3 heads"));
  EXPECT_THAT(attend(query, source, 2, out), HasSubstr("in_proj_weight is [12, 4], not [4, 4]"));
  EXPECT_THAT(attend(query, source, 2, weight, at::zeros({2, 4}, at::kBool)),
              HasSubstr("key_padding_mask must be [2, 5]"));
  EXPECT_THAT(attend(query, source, 2, weight, {}, at::zeros({3, 4})),
              HasSubstr("attn_mask must be [3, 5] or [4, 3, 5], not [3, 4]"));
  EXPECT_THAT(attend(query, source, 2, weight, {}, at::zeros({3, 5}, at::kInt)),
              HasSubstr("attn_mask must be of bool or"));
  EXPECT_THAT(attend(query, source, 2, weight, {}, {}, true), HasSubstr("give the mask, too"));
}

TEST(Init, ErrorsNameWhatDoesNotFit) {
  namespace init = nn::init;
  const at::Tensor row = at::zeros({3}), matrix = at::zeros({3, 4});
  EXPECT_THAT(refused([&] { init::xavier_uniform_(row); }), HasSubstr("xavier_uniform_: fan in and fan out"));
  EXPECT_THAT(refused([&] { init::kaiming_normal_(matrix, 0, "fan"); }), HasSubstr("not \"fan\""));
  EXPECT_THAT(refused([&] { init::kaiming_normal_(matrix, 0, "fan_in", "gelu"); }),
              HasSubstr("no nonlinearity \"gelu\""));
  EXPECT_THAT(refused([&] { init::eye_(row); }), HasSubstr("eye_ takes a matrix, not a tensor of sizes [3]"));
  EXPECT_THAT(refused([&] { init::dirac_(matrix); }), HasSubstr("3, 4 or 5 dimensions"));
  EXPECT_THAT(refused([&] { init::dirac_(at::zeros({3, 2, 2}), 2); }), HasSubstr("not divisible into 2 groups"));
  EXPECT_THAT(refused([&] { init::orthogonal_(row); }), HasSubstr("at least 2 dimensions"));
  EXPECT_THAT(refused([&] { init::sparse_(matrix, 1.5); }), HasSubstr("fraction from 0 to 1"));
}

TEST(Init, TakesParametersAndGenerators) {
  const at::Tensor parameter = at::zeros({20, 30}).requires_grad_(true);
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(5);
  EXPECT_TRUE(nn::init::uniform_(parameter, 0, 1, generator).is_same(parameter));
  EXPECT_TRUE(parameter.is_leaf());
  EXPECT_FALSE(parameter.grad_fn());
  const at::Tensor first = parameter.detach().clone();
  generator.set_current_seed(5);
  nn::init::uniform_(parameter, 0, 1, generator);
  EXPECT_TRUE(parameter.equal(first));
  generator.set_current_seed(5);
  nn::init::sparse_(parameter, 0.5, 1, generator);
  const at::Tensor sparse = parameter.detach().clone();
  generator.set_current_seed(5);
  nn::init::sparse_(parameter, 0.5, 1, generator);
  EXPECT_TRUE(parameter.equal(sparse));
  EXPECT_EQ(nn::init::kaiming_uniform_(at::zeros({0, 3})).numel(), 0);
}

TEST(ClipGradients, MixesDtypesAndSkipsWhatHasNone) {
  const at::Tensor half = at::zeros({4}), whole = at::zeros({2}, at::kDouble), none = at::zeros({3});
  half.mutable_grad() = at::full({4}, 3.0F);
  whole.mutable_grad() = at::full({2}, 4.0, at::kDouble);
  const double norm = std::sqrt(4 * 9 + 2 * 16);
  const at::Tensor before = nn::utils::clip_grad_norm_({half, none, whole}, 1);
  EXPECT_NEAR(before.item<double>(), norm, 1e-6);
  EXPECT_EQ(before.dim(), 0);
  EXPECT_NEAR(nn::utils::get_total_norm({half.grad(), whole.grad()}).item<double>(), 1, 1e-6);
  EXPECT_EQ(half.grad().scalar_type(), at::kFloat);
  EXPECT_NEAR(nn::utils::get_total_norm({half.grad(), whole.grad()}, INFINITY).item<double>(), 4 / norm, 1e-6);
}

TEST(ClipGradients, TellsWhatIsNotFiniteWhenAsked) {
  const at::Tensor parameter = at::zeros({2});
  parameter.mutable_grad() = at::full({2}, NAN);
  EXPECT_TRUE(std::isnan(nn::utils::clip_grad_norm_({parameter}, 1).item<double>()));
  parameter.mutable_grad() = at::full({2}, INFINITY);
  EXPECT_THAT(refused([&] { nn::utils::clip_grad_norm_({parameter}, 1, 2, true); }), HasSubstr("infinite or NaN"));
  EXPECT_TRUE(parameter.grad().isinf().all().item<bool>());  // as it was
  const at::Tensor sparse = at::zeros({2}).to_sparse();
  EXPECT_THAT(refused([&] { nn::utils::get_total_norm({parameter, sparse}); }), HasSubstr("tensor 1 is Sparse"));
}

TEST(ParameterVector, SharesMemoryAndChecksSizes) {
  const at::Tensor a = at::zeros({2, 2}), b = at::zeros({3}), vec = at::arange(7.0F);
  nn::utils::vector_to_parameters(vec, {a, b});
  vec[6] = 9;
  EXPECT_EQ(b[2].item<float>(), 9);
  EXPECT_THAT(refused([&] { nn::utils::vector_to_parameters(at::zeros({6}), {a, b}); }), HasSubstr("7 elements"));
  EXPECT_THAT(refused([&] { nn::utils::vector_to_parameters(vec.to(at::kDouble), {a, b}); }),
              HasSubstr("the vector is Double on cpu, parameter 0 Float on cpu"));
  EXPECT_THAT(refused([&] { nn::utils::parameters_to_vector({}); }), HasSubstr("no parameters"));
  const at::Tensor turned = at::arange(4.0F).view({2, 2}).t();
  EXPECT_TRUE(nn::utils::parameters_to_vector({turned}).equal(at::tensor({0.0F, 2.0F, 1.0F, 3.0F})));
}

TEST(Sequences, UnpadChecksLengths) {
  const at::Tensor padded = at::zeros({3, 2, 4});
  EXPECT_THAT(refused([&] { nn::utils::unpad_sequence(padded, at::tensor({1, 4}, at::kLong)); }),
              HasSubstr("sequence 1 has length 4, of 3 that are there"));
  EXPECT_THAT(refused([&] { nn::utils::unpad_sequence(padded, at::tensor({1}, at::kLong)); }),
              HasSubstr("each of 2 sequences"));
}

}  // namespace
}  // namespace tandem::testing::functions_test
