// Ranks that save and load together, also in other numbers.
#include "cpp/checkpoint/contents.h"
#include "cpp/comm/threads.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Runs body(rank, group) on each of `size` ranks.
void run_in_groups(int size, const std::function<void(int, std::shared_ptr<ProcessGroup>)>& body) {
  const Store store = hash_store();
  run_ranks(size, [&](int rank) { body(rank, ProcessGroup::create(options_for(rank, size), store)); });
}

at::Tensor rows() {
  return torch::arange(70, torch::kDouble).view({10, 7});
}

// Rows of rank `rank`, of the columns before `split` and after.
CheckpointContent own_content(int rank, int size) {
  const std::int64_t begin = 10 * rank / size, end = 10 * (rank + 1) / size;
  CheckpointContent content{.replicated = {{"model", {{"weight", torch::full({2}, 4.0 + 100 * rank)}}}},
                            .values = "{\"of\": " + std::to_string(rank) + "}"};
  content.own["optimizer"] = {{"rows", rows().slice(0, begin, end), {10, 7}, {begin, 0}},
                              {std::to_string(rank) + ".step", torch::tensor(rank)}};
  // One row and one column a rank, of a square: parts that do not lie one after the other in the whole.
  content.own["grid"] = {{"columns",
                          rows().slice(1, rank == 0 ? 0 : rank, rank == size - 1 ? 7 : rank + 1),
                          {10, 7},
                          {0, rank == 0 ? 0 : rank}}};
  return content;
}

TEST(CheckpointRanks, EachWritesItsPartAndOthersLoadIt) {
  const TemporaryFolder folder;
  run_in_groups(3, [&](int rank, const auto& group) {
    CheckpointFolder(folder / "run", {.group = group}).save(9, own_content(rank, 3));
  });
  EXPECT_TRUE(std::filesystem::exists(folder / "run/step-000000009/optimizer.rank-2-of-3.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/step-000000009/model.safetensors"));

  run_in_groups(2, [&](int rank, const auto& group) {
    const auto read = CheckpointFolder(folder / "run", {.group = group}).load();
    ASSERT_TRUE(read);
    EXPECT_EQ(read->world_size, 3);
    EXPECT_EQ(read->values, "{\"of\": 0}");
    EXPECT_TRUE(at::equal(read->sections.at("model")[0].second, torch::full({2}, 4.0)));
    EXPECT_TRUE(at::equal(read->sections.at("grid")[0].second, rows()));
    std::map<std::string, at::Tensor> optimizer;
    for (const auto& [name, tensor] : read->sections.at("optimizer")) optimizer[name] = tensor;
    ASSERT_EQ(optimizer.size(), 4u);
    EXPECT_TRUE(at::equal(optimizer["rows"], rows()));
    EXPECT_EQ(optimizer["2.step"].item<int>(), 2);
    // Each of the two takes half of it.
    const auto half = CheckpointFolder(folder / "run", {.group = group})
                          .load({.sections = {"optimizer", "grid"},
                                 .part = [&](auto&, const std::string& name, auto&) -> std::optional<TensorPart> {
                                   if (name.ends_with(".step")) return {};
                                   return TensorPart{{5 * rank, 1}, {5, 6}};
                                 }});
    const at::Tensor wanted = rows().slice(0, 5 * rank, 5 * rank + 5).slice(1, 1);
    EXPECT_TRUE(at::equal(half->sections.at("optimizer")[0].second, wanted));
    EXPECT_TRUE(at::equal(half->sections.at("grid")[0].second, wanted));
  });
  // Ranks have a file each of a section, which is one.
  EXPECT_THAT([&] { CheckpointFolder(folder / "run").load({.sections = {"modle"}}); },
              ::testing::ThrowsMessage<Error>(HasSubstr("no section 'modle'; it has grid, model, optimizer")));
  // One process alone.
  EXPECT_TRUE(
      at::equal(CheckpointFolder(folder / "run").load({.sections = {"grid"}})->sections.at("grid")[0].second, rows()));
}

