#include "weights/shard_index.h"

#include <gtest/gtest.h>

#include "cpp/data/expect_error.h"

namespace tandem::weights {
namespace {

const char* const kGood =
    R"({"metadata": {"total_size": 12, "b": 1}, "weight_map": {"b": "m-1.safetensors", "a": "m-2.safetensors"}})";

TEST(ShardIndex, KeepsItsOrder) {
  const ShardIndex index = parse_shard_index(kGood, "i.json");
  EXPECT_EQ(index.total_bytes, 12u);
  ASSERT_EQ(index.files.size(), 2u);
  EXPECT_EQ(index.files[0].first, "b");
  EXPECT_EQ(index.files[0].second, "m-1.safetensors");
  const ShardIndex again = parse_shard_index(format_shard_index(index), "i.json");
  EXPECT_EQ(again.files, index.files);
  EXPECT_EQ(again.total_bytes, 12u);
}

TEST(ShardIndex, RefusesWhatItIsNotToRead) {
  const auto refused = [](const std::string& json, const std::string& why) {
    EXPECT_ERROR(parse_shard_index(json, "i.json"), ErrorCode::kDataLoss, "i.json", why);
  };
  for (const char* json : {"[]", "{}", "{\"weight_map\": []}"}) refused(json, "weight_map");
  for (const char* json : {"", "{\"weight_map\": {", "\xff"}) refused(json, "it is no JSON: ");
  refused(R"({"weight_map": {"a": 1}})", "no text");
  refused(R"({"weight_map": {"a": "x.safetensors", "a": "y.safetensors"}})", "twice");
  refused(R"({"weight_map": {}, "weight_map": {}})", "twice");
  refused(std::string(1000, '['), "256 deep");
  for (const std::string file : {"../x.safetensors", "/etc/x.safetensors", "a/x.safetensors", "a\\\\x.safetensors",
                                 "x.bin", ".safetensors", "..safetensors", "x\\u0000.safetensors", "", "..", "."}) {
    refused(R"({"weight_map": {"a": ")" + file + R"("}})", "in its folder");
  }
}

TEST(ShardIndex, HasAnyNumberOfNames) {
  ShardIndex index;
  for (int i = 0; i < 300'000; ++i) index.files.emplace_back("name " + std::to_string(i), "m.safetensors");
  EXPECT_EQ(parse_shard_index(format_shard_index(index), "i.json").files, index.files);
}

TEST(ShardIndex, EveryCutIsRefused) {
  const std::string whole = kGood;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_ERROR(parse_shard_index(whole.substr(0, size), "i.json"), ErrorCode::kDataLoss, "i.json");
  }
}

}  // namespace
}  // namespace tandem::weights
