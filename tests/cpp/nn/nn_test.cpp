// The registry's modules against torch::nn itself.
#include <gmock/gmock.h>

#include "tandem/error.h"
#include "tandem/nn.h"

namespace {

namespace tn = torch::nn;
using tandem::Option;
using tandem::nn::make_module;

// Same seed, same options: the same parameters and the same result.
template <typename Holder>
void is_the_same(const std::string& type, const std::vector<Option>& options, Holder&& make,
                 const std::vector<at::Tensor>& inputs) {
  SCOPED_TRACE(type);
  torch::manual_seed(7);
  auto direct = make();
  torch::manual_seed(7);
  const auto ours = make_module(type, options);
  EXPECT_EQ(ours->type(), type);
  const auto expected = direct->named_parameters(), found = ours->get().named_parameters();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].key(), expected[i].key());
    EXPECT_TRUE(found[i].value().equal(expected[i].value())) << found[i].key();
  }
  std::vector<at::IValue> values(inputs.begin(), inputs.end());
  torch::manual_seed(9);
  const at::Tensor result = ours->forward(values).at(0).toTensor();
  torch::manual_seed(9);
  at::Tensor wanted;
  if constexpr (requires { direct->forward(inputs[0]); }) {
    if (inputs.size() == 1) {
      if constexpr (std::is_same_v<decltype(direct->forward(inputs[0])), at::Tensor>) {
        wanted = direct->forward(inputs[0]);
      } else {
        wanted = std::get<0>(direct->forward(inputs[0]));
      }
    }
  }
  if constexpr (requires { direct->forward(inputs[0], inputs[1]); }) {
    if constexpr (std::is_same_v<decltype(direct->forward(inputs[0], inputs[1])), at::Tensor>) {
      if (inputs.size() == 2) wanted = direct->forward(inputs[0], inputs[1]);
    }
  }
  ASSERT_TRUE(wanted.defined());
  EXPECT_TRUE(result.equal(wanted));
}

