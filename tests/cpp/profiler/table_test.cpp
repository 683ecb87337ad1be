// What a profile's table says about spans that nest.
#include "profiler/table.h"

#include <gmock/gmock.h>

#include <sstream>

namespace tandem {
namespace {

using ::testing::HasSubstr;

struct Line {
  std::string name;
  long long calls = 0;
  double own = 0, total = 0, mean = 0;
};

std::vector<Line> lines_of(const std::string& table) {
  std::istringstream text(table);
  std::string head;
  std::getline(text, head);
  std::vector<Line> lines;
  for (Line line; text >> line.name >> line.calls >> line.own >> line.total >> line.mean;) lines.push_back(line);
  return lines;
}

constexpr std::int64_t kMs = 1000000;

TEST(ProfileTable, TakesWhatIsInsideFromTheOwnTime) {
  const auto lines = lines_of(profile_table({
      {"inner", 1, 2 * kMs, 5 * kMs},
      {"outer", 1, 0, 10 * kMs},
      {"inner", 1, 6 * kMs, 7 * kMs},
      {"innermost", 1, 3 * kMs, 4 * kMs},
      {"inner", 2, 1 * kMs, 2 * kMs},  // another thread's is in nothing
  }));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].name, "outer");
  EXPECT_EQ(lines[0].own, 6);
  EXPECT_EQ(lines[0].total, 10);
  EXPECT_EQ(lines[1].name, "inner");
  EXPECT_EQ(lines[1].calls, 3);
  EXPECT_EQ(lines[1].own, 4);
  EXPECT_EQ(lines[1].total, 5);
  EXPECT_NEAR(lines[1].mean, 5000.0 / 3, 0.1);
  EXPECT_EQ(lines[2].own, 1);
}

TEST(ProfileTable, CountsWhatCallsItselfOnce) {
  const auto lines = lines_of(profile_table({{"again", 1, 0, 10 * kMs}, {"again", 1, 2 * kMs, 4 * kMs}}));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].calls, 2);
  EXPECT_EQ(lines[0].total, 10);
  EXPECT_EQ(lines[0].own, 10);
}

TEST(ProfileTable, LeavesAloneWhatGoesOnBeside) {
  const auto lines = lines_of(profile_table({{"add", 1, 0, 4 * kMs}, {"all_reduce", 1, 1 * kMs, 9 * kMs, false}}));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].name, "all_reduce");
  EXPECT_EQ(lines[0].own, 8);
  EXPECT_EQ(lines[1].own, 4);
}

TEST(ProfileTable, EndsAfterAHundredNamesAndCutsLongOnes) {
  std::vector<ProfiledSpan> spans;
  for (int i = 0; i < 130; ++i) spans.push_back({"n" + std::to_string(i), 1, i * kMs, (i + 1) * kMs});
  spans.push_back({std::string(300, 'x'), 2, 0, 1000 * kMs});
  const std::string table = profile_table(spans);
  EXPECT_THAT(table, HasSubstr("and 31 more names\n"));
  EXPECT_THAT(table, HasSubstr(std::string(45, 'x') + "... "));
  EXPECT_EQ(lines_of(profile_table({})).size(), 0u);
}

}  // namespace
}  // namespace tandem
