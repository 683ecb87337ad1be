// The registry's modules against torch::nn itself, and safetensors files.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tandem/error.h"
#include "tandem/nn.h"
#include "tandem/safetensors.h"

namespace {

namespace fs = std::filesystem;
namespace tn = torch::nn;
using tandem::nn::make_module;
using tandem::Option;
using testing::HasSubstr;

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

class Safetensors : public testing::Test {
 protected:
  Safetensors() : folder_(fs::temp_directory_path() / ("tandem-st-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    path_ = (folder_ / "a.safetensors").string();
  }
  ~Safetensors() override { fs::remove_all(folder_); }

  void write(const std::string& json, std::size_t bytes) const {
    std::ofstream file(path_, std::ios::binary);
    for (std::size_t i = 0; i < 8; ++i) file.put(static_cast<char>(json.size() >> (8 * i)));
    file << json << std::string(bytes, '\1');
  }
  void refuses(const std::string& json, std::size_t bytes, const std::string& why) const {
    SCOPED_TRACE(json);
    write(json, bytes);
    expect_refused(why);
  }
  void expect_refused(const std::string& why) const {
    try {
      tandem::load_safetensors(path_);
      ADD_FAILURE() << "loaded";
    } catch (const tandem::Error& error) {
      EXPECT_EQ(error.code(), tandem::ErrorCode::kDataLoss);
      EXPECT_THAT(error.what(), HasSubstr(path_));
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(Safetensors, RoundTrips) {
  tandem::Safetensors content;
  content.metadata = {{"who", "test"}, {"quote\"", "line\nbreak"}};
  content.tensors = {
      {"strided", torch::arange(12).reshape({3, 4}).t()}, {"half", torch::randn({3}).to(at::kHalf)},
      {"flags", torch::tensor({true, false, true})},      {"empty", torch::empty({0, 5})},
      {"scalar", torch::tensor(2.5, at::kDouble)},        {"complex", torch::randn({2}, at::kComplexFloat).conj()},
      {"brain", torch::randn({5}).to(at::kBFloat16)}};
  tandem::save_safetensors(path_, content);
  EXPECT_EQ(files(), 1u);
  const auto loaded = tandem::load_safetensors(path_);
  EXPECT_EQ(loaded.metadata, content.metadata);
  ASSERT_EQ(loaded.tensors.size(), content.tensors.size());
  for (const auto& [name, tensor] : loaded.tensors) {
    const auto found = std::find_if(content.tensors.begin(), content.tensors.end(),
                                    [&, &wanted = name](const auto& item) { return item.first == wanted; });
    ASSERT_NE(found, content.tensors.end()) << name;
    EXPECT_EQ(tensor.scalar_type(), found->second.scalar_type());
    EXPECT_TRUE(tensor.equal(found->second)) << name;
  }
  // Writing to what was loaded does not reach the file.
  loaded.tensors[0].second.zero_();
  EXPECT_FALSE(tandem::load_safetensors(path_).tensors[0].second.equal(loaded.tensors[0].second));
}

// Under a map of the file this would end the process.
TEST_F(Safetensors, WhatWasLoadedStaysWhateverBecomesOfTheFile) {
  tandem::save_safetensors(path_, {{{"a", torch::ones({100000})}, {"b", torch::ones({3}, torch::kByte)}}, {}});
  const auto loaded = tandem::load_safetensors(path_);
  fs::resize_file(path_, 0);
  EXPECT_TRUE(loaded.tensors[0].second.equal(torch::ones({100000})));
  EXPECT_TRUE(loaded.tensors[1].second.equal(torch::ones({3}, torch::kByte)));
}

TEST_F(Safetensors, AFailedSaveLeavesTheOldFile) {
  tandem::save_safetensors(path_, {{{"a", torch::ones({2})}}, {}});
  const tandem::Safetensors twice{{{"a", torch::ones({1})}, {"a", torch::ones({1})}}, {}};
  EXPECT_THROW(tandem::save_safetensors(path_, twice), tandem::Error);
  const tandem::Safetensors sparse{{{"a", torch::ones({1})}, {"b", torch::eye(2).to_sparse()}}, {}};
  EXPECT_THROW(tandem::save_safetensors(path_, sparse), tandem::Error);
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(tandem::load_safetensors(path_).tensors[0].second.equal(torch::ones({2})));
}

TEST_F(Safetensors, RefusesFilesThatAreNotWhatTheyClaim) {
  std::ofstream(path_).close();
  expect_refused("it is empty");
  std::ofstream(path_) << "short";
  expect_refused("too few");
  std::ofstream(path_) << std::string(100, '\xff');
  expect_refused("header claims");
  refuses("not json", 0, "no JSON object");
  refuses("[1]", 0, "no JSON object");
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  write(good, 8);
  EXPECT_EQ(tandem::load_safetensors(path_).tensors.size(), 1u);
  refuses(good, 7, "truncated");
  refuses(good, 9, "longer than it was written");
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  refuses(one("F33", "[2]", "[0,8]"), 8, "'F33'");
  refuses(one("F32", "[3]", "[0,8]"), 8, "takes 12 bytes");
  refuses(one("F32", "[-2]", "[0,8]"), 8, "no natural number");
  refuses(one("F32", "[4611686018427387904,4]", "[0,8]"), 8, "more elements");
  refuses(one("F32", "[2]", "[8,0]"), 8, "data_offsets are");
  refuses(one("F32", "[2]", "[4,12]"), 12, "begins at byte 4");
  refuses(one("F32", "[2]", "[0]"), 8, "no pair");
  refuses(one("F32", "2", "[0,8]"), 8, "no list");
  const std::string nested = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  write(one("F32", "[" + nested + "]", "[0,8]"), 8);
  expect_refused("256 deep");
  refuses(R"({"a":3})", 0, "no object");
  refuses(R"({"a":{"shape":[2],"data_offsets":[0,8]}})", 8, "has no dtype");
  refuses(R"({"__metadata__":{"a":1}})", 0, "no string");
  const std::string item = R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  refuses(R"({"a":)" + item + R"(,"b":)" + item + "}", 8, "tensor 'b' begins at byte 0");
  refuses(R"({"a":)" + item + R"(,"a":)" + item + "}", 8, "'a' is there twice");
}

TEST_F(Safetensors, EveryBitFlipIsReadOrRefused) {
  tandem::save_safetensors(path_, {{{"weight", torch::ones({3})}, {"bias", torch::ones({1})}}, {{"k", "v"}}});
  std::stringstream whole;
  whole << std::ifstream(path_, std::ios::binary).rdbuf();
  const std::string bytes = whole.str();
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string broken = bytes;
    broken[i / 8] = static_cast<char>(broken[i / 8] ^ (1 << i % 8));
    std::ofstream(path_, std::ios::binary) << broken;
    try {
      for (const auto& [name, tensor] : tandem::load_safetensors(path_).tensors) tensor.sum();
    } catch (const tandem::Error&) {
    }
  }
}

}  // namespace
