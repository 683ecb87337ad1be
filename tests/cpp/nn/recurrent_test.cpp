// Recurrent modules over packed sequences against Python's, as reference_functions.py stored them.
#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>

#include "module_reference.h"
#include "tandem/error.h"

namespace tandem::testing::recurrent_test {
namespace {

using ::testing::HasSubstr;
namespace rnn = torch::nn::utils::rnn;

at::IValue packed(const rnn::PackedSequence& sequence) {
  const auto or_none = [](const at::Tensor& tensor) { return tensor.defined() ? at::IValue(tensor) : at::IValue(); };
  return c10::ivalue::Tuple::create({at::IValue(sequence.data()), at::IValue(sequence.batch_sizes()),
                                     or_none(sequence.sorted_indices()), or_none(sequence.unsorted_indices())});
}

// Three sequences; longest first unless their order is to be kept.
at::IValue input(bool order) {
  std::vector<at::Tensor> sequences;
  for (const std::int64_t length : {2, 4, 1}) sequences.push_back(formula({length, 2}, length));
  if (!order) std::swap(sequences[0], sequences[1]);
  return packed(rnn::pack_sequence(sequences, !order));
}

void add_tensors(const at::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTuple()) {
    for (const at::IValue& one : value.toTupleRef().elements()) add_tensors(one, tensors);
  } else {
    tensors.push_back(value.isNone() ? at::Tensor() : value.toTensor());
  }
}

TEST(Recurrent, PackedSequencesAreAsInPython) {
  const nlohmann::json all = stored("parametrized.json");
  for (const nlohmann::json& line : all.at("recurrent")) {
    SCOPED_TRACE(line["type"].get<std::string>() + line["options"].dump() + line["order"].dump());
    const nlohmann::json& options = line["options"];
    auto all = options_of(options);
    all.push_back({"input_size", 2});
    all.push_back({"hidden_size", 3});
    const auto module = made(line["type"], all);
    const std::int64_t rows = options.value("num_layers", 1) * (options.value("bidirectional", false) ? 2 : 1);
    const at::Tensor h = formula({rows, 3, options.value("proj_size", 3)}, 1), c = formula({rows, 3, 3}, 2);
    const at::IValue states = line["type"] == "LSTM" ? at::IValue(std::make_tuple(h, c)) : at::IValue(h);
    const std::vector<std::vector<at::IValue>> given = {{input(line["order"])}, {input(line["order"]), states}};
    for (std::size_t i = 0; i < given.size(); ++i) {
      std::vector<at::Tensor> results;
      for (const at::IValue& value : module->forward(given[i])) add_tensors(value, results);
      const nlohmann::json& expected = line["results"][i];
      ASSERT_EQ(results.size(), expected.size());
      for (std::size_t k = 0; k < results.size(); ++k) EXPECT_EQ(difference(expected[k], results[k], 1e-11), "") << k;
    }
  }
}

TEST(Recurrent, WhatIsNoPackedSequenceIsRefused) {
  const auto module = made("GRU", {{"input_size", 2}, {"hidden_size", 3}});
  const auto refused = [&](const at::IValue& value) -> std::string {
    try {
      module->forward(std::vector<at::IValue>{value});
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  const auto of = [](const at::Tensor& data, const at::Tensor& sizes, const at::IValue& sorted = {}) {
    return at::IValue(c10::ivalue::Tuple::create({at::IValue(data), at::IValue(sizes), sorted, at::IValue()}));
  };
  const at::Tensor data = formula({3, 2}, 1);
  EXPECT_THAT(refused(c10::ivalue::Tuple::create({at::IValue(data)})), HasSubstr("packed sequence, a tuple of 4"));
  EXPECT_THAT(refused(of(data, at::tensor({1, 2}, at::kLong))), HasSubstr("place 1 is 2"));
  EXPECT_THAT(refused(of(data, at::tensor({2, 2}, at::kLong))), HasSubstr("add up to 4, its data has 3 rows"));
  EXPECT_THAT(refused(of(data, at::tensor({2, 1}, at::kInt))), HasSubstr("needs batch_sizes, int64"));
  EXPECT_THAT(refused(of(data, at::tensor({2, 1}, at::kLong), at::tensor({0}, at::kLong))),
              HasSubstr("has as many sorted_indices"));
  EXPECT_THAT(refused(of(data, at::tensor({2, 1}, at::kLong), 3)), HasSubstr("a packed sequence of tensors"));
}

using torch::autograd::grad;

// What a step gives, and gradients of it that lead back to `inputs`: of the hidden state, the cell state or both. And
// of these gradients' squares again.
std::vector<at::Tensor> with_gradients(const std::vector<at::Tensor>& states, const std::vector<at::Tensor>& inputs,
                                       bool of_hidden, bool of_cell) {
  std::vector<at::Tensor> used, given, all = states;
  for (const std::size_t i : {0, 1}) {
    if (!(i == 0 ? of_hidden : of_cell)) continue;
    used.push_back(states[i]);
    given.push_back(formula(states[i].sizes().vec(), static_cast<std::int64_t>(i) + 3));
  }
  const auto add = [&](const std::vector<at::Tensor>& gradients) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      all.push_back(gradients[i].defined() ? gradients[i] : at::zeros_like(inputs[i]));
    }
  };
  add(grad(used, inputs, given, /*retain_graph=*/true, /*create_graph=*/false, /*allow_unused=*/true));
  const auto first = grad(used, inputs, given, true, true, true);
  add(first);
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (const at::Tensor& one : first) {
    if (one.defined()) sum = sum + one.square().sum();
  }
  add(grad({sum}, inputs, {}, false, false, true));
  return all;
}

TEST(Recurrent, AStepOfAnLSTMAndItsGradientsAreThoseOfLibTorchsOperators) {
  for (const bool bias : {true, false}) {
    const auto module = made("LSTMCell", {{"input_size", 3}, {"hidden_size", 4}, {"bias", bias}});
    std::vector<at::Tensor> inputs{formula({2, 3}, 5), formula({4, 2}, 6).t(), formula({2, 4}, 7)};  // one lies across
    for (const at::Tensor& input : inputs) input.requires_grad_();
    for (const auto& one : module->get().named_parameters()) inputs.push_back(one.value());
    const auto part = [&](std::size_t i) { return i < inputs.size() ? inputs[i] : at::Tensor(); };
    for (const auto& [of_hidden, of_cell] : {std::pair(true, true), std::pair(true, false), std::pair(false, true)}) {
      SCOPED_TRACE(::testing::Message() << "bias " << bias << ", hidden " << of_hidden << ", cell " << of_cell);
      std::vector<at::Tensor> states;
      for (const at::IValue& value : module->forward({inputs[0], std::make_tuple(inputs[1], inputs[2])})) {
        add_tensors(value, states);
      }
      if (bias && test_device().is_cpu()) {
        EXPECT_EQ(states[0].grad_fn(), states[1].grad_fn()) << "LibTorch's operators ran";
      }
      const auto [hidden, cell] = at::lstm_cell(inputs[0], {inputs[1], inputs[2]}, part(3), part(4), part(5), part(6));
      const auto found = with_gradients(states, inputs, of_hidden, of_cell);
      const auto expected = with_gradients({hidden, cell}, inputs, of_hidden, of_cell);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-11, 1e-12)) << i;
      }
    }
  }
}

TEST(Recurrent, AStepOfAnLSTMIsCastWhereLibTorchsOperatorsAre) {
  const auto module = made("LSTMCell", {{"input_size", 3}, {"hidden_size", 4}});
  module->to(std::nullopt, at::kFloat);
  const auto of = [](std::int64_t columns, std::int64_t start) { return formula({2, columns}, start).to(at::kFloat); };
  const at::Tensor x = of(3, 5), h = of(4, 6), c = of(4, 7);
  const auto parameters = module->get().named_parameters();
  const auto step = [&] { return module->forward({x, std::make_tuple(h, c)})[0].toTensor(); };
  const at::Tensor uncast = step();
  const at::DeviceType device = x.device().type();
  at::autocast::set_autocast_enabled(device, true);
  const at::Tensor cast = step();
  const auto expected = at::lstm_cell(x, {h, c}, parameters["weight_ih"], parameters["weight_hh"],
                                      parameters["bias_ih"], parameters["bias_hh"]);
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device, false);
  EXPECT_TRUE(at::equal(cast, std::get<0>(expected)));
  EXPECT_FALSE(at::equal(cast, uncast));
}

}  // namespace
}  // namespace tandem::testing::recurrent_test
