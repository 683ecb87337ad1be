#include "tandem/safetensors.h"

#include <gmock/gmock.h>
#include <torch/torch.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tandem/error.h"

namespace tandem::testing::safetensors_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SafetensorsTest : public ::testing::Test {
 protected:
  SafetensorsTest() : folder_(fs::temp_directory_path() / ("tandem-st-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    path_ = (folder_ / "a.safetensors").string();
  }
  ~SafetensorsTest() override { fs::remove_all(folder_); }

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
      load_safetensors(path_);
      ADD_FAILURE() << "loaded";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
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

TEST_F(SafetensorsTest, RoundTrips) {
  tandem::Safetensors content;
  content.metadata = {{"who", "test"}, {"quote\"", "line\nbreak"}};
  content.tensors = {
      {"strided", torch::arange(12).reshape({3, 4}).t()}, {"half", torch::randn({3}).to(at::kHalf)},
      {"flags", torch::tensor({true, false, true})},      {"empty", torch::empty({0, 5})},
      {"scalar", torch::tensor(2.5, at::kDouble)},        {"complex", torch::randn({2}, at::kComplexFloat).conj()},
      {"brain", torch::randn({5}).to(at::kBFloat16)}};
  save_safetensors(path_, content);
  EXPECT_EQ(files(), 1u);
  const auto loaded = load_safetensors(path_);
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
  EXPECT_FALSE(load_safetensors(path_).tensors[0].second.equal(loaded.tensors[0].second));
}

TEST_F(SafetensorsTest, WhatWasLoadedStaysWhateverBecomesOfTheFile) {
  save_safetensors(path_, {{{"a", torch::ones({100000})}, {"b", torch::ones({3}, torch::kByte)}}, {}});
  const auto loaded = load_safetensors(path_);
  fs::resize_file(path_, 0);
  EXPECT_TRUE(loaded.tensors[0].second.equal(torch::ones({100000})));
  EXPECT_TRUE(loaded.tensors[1].second.equal(torch::ones({3}, torch::kByte)));
}

TEST_F(SafetensorsTest, IsMappedWhereThatIsWanted) {
  tandem::Safetensors content;
  content.metadata = {{"who", "test"}};
  content.tensors = {{"odd", torch::arange(3).to(at::kByte)},
                     {"float", torch::randn({3, 4})},
                     {"long", torch::arange(5)},
                     {"empty", torch::empty({0, 5})},
                     {"scalar", torch::tensor(2.5, at::kDouble)}};
  save_safetensors(path_, content);
  const SafetensorsFile file(path_);
  const auto loaded = load_safetensors(path_);
  EXPECT_EQ(file.content().metadata, content.metadata);
  ASSERT_EQ(file.content().tensors.size(), loaded.tensors.size());
  for (std::size_t i = 0; i < loaded.tensors.size(); ++i) {
    EXPECT_EQ(file.content().tensors[i].first, loaded.tensors[i].first);
    EXPECT_TRUE(file.content().tensors[i].second.equal(loaded.tensors[i].second)) << loaded.tensors[i].first;
    file.content().tensors[i].second.zero_();  // does not reach the file
    EXPECT_TRUE(load_safetensors(path_).tensors[i].second.equal(loaded.tensors[i].second));
  }
  file.check();
  // Tensors outlive the object.
  const at::Tensor kept = SafetensorsFile(path_).content().tensors[0].second;
  EXPECT_TRUE(kept.equal(loaded.tensors[0].second));
  // One that does not lie as its dtype needs it.
  write(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})",
        9);
  EXPECT_TRUE(SafetensorsFile(path_).content().tensors[1].second.equal(load_safetensors(path_).tensors[1].second));
  write("{}", 1);
  EXPECT_THROW(SafetensorsFile{path_}, Error);
  std::ofstream(path_).close();
  EXPECT_THROW(SafetensorsFile{path_}, Error);
}

TEST_F(SafetensorsTest, WhatAMappedFileLosesIsFoundOut) {
  save_safetensors(path_, {{{"a", torch::ones({100000})}}, {}});
  const SafetensorsFile file(path_);
  EXPECT_NO_THROW(file.check());
  fs::resize_file(path_, 4096);
  EXPECT_EQ(file.content().tensors[0].second[99999].item<float>(), 0);
  try {
    file.check();
    ADD_FAILURE() << "nothing is lost";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
    EXPECT_THAT(error.what(), HasSubstr(path_));
  }
}

TEST_F(SafetensorsTest, AFailedSaveLeavesTheOldFile) {
  save_safetensors(path_, {{{"a", torch::ones({2})}}, {}});
  const tandem::Safetensors twice{{{"a", torch::ones({1})}, {"a", torch::ones({1})}}, {}};
  EXPECT_THROW(save_safetensors(path_, twice), Error);
  const tandem::Safetensors sparse{{{"a", torch::ones({1})}, {"b", torch::eye(2).to_sparse()}}, {}};
  EXPECT_THROW(save_safetensors(path_, sparse), Error);
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(load_safetensors(path_).tensors[0].second.equal(torch::ones({2})));
}

TEST_F(SafetensorsTest, RefusesFilesThatAreNotWhatTheyClaim) {
  std::ofstream(path_).close();
  expect_refused("it is empty");
  std::ofstream(path_) << "short";
  expect_refused("too few");
  std::ofstream(path_) << std::string(100, '\xff');
  expect_refused("header claims");
  refuses("not json", 0, "its header is no JSON: ");
  refuses("[1]", 0, "no JSON object");
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  write(good, 8);
  EXPECT_EQ(load_safetensors(path_).tensors.size(), 1u);
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
  refuses(R"({"a":)" + item + R"(,"a":)" + item + "}", 8, "its header has 'a' twice");
}

TEST_F(SafetensorsTest, HasAnyNumberOfTensors) {
  tandem::Safetensors content;
  const at::Tensor one = torch::ones({1});
  for (int i = 0; i < 200'000; ++i) content.tensors.emplace_back("name " + std::to_string(i), one);
  save_safetensors(path_, content);
  const auto loaded = load_safetensors(path_);
  ASSERT_EQ(loaded.tensors.size(), content.tensors.size());
  EXPECT_EQ(loaded.tensors.back().first, content.tensors.back().first);
}

TEST_F(SafetensorsTest, EveryBitFlipIsReadOrRefused) {
  save_safetensors(path_, {{{"weight", torch::ones({3})}, {"bias", torch::ones({1})}}, {{"k", "v"}}});
  std::stringstream whole;
  whole << std::ifstream(path_, std::ios::binary).rdbuf();
  const std::string bytes = whole.str();
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string broken = bytes;
    broken[i / 8] = static_cast<char>(broken[i / 8] ^ (1 << i % 8));
    std::ofstream(path_, std::ios::binary) << broken;
    try {
      for (const auto& [name, tensor] : load_safetensors(path_).tensors) tensor.sum();
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace tandem::testing::safetensors_test