TEST(Registry, ModulesAreThoseOfTorch) {
  const auto x = torch::randn({2, 3, 8, 8}), rows = torch::randn({4, 6}), sequence = torch::randn({5, 2, 6});
  is_the_same("Linear", {{"in_features", 6}, {"out_features", 3}}, [] { return tn::Linear(6, 3); }, {rows});
  is_the_same("Linear", {{"in_features", 6}, {"out_features", 3}, {"bias", false}},
              [] { return tn::Linear(tn::LinearOptions(6, 3).bias(false)); }, {rows});
  is_the_same(
      "Conv2d",
      {{"in_channels", 3},
       {"out_channels", 4},
       {"kernel_size", std::vector<std::int64_t>{3, 5}},
       {"stride", 2},
       {"padding", std::vector<std::int64_t>{1, 2}},
       {"padding_mode", "reflect"}},
      [] {
        return tn::Conv2d(tn::Conv2dOptions(3, 4, {3, 5}).stride(2).padding({1, 2}).padding_mode(torch::kReflect));
      },
      {x});
  is_the_same("Conv2d", {{"in_channels", 3}, {"out_channels", 4}, {"kernel_size", 3}, {"padding", "same"}},
              [] { return tn::Conv2d(tn::Conv2dOptions(3, 4, 3).padding(torch::kSame)); }, {x});
  is_the_same("Conv1d", {{"in_channels", 6}, {"out_channels", 2}, {"kernel_size", 2}, {"dilation", 2}},
              [] { return tn::Conv1d(tn::Conv1dOptions(6, 2, 2).dilation(2)); }, {torch::randn({1, 6, 9})});
  is_the_same("BatchNorm2d", {{"num_features", 3}, {"momentum", 0.3}},
              [] { return tn::BatchNorm2d(tn::BatchNorm2dOptions(3).momentum(0.3)); }, {x});
  is_the_same("LayerNorm", {{"normalized_shape", std::vector<std::int64_t>{6}}},
              [] { return tn::LayerNorm(tn::LayerNormOptions({6})); }, {rows});
  is_the_same("GroupNorm", {{"num_groups", 3}, {"num_channels", 3}}, [] { return tn::GroupNorm(3, 3); }, {x});
  is_the_same("Embedding", {{"num_embeddings", 10}, {"embedding_dim", 4}}, [] { return tn::Embedding(10, 4); },
              {torch::tensor({1, 9})});
  is_the_same("Dropout", {{"p", 0.3}}, [] { return tn::Dropout(0.3); }, {rows});
  is_the_same("LSTM", {{"input_size", 6}, {"hidden_size", 4}, {"num_layers", 2}, {"bidirectional", true}},
              [] { return tn::LSTM(tn::LSTMOptions(6, 4).num_layers(2).bidirectional(true)); }, {sequence});
  is_the_same("GRU", {{"input_size", 6}, {"hidden_size", 4}}, [] { return tn::GRU(6, 4); }, {sequence});
  is_the_same("RNN", {{"input_size", 6}, {"hidden_size", 4}, {"nonlinearity", "relu"}},
              [] { return tn::RNN(tn::RNNOptions(6, 4).nonlinearity(torch::kReLU)); }, {sequence});
  is_the_same("MaxPool2d", {{"kernel_size", 2}}, [] { return tn::MaxPool2d(2); }, {x});
  is_the_same("AvgPool2d", {{"kernel_size", 2}, {"stride", 1}, {"count_include_pad", false}},
              [] { return tn::AvgPool2d(tn::AvgPool2dOptions(2).stride(1).count_include_pad(false)); }, {x});
  is_the_same("AdaptiveAvgPool2d", {{"output_size", 1}}, [] { return tn::AdaptiveAvgPool2d(1); }, {x});
  is_the_same("GELU", {{"approximate", "tanh"}}, [] { return tn::GELU(tn::GELUOptions().approximate("tanh")); },
              {rows});
  is_the_same("ReLU", {}, [] { return tn::ReLU(); }, {rows});
  is_the_same("Tanh", {}, [] { return tn::Tanh(); }, {rows});
  is_the_same("Sigmoid", {}, [] { return tn::Sigmoid(); }, {rows});
  is_the_same("Softmax", {{"dim", 1}}, [] { return tn::Softmax(1); }, {rows});
  is_the_same("LogSoftmax", {{"dim", 1}}, [] { return tn::LogSoftmax(1); }, {rows});
  is_the_same("Flatten", {}, [] { return tn::Flatten(); }, {x});
  is_the_same("MSELoss", {{"reduction", "sum"}},
              [] { return tn::MSELoss(tn::MSELossOptions().reduction(torch::kSum)); }, {rows, rows + 1});
  is_the_same("NLLLoss", {}, [] { return tn::NLLLoss(); }, {rows.log_softmax(1), torch::tensor({0, 1, 2, 5})});
  is_the_same("CrossEntropyLoss", {{"label_smoothing", 0.1}, {"ignore_index", 2}},
              [] { return tn::CrossEntropyLoss(tn::CrossEntropyLossOptions().label_smoothing(0.1).ignore_index(2)); },
              {rows, torch::tensor({0, 1, 2, 5})});
}

TEST(Registry, ToMovesGradientsAsWell) {
  const auto linear = make_module("Linear", {{"in_features", 2}, {"out_features", 1}});
  const at::Tensor weight = linear->get().parameters()[0];
  linear->forward({torch::ones({1, 2})})[0].toTensor().sum().backward();
  linear->to(at::kCPU, at::kDouble);
  EXPECT_EQ(weight.scalar_type(), at::kDouble);
  EXPECT_EQ(weight.grad().scalar_type(), at::kDouble);
  EXPECT_TRUE(weight.is_leaf() && weight.requires_grad());
  linear->forward({torch::ones({1, 2}, at::kDouble)})[0].toTensor().sum().backward();
  EXPECT_TRUE(weight.grad().equal(torch::full({1, 2}, 2, at::kDouble)));
}

}  // namespace
