// One process: what is saved is what is loaded, which checkpoints stay, and what cannot be saved.
#include "cpp/checkpoint/contents.h"

#include <cstdlib>

#include "cpp/comm/threads.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CheckpointFolder, KeepsTensorsAndValuesAsTheyAre) {
  const TemporaryFolder folder;
  const at::Tensor square = torch::arange(12, torch::kDouble).view({3, 4});
  const NamedTensors tensors{{"transposed", square.t()},
                             {"every second", square.slice(1, 0, 4, 2)},
                             {"number", torch::tensor(7, torch::kLong)},
                             {"empty", torch::empty({0, 3}, torch::kHalf)},
                             {"half", torch::full({5}, 1.5, torch::kBFloat16)},
                             {"flags", torch::tensor({true, false})},
                             {"complex", torch::complex(torch::ones({2}), torch::zeros({2})).conj()},
                             {"grad", torch::ones({2}, torch::requires_grad())}};
  const std::string values =
      " {\"pi\": 3.14159265358979323846, \"big\": 123456789012345678901234567890, \"\xc3\xa9\":[]}\n";
  CheckpointFolder(folder / "run").save(0, {.replicated = {{"model", tensors}}, .values = values});

  const auto read = CheckpointFolder(folder / "run").load();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->step, 0);
  EXPECT_EQ(read->world_size, 1);
  EXPECT_EQ(read->values, values);
  EXPECT_THAT(read->refused, IsEmpty());
  const NamedTensors& back = read->sections.at("model");
  ASSERT_EQ(back.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const auto found = std::find_if(back.begin(), back.end(), [&](const auto& each) { return each.first == name; });
    ASSERT_NE(found, back.end()) << name;
    EXPECT_EQ(found->second.dtype(), tensor.dtype()) << name;
    EXPECT_FALSE(found->second.requires_grad()) << name;
    EXPECT_TRUE(at::equal(found->second, tensor.detach())) << name;
  }
}

TEST(CheckpointFolder, LoadsNothingWhereNothingWasSaved) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder / "run");
  EXPECT_FALSE(checkpoints.load());
  EXPECT_THAT(checkpoints.steps(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  const Error missing = error_of([&] { checkpoints.load({.step = 3}); });
  EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  EXPECT_THAT(missing.what(), HasSubstr("step-000000003"));
}

TEST(CheckpointFolder, KeepsTheLastOnes) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder / "run", {.keep = 2});
  for (const int step : {5, 10, 20, 1000000000}) checkpoints.save(step, content_of(step));
  EXPECT_THAT(checkpoints.steps(), ElementsAre(20, 1000000000));
  EXPECT_EQ(contents(folder / "run/latest"), "step-1000000000\n");
  expect_content_of(1000000000, *checkpoints.load());
  expect_content_of(20, *checkpoints.load({.step = 20}));

  // Training that went back goes on from what it saved last, and removes nothing that lies ahead.
  checkpoints.save(15, content_of(15));
  EXPECT_THAT(checkpoints.steps(), ElementsAre(15, 20, 1000000000));
  expect_content_of(15, *CheckpointFolder(folder / "run").load());

  CheckpointFolder all(folder / "all", {.keep = 0});
  for (int step = 0; step < 6; ++step) all.save(step, content_of(step));
  EXPECT_EQ(all.steps().size(), 6u);
}

TEST(CheckpointFolder, LeavesWhatMayBeAnothersWhereOneIsRefused) {
  const TemporaryFolder folder;
  int asked = 0;
  CheckpointFolder checkpoints(folder / "run", {.why_not = [&] { return std::string(++asked == 2 ? "others go on" : ""); }});
  EXPECT_THAT(error_of([&] { checkpoints.save(7, content_of(7)); }).what(), HasSubstr("was not saved: others go on"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/step-000000007.tmp"));
  EXPECT_FALSE(checkpoints.load());
  checkpoints.save(7, content_of(7));
  EXPECT_FALSE(std::filesystem::exists(folder / "run/step-000000007.tmp"));
  expect_content_of(7, *checkpoints.load());
}

TEST(CheckpointFolder, ReplacesThatOfTheSameStep) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder / "run");
  checkpoints.save(7, content_of(1));
  CheckpointContent again = content_of(7);
  checkpoints.save(7, again);
  expect_content_of(7, *checkpoints.load());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "run"))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("step-000000007", "latest"));
}

