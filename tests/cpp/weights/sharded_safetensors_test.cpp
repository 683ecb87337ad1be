#include "tandem/sharded_safetensors.h"

#include <filesystem>
#include <fstream>

#include "cpp/weights/pt_test_values.h"

namespace tandem::testing::sharded_safetensors_test {
namespace {

namespace fs = std::filesystem;
using test::TempDir;
using ::testing::UnorderedElementsAre;

Safetensors model() {
  return {{{"z", counted({4})}, {"big", counted({100})}, {"a", counted({2}, at::kLong)}, {"none", at::empty({0})}},
          {{"format", "pt"}}};
}

TEST(ShardedSafetensors, GoToFilesOfALimitedSize) {
  const TempDir dir;
  const std::string folder = dir / "m";
  save_sharded_safetensors(folder, model(), {.most_shard_bytes = 40});
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  EXPECT_THAT(names, UnorderedElementsAre("model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                                          "model-00003-of-00003.safetensors", "model.safetensors.index.json"));
  EXPECT_EQ(load_safetensors(folder + "/model-00002-of-00003.safetensors").tensors.size(), 1u);
  for (const std::string& path : {folder, folder + "/model.safetensors.index.json"}) {
    const Safetensors back = load_sharded_safetensors(path);
    EXPECT_EQ(back.metadata.at("format"), "pt");
    const auto expected = model();
    ASSERT_EQ(back.tensors.size(), expected.tensors.size());
    for (std::size_t i = 0; i < back.tensors.size(); ++i) {
      EXPECT_EQ(back.tensors[i].first, expected.tensors[i].first);
      EXPECT_TRUE(back.tensors[i].second.equal(expected.tensors[i].second));
    }
  }
  EXPECT_ERROR(save_sharded_safetensors(folder, model()), ErrorCode::kInvalidArgument, "of an earlier save");
}

TEST(ShardedSafetensors, WhatFitsIsOneFile) {
  const TempDir dir;
  save_sharded_safetensors(dir / "m", model());
  EXPECT_TRUE(fs::exists(dir / "m/model.safetensors"));
  EXPECT_FALSE(fs::exists(dir / "m/model.safetensors.index.json"));
  EXPECT_EQ(load_sharded_safetensors(dir / "m").tensors.size(), 4u);
  EXPECT_EQ(load_sharded_safetensors(dir / "m/model.safetensors").tensors.size(), 4u);
  save_sharded_safetensors(dir / "none", {});
  EXPECT_EQ(load_sharded_safetensors(dir / "none").tensors.size(), 0u);
}

TEST(ShardedSafetensors, IndexAndFilesAreHeldToEachOther) {
  const TempDir dir;
  save_sharded_safetensors(dir / "m", model(), {.most_shard_bytes = 40});
  const std::string index = dir / "m/model.safetensors.index.json";
  const auto write_index = [&](const std::string& map) {
    std::ofstream(index) << R"({"weight_map": {)" << map << "}}";
  };
  write_index(R"("z": "model-00001-of-00003.safetensors", "y": "model-00001-of-00003.safetensors",)"
              R"("big": "model-00003-of-00003.safetensors")");
  EXPECT_ERROR(load_sharded_safetensors(dir / "m"), ErrorCode::kDataLoss, "'y' in model-00001", "'big' in model-00003");
  write_index(R"("z": "other.safetensors")");
  EXPECT_ERROR(load_sharded_safetensors(index), ErrorCode::kNotFound, "other.safetensors");
  fs::remove(index);
  EXPECT_ERROR(load_sharded_safetensors(dir / "m"), ErrorCode::kNotFound, "neither model.safetensors.index.json");
  EXPECT_ERROR(load_sharded_safetensors(dir / "x"), ErrorCode::kNotFound, "/x");
  EXPECT_ERROR(save_sharded_safetensors(dir / "y", {{{"a", at::ones(1)}, {"a", at::ones(1)}}, {}}),
               ErrorCode::kInvalidArgument, "'a' is given twice");
  EXPECT_ERROR(save_sharded_safetensors(dir / "y", {}, {.most_shard_bytes = 0}), ErrorCode::kInvalidArgument, "is 0");
}

}  // namespace
}  // namespace tandem::testing::sharded_safetensors_test
