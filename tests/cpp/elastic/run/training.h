// A run of elastic_program under the real launcher, and what came of it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cpp/launch/tool.h"

namespace tandem::elastic {

using launch::eventually;
using launch::read_text;
using launch::TemporaryFolder;
using launch::Tool;

inline std::vector<double> parameters_of(const std::string& text) {
  std::vector<double> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("0x") != std::string::npos) values.push_back(std::strtod(line.c_str(), nullptr));
  }
  return values;
}

using Words = std::vector<std::string>;

inline Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// A run of the program, in a folder of its own.
class Training {
 public:
  explicit Training(const Words& flags, const Words& settings)
      : tool_(joined(joined(joined({"run"}, flags), {"--", ELASTIC_PROGRAM, folder_.path()}), settings), Tool::Screen::kPipes,
              {"OMP_NUM_THREADS=1"}) {}

  int wait() { return tool_.wait(); }
  // From now on its workers do not pause in steps (PAUSE).
  void hurry() { launch::write_text(folder_.path() + "/hurry", ""); }
  Tool& tool() { return tool_; }
  std::string said() const { return tool_.out() + tool_.err(); }
  bool says(const std::string& text) {
    return eventually([&] {
      tool_.look();
      return said().find(text) != std::string::npos;
    });
  }
  std::string folder() const { return folder_.path(); }
  std::string result(int rank = 0) const { return read_text(folder_.path() + "/result." + std::to_string(rank)); }
  pid_t pid(int member) const {
    const std::string text = read_text(folder_.path() + "/pid." + std::to_string(member));
    return text.find('\n') == std::string::npos ? -1 : static_cast<pid_t>(std::stol(text));
  }
  // Whether a worker here has come to be a rank, and trains.
  bool takes_part() const { return !read_text(folder_.path() + "/trains").empty(); }
  // Completed by the first rank.
  std::int64_t step() const {
    std::istringstream lines(read_text(folder_.path() + "/steps"));
    std::int64_t most = 0;
    for (std::int64_t step; lines >> step;) most = std::max(most, step);
    return most;
  }
  // How often the first rank has completed it.
  int times(std::int64_t wanted) const {
    std::istringstream lines(read_text(folder_.path() + "/steps"));
    int times = 0;
    for (std::int64_t step; lines >> step;) times += step == wanted;
    return times;
  }
  bool reaches(std::int64_t wanted) {
    return eventually([&] { return step() >= wanted; });
  }

 private:
  TemporaryFolder folder_;
  Tool tool_;
};

// What nothing disturbed.
inline const std::string& undisturbed(const Words& flags, const Words& settings) {
  static std::map<std::string, std::string> known;
  std::string key;
  for (const std::string& word : joined(flags, settings)) key += word + " ";
  const auto [place, is_new] = known.emplace(key, "");
  if (is_new) {
    Training training(flags, settings);
    EXPECT_EQ(training.wait(), 0) << training.said();
    place->second = training.result();
    EXPECT_FALSE(parameters_of(place->second).empty());
  }
  return place->second;
}

inline void expect_close(const std::string& result, const std::string& expected) {
  const auto values = parameters_of(result), wanted = parameters_of(expected);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], wanted[i], 1e-12) << i;
}

}  // namespace tandem::elastic