TEST(CheckpointRanks, OneThatFailsFailsAll) {
  const TemporaryFolder folder;
  run_in_groups(2, [&](int rank, const auto& group) {
    CheckpointFolder checkpoints(folder / "run", {.group = group});
    checkpoints.save(1, own_content(rank, 2));
    CheckpointContent content = own_content(rank, 2);
    if (rank == 1) content.own["more"] = {{"bad", torch::ones({2}, torch::kComplexDouble)}};
    const Error error = error_of([&] { checkpoints.save(2, content); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("step-000000002"), HasSubstr("'bad'")));
    if (rank == 0) {
      EXPECT_THAT(error.what(), HasSubstr("rank 1: "));
    }

    content = own_content(rank, 2);
    content.own["optimizer"].push_back({"both", torch::ones({1})});
    const Error twice = error_of([&] { checkpoints.save(2, content); });
    EXPECT_THAT(twice.what(), AllOf(HasSubstr("'both'"), HasSubstr("rank-0-of-2"), HasSubstr("rank-1-of-2")));

    checkpoints.save_async(2, content);
    EXPECT_THAT(error_of([&] { checkpoints.wait(); }).what(), HasSubstr("'both'"));
    content = own_content(rank, 2);
    if (rank == 1) content.own["more"] = {{"bad", at::Tensor()}};
    const Error bad = error_of([&] {
      checkpoints.save_async(2, content);
      checkpoints.wait();
    });
    EXPECT_THAT(bad.what(), HasSubstr("'bad'"));

    EXPECT_EQ(checkpoints.load()->step, 1);  // and all of them can go on
    checkpoints.save_async(2, own_content(rank, 2));
    checkpoints.wait();
    EXPECT_EQ(checkpoints.load()->step, 2);
  });
}

// What one rank alone cannot read, none of them uses.
TEST(CheckpointRanks, AllGoBackTogether) {
  const TemporaryFolder folder;
  run_in_groups(2, [&](int rank, const auto& group) {
    CheckpointFolder checkpoints(folder / "run", {.group = group});
    for (const int step : {1, 2}) checkpoints.save(step, own_content(rank, 2));
    if (rank == 1) {
      const std::string file = folder / "run/step-000000002/optimizer.rank-1-of-2.safetensors";
      std::string bytes = contents(file);
      bytes[bytes.size() - 9] ^= 1;
      write(file, bytes);
    }
    group->barrier();
    // Rank 0 does not read what is damaged.
    const auto read =
        checkpoints.load({.part = [&](const std::string& section, const std::string&,
                                      const std::vector<std::int64_t>& sizes) -> std::optional<TensorPart> {
          if (rank == 0 && section != "model") return {};
          return TensorPart{std::vector<std::int64_t>(sizes.size()), sizes};
        }});
    EXPECT_EQ(read->step, 1);
    EXPECT_THAT(read->refused, ElementsAre(StartsWith(rank == 0 ? "step-000000002: rank 1: " : "step-000000002: ")));
  });
}

// Files without any of what is wanted are not opened: they may be gone.
TEST(CheckpointRanks, APartIsReadWithoutTheOtherFiles) {
  const TemporaryFolder folder;
  run_in_groups(2, [&](int rank, const auto& group) {
    CheckpointContent content = own_content(rank, 2);
    content.own["layers"] = {{"layer." + std::to_string(rank) + ".w", torch::full({2}, rank)}};
    CheckpointFolder(folder / "run", {.group = group}).save(1, content);
  });
  for (const char* name : {"model", "grid.rank-0-of-2", "layers.rank-0-of-2"}) {
    ASSERT_TRUE(std::filesystem::remove(folder / "run/step-000000001/" + name + ".safetensors")) << name;
  }
  CheckpointFolder checkpoints(folder / "run");
  const auto layer = checkpoints.load({.sections = {"layers"}, .prefixes = {"layer.1.", "other"}});
  ASSERT_EQ(layer->sections.size(), 1u);
  ASSERT_EQ(layer->sections.at("layers").size(), 1u);
  EXPECT_TRUE(at::equal(layer->sections.at("layers")[0].second, torch::full({2}, 1)));
  const auto rest = checkpoints.load({.without = {"model", "grid", "layers", "none"}});
  EXPECT_THAT(rest->sections, ::testing::SizeIs(1));
  EXPECT_EQ(rest->sections.at("optimizer").size(), 3u);
  EXPECT_TRUE(checkpoints.load({.sections = {"model"}, .prefixes = {"nothing"}})->sections.at("model").empty());
  EXPECT_EQ(error_of([&] { checkpoints.load(); }).code(), ErrorCode::kDataLoss);
}

TEST(CheckpointRanks, WhatOneCannotUseFailsAll) {
  const TemporaryFolder folder;
  run_in_groups(3, [&](int rank, const auto& group) {
    CheckpointFolder checkpoints(folder / "run", {.group = group});
    const auto use = [&](bool fails) {
      checkpoints.together([&] {
        if (fails && rank == 2) throw std::runtime_error("it does not fit");
      });
    };
    use(false);
    try {
      use(true);
      ADD_FAILURE() << "rank " << rank;
    } catch (const Error& error) {
      EXPECT_NE(rank, 2);
      EXPECT_STREQ(error.what(), "rank 2: it does not fit");
    } catch (const std::runtime_error& own) {
      EXPECT_EQ(rank, 2);
      EXPECT_STREQ(own.what(), "it does not fit");
    }
    use(false);
  });
}

}  // namespace
}  // namespace tandem::testing
