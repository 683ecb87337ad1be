// Files that are torn, flipped or gone: the checkpoint before is used, and it is said why.
#include <algorithm>

#include "cpp/checkpoint/contents.h"
#include "cpp/comm/threads.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Damage : public ::testing::Test {
 protected:
  Damage() {
    for (const int step : {1, 2}) checkpoints.save(step, content_of(step));
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(last)) names.push_back(entry.path());
    return names;
  }
  void expect_first(const std::string& what, const std::string& why) {
    const auto read = checkpoints.load();
    ASSERT_TRUE(read) << what;
    expect_content_of(1, *read);
    EXPECT_THAT(read->refused, ElementsAre(AllOf(HasSubstr("step-000000002"), HasSubstr(why)))) << what;
  }

  const TemporaryFolder folder;
  CheckpointFolder checkpoints{folder / "run"};
  const std::string last = folder / "run/step-000000002";
};

TEST_F(Damage, AnyFlippedBitIsSeen) {
  for (const std::string& file : files()) {
    const std::string whole = contents(file);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] ^= static_cast<char>(1 << at % 8);
      write(file, flipped);
      expect_first(file + " at " + std::to_string(at), "step-000000002/");
      if (HasFailure()) return;
    }
    write(file, whole);
  }
  const auto read = checkpoints.load();
  expect_content_of(2, *read);
  EXPECT_THAT(read->refused, IsEmpty());
}

TEST_F(Damage, AnyTearIsSeen) {
  for (const std::string& file : files()) {
    const std::string whole = contents(file);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      write(file, whole.substr(0, size));
      expect_first(file + " of " + std::to_string(size), "step-000000002/");
      if (HasFailure()) return;
    }
    write(file, whole + '\0');
    expect_first(file, "step-000000002/");
    std::filesystem::remove(file);
    if (file.ends_with("/checkpoint.json")) {
      EXPECT_THAT(checkpoints.load()->refused, IsEmpty());  // it is no checkpoint then
    } else {
      expect_first(file, std::filesystem::path(file).filename());
    }
    write(file, whole);
  }
}

TEST_F(Damage, SaysWhyNoneIsLeft) {
  write(last + "/model.safetensors", "");
  std::filesystem::remove(folder / "run/step-000000001/values.json");
  const Error error = error_of([&] { checkpoints.load(); });
  EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("step-000000002/model.safetensors"), HasSubstr("it is empty"),
                                  HasSubstr("step-000000001/values.json")));
  const Error asked = error_of([&] { checkpoints.load({.step = 2}); });
  EXPECT_EQ(asked.code(), ErrorCode::kDataLoss);
}

TEST_F(Damage, WithoutLatestAllCount) {
  for (const char* text : {"", "step-2\n", "step-000000002 and more", "../../etc"}) {
    write(folder / "run/latest", text);
    expect_content_of(2, *checkpoints.load());
  }
  std::filesystem::remove(folder / "run/latest");
  expect_content_of(2, *checkpoints.load());
}

// A checkpoint whose save did not come to its end is none, though all of its files may be there.
TEST_F(Damage, WhatLatestDoesNotNameYetIsNotUsed) {
  write(folder / "run/latest", "step-000000001\n");
  expect_content_of(1, *checkpoints.load());
  expect_content_of(2, *checkpoints.load({.step = 2}));
}

TEST_F(Damage, AnotherStepsManifestIsRefused) {
  std::filesystem::remove_all(last);
  std::filesystem::copy(folder / "run/step-000000001", last);
  expect_first("copied", "it is that of step 1");
}

}  // namespace
}  // namespace tandem::testing