TEST(CheckpointFolder, LoadsSectionsAndParts) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder / "run");
  const at::Tensor square = torch::arange(12).view({3, 4});
  checkpoints.save(1, {.replicated = {{"a", {{"x", square}, {"y", square + 1}}}, {"b", {{"x", square + 2}}}}});
  const auto b = checkpoints.load({.sections = {"b"}});
  ASSERT_EQ(b->sections.size(), 1u);
  EXPECT_TRUE(at::equal(b->sections.at("b")[0].second, square + 2));

  const auto parts = checkpoints.load({.part = [](const std::string& section, const std::string& name,
                                                  const std::vector<std::int64_t>& sizes) -> std::optional<TensorPart> {
    EXPECT_THAT(sizes, ElementsAre(3, 4));
    if (section == "b" || name == "x") return {};
    return TensorPart{{1, 2}, {2, 1}};
  }});
  EXPECT_TRUE(parts->sections.at("b").empty());
  ASSERT_EQ(parts->sections.at("a").size(), 1u);
  EXPECT_TRUE(at::equal(parts->sections.at("a")[0].second, torch::tensor({7, 11}).view({2, 1})));

  const Error outside =
      error_of([&] { checkpoints.load({.part = [](auto&&...) { return TensorPart{{2, 0}, {2, 4}}; }}); });
  EXPECT_EQ(outside.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(outside.what(), AllOf(HasSubstr("'x'"), HasSubstr("[3, 4]")));
  const Error none = error_of([&] { checkpoints.load({.sections = {"a", "c"}}); });
  EXPECT_EQ(none.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(none.what(), AllOf(HasSubstr("'c'"), HasSubstr("it has a, b")));
}

TEST(CheckpointFolder, SavesNothingWhereSomethingIsWrong) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder / "run");
  checkpoints.save(1, content_of(1));
  const at::Tensor one = torch::ones({2});
  const auto refuses = [&](const CheckpointContent& content, const std::string& why, std::int64_t step = 2) {
    const Error error = error_of([&] { checkpoints.save(step, content); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(why));
  };
  refuses({.values = "{"}, "no JSON");
  refuses({.values = std::string(300, '[')}, "nested more than 256 deep");
  refuses({.replicated = {{"../model", {{"a", one}}}}}, "'../model'");
  refuses({.replicated = {{"", {{"a", one}}}}}, "''");
  refuses({.replicated = {{"model", {{"a", one}, {"a", one}}}}}, "'a' is given twice");
  refuses({.replicated = {{"model", {{"a", at::Tensor()}}}}}, "'a'");
  refuses({.replicated = {{"model", {{"a", one.to_sparse()}}}}}, "'a' is not dense");
  refuses({.replicated = {{"model", {{"a", one.to(torch::kComplexDouble)}}}}}, "'a' is of dtype ComplexDouble");
  refuses({.replicated = {{"model", {{"a", one}}}}, .own = {{"model", {{"a", one}}}}},
          "tensor 'a' of the section 'model'");
  refuses({.own = {{"model", {{"a", one, {3}, {2}}}}}}, "outside of [3]");
  refuses({.own = {{"model", {{"a", one, {3}, {-1}}}}}}, "outside of [3]");
  refuses({.own = {{"model", {{"a", one, {3}, {0}}}}}}, "have 2 of the elements of [3]");
  refuses({.own = {{"model", {{"a", one, {3, 1}, {0}}}}}}, "dimensions");
  refuses(content_of(2), "from 0, not -1", -1);
  EXPECT_THAT(checkpoints.steps(), ElementsAre(1));
  expect_content_of(1, *checkpoints.load());
  EXPECT_FALSE(std::filesystem::exists(folder / "run/step-000000002.tmp"));

  const Error above = error_of([&] { CheckpointFolder(folder / "no/run").save(1, content_of(1)); });
  EXPECT_EQ(above.code(), ErrorCode::kNotFound);
  EXPECT_THAT(above.what(), HasSubstr(folder / "no/run"));
  write(folder / "file", "x");
  const Error file = error_of([&] { CheckpointFolder(folder / "file").save(1, content_of(1)); });
  EXPECT_THAT(file.what(), HasSubstr(folder / "file"));
}

// Its standard library is enough.
TEST(CheckpointFolder, IsReadByPython) {
  const TemporaryFolder folder;
  CheckpointFolder(folder / "run").save(3, content_of(3));
  const std::string command =
      std::string("python3 -B '") + READER + "' '" + (folder / "run") + "' > '" + (folder / "out") + "' 2>&1";
  const int status = std::system(command.c_str());
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(folder / "out"),
            "step 3\nvalues {'step': 3}\nmodel weight F32 [3, 5] 45.0\nmodel bias F32 [5] -15.0\n"
            "optimizer 0.step F32 [] 3.0\n");
  std::string bytes = contents(folder / "run/step-000000003/model.safetensors");
  bytes.back() ^= 1;
  write(folder / "run/step-000000003/model.safetensors", bytes);
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_THAT(contents(folder / "out"), HasSubstr("bias"));
}

}  // namespace
}  // namespace tandem::testing
