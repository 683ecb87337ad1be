#include "tandem/match_tensors.h"

#include "cpp/weights/pt_test_values.h"
#include "tandem/rename_tensors.h"

namespace tandem::testing::match_tensors_test {
namespace {

using ::testing::ElementsAre;

TEST(LoadTensors, CopiesByName) {
  const at::Tensor weight = at::zeros({2, 3}).requires_grad_(), bias = at::zeros({2});
  load_tensors({{"w", weight}, {"b", bias}}, {{"b", counted({2})}, {"w", counted({2, 3})}});
  EXPECT_TRUE(weight.equal(counted({2, 3})));
  EXPECT_TRUE(bias.equal(counted({2})));
  EXPECT_TRUE(weight.requires_grad() && weight.is_leaf());
}

TEST(LoadTensors, ListsAllThatDoesNotFit) {
  const at::Tensor a = at::zeros({2}), b = at::zeros({3}), c = at::zeros({2}), d = at::zeros({1});
  const NamedTensors into = {{"a", a}, {"b", b}, {"c", c}, {"d", d}};
  const NamedTensors from = {
      {"a", counted({2}) + 1}, {"b", counted({2})}, {"c", counted({2}, at::kDouble)}, {"e", at::ones(4)}};
  EXPECT_ERROR(load_tensors(into, from), ErrorCode::kInvalidArgument, "4 in all", "shape of 'b': [2], wanted [3]",
               "dtype of 'c': Double, wanted Float", "missing: 'd' [1] Float", "unexpected: 'e' [4] Float");
  EXPECT_TRUE(a.equal(at::zeros({2})));  // nothing was copied
  EXPECT_ERROR(load_tensors(into, from, {.strict = false}), ErrorCode::kInvalidArgument, "2 in all", "shape of 'b'",
               "dtype of 'c'");
  EXPECT_ERROR(load_tensors({{"a", a}, {"a", b}}, {{"a", a}, {"a", a}}), ErrorCode::kInvalidArgument,
               "given twice: 'a'", "wanted twice: 'a'");
}

TEST(LoadTensors, UnlessStrictWhatIsThereIsLoaded) {
  const at::Tensor a = at::zeros({2}), b = at::zeros({3});
  const Match match = load_tensors({{"a", a}, {"b", b}}, {{"a", counted({2}, at::kDouble)}, {"c", at::ones(1)}},
                                   {.strict = false, .convert_dtype = true});
  EXPECT_THAT(match.missing, ElementsAre("b"));
  EXPECT_THAT(match.unexpected, ElementsAre("c"));
  EXPECT_TRUE(a.equal(counted({2})));
}

TEST(RenameTensors, ByRulesInTheirOrder) {
  const auto names = [](const std::vector<RenameRule>& rules) {
    std::vector<std::string> result;
    const NamedTensors tensors = {{"module.layers.0.attention.q", at::ones(1)},
                                  {"module.layers.12.mlp", at::ones(1)},
                                  {"x.module.y", at::ones(1)}};
    for (const auto& item : rename_tensors(tensors, rules)) result.push_back(item.first);
    return result;
  };
  EXPECT_THAT(names({}), ElementsAre("module.layers.0.attention.q", "module.layers.12.mlp", "x.module.y"));
  EXPECT_THAT(names({{"^module\\.", ""}, {R"(layers\.(\d+)\.)", "h.$1."}, {"^h\\.0", "first"}}),
              ElementsAre("first.attention.q", "h.12.mlp", "x.module.y"));
  EXPECT_ERROR(names({{"(", ""}}), ErrorCode::kInvalidArgument, "no regular expression");
  EXPECT_ERROR(names({{".*", "same"}}), ErrorCode::kInvalidArgument, "'module.layers.0.attention.q' and", "become '");
  EXPECT_ERROR(rename_tensors({{std::string(2000, 'a'), at::ones(1)}}, {{"a+", ""}}), ErrorCode::kInvalidArgument,
               "too long");
  EXPECT_ERROR(names({{std::string(1'000'000, 'a'), ""}}), ErrorCode::kInvalidArgument, "more than 1000 letters");
  EXPECT_ERROR(names({{"a", std::string(2000, 'a')}}), ErrorCode::kInvalidArgument, "more than 1000 letters");
}

}  // namespace
}  // namespace tandem::testing::match_tensors_test
