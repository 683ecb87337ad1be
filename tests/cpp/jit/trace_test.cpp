// Functions of C++'s, traced.
#include "cpp/jit/files.h"
#include "tandem/nn.h"

namespace tandem::testing::jit_trace_test {
namespace {

using test::expect_close;
using ::testing::ElementsAre;
using Values = std::vector<at::IValue>;
using Tensors = std::vector<at::Tensor>;

at::IValue tuple(std::vector<at::IValue> elements) {
  return c10::ivalue::Tuple::create(std::move(elements));
}

TEST(Trace, ComputesAgain) {
  int calls = 0;
  const auto module = jit::trace(
      [&](const Values& inputs) {
        ++calls;
        const at::Tensor x = inputs[0].toTensor();
        return Tensors{at::tanh(x) * 2 + inputs[1].toTensor().sum(), x.index({at::indexing::Slice(1)})};
      },
      {at::randn({3}), at::randn({2})});
  const at::Tensor x = at::randn({5}), y = at::randn({4});
  const auto results = module->forward(x, y).toTuple();
  EXPECT_EQ(calls, 1);
  expect_close(results->elements()[0].toTensor(), at::tanh(x) * 2 + y.sum());
  expect_close(results->elements()[1].toTensor(), x.slice(0, 1));
  EXPECT_THAT(module->methods(), ElementsAre("forward"));
  EXPECT_EQ(module->schema("forward"), "forward(input0: Tensor, input1: Tensor) -> Tuple[Tensor, Tensor]");
}

TEST(Trace, TakesNestedInputs) {
  c10::impl::GenericDict named(c10::StringType::get(), c10::TensorType::get());
  named.insert("a", at::ones({2}));
  const auto module = jit::trace(
      [](const Values& inputs) {
        const auto& pair = inputs[0].toTupleRef().elements();
        return Tensors{pair[0].toTensor() - pair[1].toTensor() * inputs[1].toGenericDict().at("a").toTensor()};
      },
      {tuple({at::ones({2}), at::ones({2})}), named});
  c10::impl::GenericDict other(c10::AnyType::get(), c10::AnyType::get());
  other.insert("a", at::full({2}, 3.f));
  EXPECT_TRUE(at::equal(module->forward(tuple({at::full({2}, 7.f), at::full({2}, 2.f)}), other).toTensor(),
                        at::full({2}, 1.f)));
}

TEST(Trace, ModulesBecomeTrainable) {
  const auto first = nn::make_module("Linear", {{"in_features", 4}, {"out_features", 3}});
  const auto norm = nn::make_module("BatchNorm1d", {{"num_features", 3}});
  jit::TracedState state;
  for (const auto& one : first->get().named_parameters())
    state.parameters.emplace_back("encoder.first." + one.key(), one.value());
  for (const auto& one : norm->get().named_parameters())
    state.parameters.emplace_back("norm." + one.key(), one.value());
  for (const auto& one : norm->get().named_buffers()) state.buffers.emplace_back("norm." + one.key(), one.value());
  const auto module = jit::trace(
      [&](const Values& inputs) { return Tensors{norm->forward({first->forward({inputs[0]})[0]})[0].toTensor()}; },
      {at::randn({5, 4})}, state);
  EXPECT_THAT(
      module->named_parameters().keys(),
      ::testing::UnorderedElementsAre("encoder.first.weight", "encoder.first.bias", "norm.weight", "norm.bias"));
  EXPECT_THAT(module->named_buffers().keys(),
              ElementsAre("norm.running_mean", "norm.running_var", "norm.num_batches_tracked"));
  const at::Tensor x = at::randn({6, 4});
  module->forward(x).toTensor().square().sum().backward();
  EXPECT_TRUE(first->get().parameters()[0].grad().defined());  // one tensor
  const at::Tensor mean = norm->get().named_buffers()["running_mean"];
  const at::Tensor before = mean.clone();
  module->forward(x);
  EXPECT_FALSE(at::equal(mean, before));
  const std::string bytes = module->save_bytes();
  const auto again = jit::load_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  expect_close(again->forward(x).toTensor(), norm->forward({first->forward({x})[0]})[0].toTensor());
}

TEST(Trace, RefusesWhatCannotBeTraced) {
  const at::Tensor weight = torch::ones({2}, at::requires_grad()), x = at::ones({2});
  EXPECT_ERROR(jit::trace([&](const Values& inputs) { return Tensors{inputs[0].toTensor() * weight}; }, {x}),
               ErrorCode::kInvalidArgument, "requires a gradient", "nor among the parameters");
  EXPECT_ERROR(jit::trace([&](const Values&) { return Tensors{at::ones({1})}; }, {3}), ErrorCode::kInvalidArgument);
  EXPECT_ERROR(jit::trace([&](const Values&) { return Tensors{x}; }, {at::ones({1})}), ErrorCode::kInvalidArgument,
               "output 0", "was not computed");
  EXPECT_ERROR(jit::trace([&](const Values&) { return Tensors{}; }, {x}), ErrorCode::kInvalidArgument,
               "gives a tensor at least");
  EXPECT_ERROR(jit::trace([&](const Values& inputs) { return Tensors{inputs[0].toTensor() + 1}; }, {x},
                          {{{"a", x}, {"a.b", x}}, {}}),
               ErrorCode::kInvalidArgument, "'a' cannot be the name of a module");
  EXPECT_ERROR(jit::trace([&](const Values& inputs) { return Tensors{inputs[0].toTensor() + 1}; }, {x},
                          {{{"a", x}}, {{"a", x}}}),
               ErrorCode::kInvalidArgument, "two of that name");
  EXPECT_ERROR(jit::trace(
                   [&](const Values& inputs) {
                     jit::trace([](const Values& inner) { return Tensors{inner[0].toTensor() + 1}; }, {x});
                     return Tensors{inputs[0].toTensor()};
                   },
                   {x}),
               ErrorCode::kInvalidArgument, "tracing already");
  // An error on the way leaves nothing that is traced.
  EXPECT_THROW(jit::trace([](const Values&) -> Tensors { throw std::out_of_range("mine"); }, {x}), Error);
  EXPECT_NO_THROW(jit::trace([](const Values& inputs) { return Tensors{inputs[0].toTensor() + 1}; }, {x}));
}

}  // namespace
}  // namespace tandem::testing::jit_trace_test
