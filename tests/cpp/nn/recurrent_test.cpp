// Recurrent modules over packed sequences against Python's, as reference_functions.py stored them.
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

}  // namespace
}  // namespace tandem::testing::recurrent_test
