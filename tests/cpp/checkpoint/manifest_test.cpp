// checkpoint.json, and what parts make up a tensor.
#include "checkpoint/manifest.h"

#include <gmock/gmock.h>

#include <functional>

#include "base/crc32c.h"
#include "checkpoint/parts.h"
#include "tandem/error.h"

namespace tandem::checkpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Manifest example() {
  Manifest manifest{.step = 12, .world_size = 2, .values_bytes = 2, .values_crc32 = 5, .files = {}};
  manifest.files.push_back({"model.safetensors", "model", 0, 100, 7, {{"weight \"x\"", 1, {}, {}, {}}}});
  for (int rank = 0; rank < 2; ++rank) {
    manifest.files.push_back({file_name("optimizer", rank, 2),
                              "optimizer",
                              rank,
                              64,
                              8,
                              {{"rows", 4294967295, {4, 3}, {2 * rank, 0}, {2, 3}}}});
  }
  return manifest;
}

std::string why_not(const std::string& text) {
  try {
    parse(text, "PATH");
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "";
}

// With a checksum that is right.
std::string sealed(const std::string& rest) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x",
                tandem::crc32({reinterpret_cast<const std::uint8_t*>(rest.data()), rest.size()}));
  return std::string("{\"crc32\": \"") + digits + "\"," + rest;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = format(example());
  std::string rest = text.substr(text.find(',') + 1);
  const auto at = rest.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return sealed(rest.replace(at, from.size(), to));
}

TEST(Manifest, ReadsWhatItWrote) {
  const Manifest read = parse(format(example()), "PATH");
  EXPECT_EQ(read.step, 12);
  EXPECT_EQ(read.world_size, 2);
  EXPECT_EQ(read.values_bytes, 2u);
  EXPECT_EQ(read.values_crc32, 5u);
  ASSERT_EQ(read.files.size(), 3u);
  EXPECT_EQ(read.files[2].name, "optimizer.rank-1-of-2.safetensors");
  EXPECT_EQ(read.files[2].rank, 1);
  EXPECT_EQ(read.files[0].tensors[0].name, "weight \"x\"");
  EXPECT_EQ(read.files[2].tensors[0].crc32, 4294967295u);
  EXPECT_EQ(read.files[2].tensors[0].begin, (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(format(read), format(example()));
}

TEST(Manifest, RefusesWhatItCannotBe) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "does not begin with its checksum"},
      {"{}", "does not begin with its checksum"},
      {"{\"crc32\": \"0000000g\", }", "is not what its checksum was made of"},
      {sealed("1}"), "PATH is damaged"},
      {sealed("\"a\":1}"), "lacks 'format'"},
      {sealed("\"format\":" + std::string(1000, '[')), "nested more than"},
      {changed("tandem-checkpoint", "x"), "format is 'x'"},
      {changed("\"step\": 12", "\"step\": -12"), "'step'"},
      {changed("\"step\": 12", "\"step\": 9223372036854775808"), "'step'"},
      {changed("\"world_size\": 2", "\"world_size\": 2.5"), "'world_size'"},
      {changed("\"model.safetensors\"", "\"model.safetensors/../../x.safetensors\""), "names the file"},
      {changed("\"model.safetensors\"", "\"other.safetensors\""), "names the file"},
      {changed("\"section\": \"model\"", "\"section\": \"..\""), "section '..'"},
      {changed("rank-1-of-2", "rank-0-of-2"), "twice"},
      {changed("\"tensors\": {", "\"tensors\": {\"t\": {}, \"t\": {},"), "has 't' twice"},
      {changed("\"sizes\": [\n      2", "\"sizes\": [\n      1"), "have 9 of the elements of [4, 3]"},
      {changed("\"sizes\": [\n      2", "\"sizes\": [\n      3"), "overlap"},
      {changed("\"begin\": [\n      2", "\"begin\": [\n      3"), "outside of [4, 3]"},
      {changed("\"whole\": [\n      4", "\"whole\": [\n      5"), "of one of"},
  };
  for (const auto& [text, why] : cases) {
    EXPECT_THAT(why_not(text), HasSubstr("6 PATH is damaged: ")) << text;
    EXPECT_THAT(why_not(text), HasSubstr(why)) << text;
  }
  EXPECT_THAT(why_not(changed("\"version\": 1", "\"version\": 2")), HasSubstr("10 PATH is of version 2"));
}

TEST(Manifest, HasAnyNumberOfTensorsAndParts) {
  Manifest manifest;
  manifest.files.push_back({"model.safetensors", "model", 0, 100, 7, {}});
  for (int i = 0; i < 300'000; ++i) manifest.files[0].tensors.push_back({"name " + std::to_string(i), 1, {}, {}, {}});
  constexpr int kRanks = 100'000;
  for (int rank = 0; rank < kRanks; ++rank) {
    manifest.files.push_back({file_name("optimizer", rank, kRanks),
                              "optimizer",
                              rank,
                              64,
                              8,
                              {{"columns", 1, {3, kRanks}, {0, kRanks - 1 - rank}, {3, 1}}}});
  }
  const Manifest read = parse(format(manifest), "PATH");
  ASSERT_EQ(read.files.size(), manifest.files.size());
  EXPECT_EQ(read.files[0].tensors.size(), manifest.files[0].tensors.size());
  EXPECT_EQ(read.files[0].tensors.back().name, "name 299999");
  std::string values = "{\"0\": 0";
  for (int i = 1; i < 300'000; ++i) values += ", \"" + std::to_string(i) + "\": 0";
  check_values(values + "}");
}

FileRecord with_part(const std::string& name, std::vector<std::int64_t> whole, std::vector<std::int64_t> begin,
                     std::vector<std::int64_t> sizes) {
  return {name, "s", 0, 0, 0, {{"t", 0, std::move(whole), std::move(begin), std::move(sizes)}}};
}

TEST(Manifest, PartsHaveToMakeUpTheTensor) {
  EXPECT_THAT(what_is_wrong({with_part("a", {4, 4}, {0, 0}, {2, 4}), with_part("b", {4, 4}, {2, 0}, {2, 1}),
                             with_part("c", {4, 4}, {2, 1}, {2, 3})}),
              IsEmpty());
  // As many elements as there are, but some twice.
  EXPECT_THAT(what_is_wrong({with_part("a", {4}, {0}, {2}), with_part("b", {4}, {1}, {2})}), HasSubstr("overlap"));
  EXPECT_THAT(what_is_wrong({with_part("a", {4}, {0}, {2}), with_part("b", {}, {}, {})}), HasSubstr("no part"));
  EXPECT_THAT(what_is_wrong({with_part("a", {0}, {0}, {0})}), IsEmpty());
  const std::int64_t half = std::int64_t{1} << 62;
  const FileRecord whole = with_part("a", {half}, {0}, {half});
  EXPECT_THAT(what_is_wrong({whole, whole, whole}), HasSubstr("overlap"));
  const std::int64_t much = std::int64_t{1} << 40;
  EXPECT_THAT(what_is_wrong({with_part("a", {much, much}, {0, 0}, {much, much})}), HasSubstr("memory can hold"));
}

}  // namespace
}  // namespace tandem::checkpoint
