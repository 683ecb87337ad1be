#include "support/run_tests.h"

#include <fnmatch.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

namespace {

bool matches_any(std::string_view patterns, const std::string& name) {
  while (!patterns.empty()) {
    const auto end = patterns.find(':');
    if (fnmatch(std::string(patterns.substr(0, end)).c_str(), name.c_str(), 0) == 0) return true;
    if (end == std::string_view::npos) return false;
    patterns.remove_prefix(end + 1);
  }
  return false;
}

// GoogleTest's own rule: POSITIVE[-NEGATIVE], each of patterns with colons between.
bool passes(std::string_view filter, const std::string& name) {
  const auto dash = filter.find('-');
  const auto wanted = filter.substr(0, dash);
  if (!wanted.empty() && !matches_any(wanted, name)) return false;
  return dash == std::string_view::npos || !matches_any(filter.substr(dash + 1), name);
}

// Narrows GoogleTest's filter, from GTEST_FILTER or --gtest_filter, to the file's tests. False where it has none.
bool select_file(const std::string& file) {
  const std::string given = GTEST_FLAG_GET(filter);
  const auto& tests = *testing::UnitTest::GetInstance();
  std::string selected;
  bool found = false;
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *tests.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const testing::TestInfo& test = *suite.GetTestInfo(k);
      if (std::filesystem::path(test.file()).stem() != file) continue;
      found = true;
      const std::string name = std::string(suite.name()) + "." + test.name();
      if (passes(given, name)) selected += name + ":";
    }
  }
  GTEST_FLAG_SET(filter, selected.empty() ? "-*" : selected);
  return found;
}

}  // namespace

int tandem::testing::run_tests(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  constexpr std::string_view kFile = "--file=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with(kFile)) {
      std::fprintf(stderr, "unknown argument '%s'; --file=NAME runs the tests of NAME.cpp\n", argv[i]);
      return 2;
    }
    const std::string file(argument.substr(kFile.size()));
    if (!select_file(file)) {
      std::fprintf(stderr, "no tests come from a file %s.cpp\n", file.c_str());
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
