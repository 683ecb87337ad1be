// The workers' output: every byte, every line whole, progress bars that look right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>

#include "cpp/launch/tool.h"
#include "launch/console.h"
#include "launch/line_splitter.h"

namespace tandem::launch {
namespace {

using testing::ElementsAre;

std::vector<std::string> split(const std::vector<std::string>& pieces) {
  std::vector<std::string> lines;
  LineSplitter splitter([&](std::string_view line, LineSplitter::End end) {
    using End = LineSplitter::End;
    lines.push_back(std::string(line) + (end == End::kNewline ? "|" : end == End::kReturn ? "<" : "$"));
  });
  for (const std::string& piece : pieces) splitter.feed(piece);
  splitter.finish();
  return lines;
}

TEST(LineSplitter, EndsLinesAtNewlineAndReturn) {
  EXPECT_THAT(split({"a\nb", "c\n\nd"}), ElementsAre("a|", "bc|", "|", "d$"));
  EXPECT_THAT(split({"10%\r20%\rdone\n"}), ElementsAre("10%<", "20%<", "done|"));
  EXPECT_THAT(split({"\r10%", "\r20%\n"}), ElementsAre("<", "10%<", "20%|"));
  EXPECT_THAT(split({"a\r\nb\r", "\nc\r", "d"}), ElementsAre("a|", "b|", "c<", "d$"));
  EXPECT_THAT(split({"a\r"}), ElementsAre("a<"));
  EXPECT_THAT(split({""}), ElementsAre());
}

TEST(LineSplitter, CutsEndlessLines) {
  const std::string half(LineSplitter::kLongestLine / 2 + 1, 'x');
  std::size_t total = 0;
  std::size_t longest = 0;
  LineSplitter splitter([&](std::string_view line, LineSplitter::End) {
    total += line.size();
    longest = std::max(longest, line.size());
  });
  for (int i = 0; i < 7; ++i) splitter.feed(half);
  splitter.finish();
  EXPECT_EQ(total, 7 * half.size());
  EXPECT_EQ(longest, LineSplitter::kLongestLine);
}

TEST(FitColumns, CountsCharactersNotBytes) {
  EXPECT_EQ(fit_columns("abcdef", 3), "abc");
  EXPECT_EQ(fit_columns("ab", 3), "ab");
  EXPECT_EQ(fit_columns("\xe2\x96\x88\xe2\x96\x88x", 2), "\xe2\x96\x88\xe2\x96\x88");
  EXPECT_EQ(fit_columns("\x1b[36m[0]\x1b[m abc", 5), "\x1b[36m[0]\x1b[m a");
}

TEST(Output, LosesNothingAndKeepsLinesWhole) {
  // Three ranks write at once, in pieces that are no lines.
  const Result result =
      run_tool({"run", "-n", "3", "sh", "-c", R"(seq -f "$RANK %.0f abcdefghijklmnopqrstuvwxyz" 1 200000)"});
  ASSERT_EQ(result.code, 0);
  for (int rank = 0; rank < 3; ++rank) {
    const std::string own = std::to_string(rank);
    const std::vector<std::string> lines = lines_of(result.out, "[" + own + "] ");
    ASSERT_EQ(lines.size(), 200000u);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      ASSERT_EQ(lines[i], own + " " + std::to_string(i + 1) + " abcdefghijklmnopqrstuvwxyz");
    }
  }
}

TEST(Output, ASlowReaderLosesNothing) {
  Tool tool({"run", "-n", "2", "seq", "1", "300000"});
  ASSERT_TRUE(tool.wait_for_output("[1] 1\n"));
  poll(nullptr, 0, 300);  // the pipe and the queue are full by now
  ASSERT_EQ(tool.wait(), 0);
  EXPECT_EQ(lines_of(tool.out(), "[0] ").size(), 300000u);
  EXPECT_EQ(lines_of(tool.out(), "[1] ").size(), 300000u);
}

TEST(Output, KeepsStdoutAndStderrApart) {
  const Result result = run_tool({"run", "sh", "-c", "echo to out; echo to err >&2; printf 'no newline'"});
  EXPECT_EQ(result.out, "[0] to out\n[0] no newline\n");
  EXPECT_EQ(result.err, "[0] to err\n");
}

TEST(Output, GoesWhereItIsSent) {
  TemporaryFolder folder;
  const Result result = run_tool({"run", "-n", "4", "--log-dir", folder.path(), "-r", "0:3,1:1,3:2", "--tee=3:2",
                                  "--local-ranks-filter", "0,1,3", "sh", "-c", "echo out; echo err >&2"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(lines_of(result.out, "["), ElementsAre("3] out"));
  EXPECT_THAT(lines_of(result.err, "["), testing::UnorderedElementsAre("1] err", "3] err"));
  const std::filesystem::path run = *std::filesystem::directory_iterator(folder.path());
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_EQ(read_text(run / "attempt_0" / rank / "stdout.log"), "out\n") << rank;
    EXPECT_EQ(read_text(run / "attempt_0" / rank / "stderr.log"), "err\n") << rank;
  }
}

TEST(Output, ThatIsNotShownHoldsNobodyUp) {
  // More than pipes and queues hold, with a reader that reads nothing of it.
  const Result result = run_tool({"run", "-n", "2", "--local-ranks-filter", "1", "sh", "-c",
                                  "[ $RANK = 1 ] || seq 1 300000; echo done"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "[1] done\n");
}

TEST(Output, IsKeptInATemporaryFolderWhereNoneIsNamed) {
  TemporaryFolder folder;
  const Result result = run_tool({"run", "--redirects", "1", "echo", "out"}, {"TMPDIR=" + folder.path()});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const std::filesystem::path run = *std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(result.err, "tandem: logs are kept in " + run.string() + "; --log-dir chooses another folder\n");
  EXPECT_EQ(read_text(run / "attempt_0/0/stdout.log"), "out\n");
  EXPECT_FALSE(std::filesystem::exists(run / "attempt_0/0/stderr.log"));
}

TEST(Output, ShowsALineAtOnce) {
  Tool tool({"run", "-n", "2", "sh", "-c", "echo now; exec sleep 1000"});
  EXPECT_TRUE(tool.wait_for_output("[0] now\n") && tool.wait_for_output("[1] now\n"));
}

TEST(Output, WithoutPrefix) {
  EXPECT_EQ(run_tool({"run", "--no-prefix", "printf", "a\\nb\\n"}).out, "a\nb\n");
}

TEST(Output, ProgressInAFileIsPrefixedAtEachReturn) {
  EXPECT_EQ(run_tool({"run", "printf", "\\r10%%\\r20%%\\rdone\\n"}).out, "[0] 10%\r[0] 20%\r[0] done\n");
  // Spaces that wipe out a bar are no line.
  EXPECT_EQ(run_tool({"run", "printf", "\\r10%%\\r    \\rdone\\n\\r20%%\\r   \\r"}).out,
            "[0] 10%\r[0] done\n[0] 20%\r\n");
  EXPECT_EQ(run_tool({"run", "printf", "\\r10%%\\rdone\\n\\r   "}).out, "[0] 10%\r[0] done\n");
  EXPECT_EQ(run_tool({"run", "printf", "20%%\\r   "}).out, "[0] 20%\r\n");
  EXPECT_EQ(run_tool({"run", "printf", "indented\\n   "}).out, "[0] indented\n[0]    \n");
  EXPECT_EQ(run_tool({"run", "printf", "crlf\\r\\n\\r\\n10%%\\r\\r\\ndone\\n"}).out,
            "[0] crlf\n[0] \n[0] 10%\r\n[0] done\n");
  // Another rank's line does not join it.
  TemporaryFolder folder;
  const Result two = run_tool({"run", "-n", "2", "sh", "-c", R"(
      if [ $RANK = 0 ]; then printf '50%%\r.'; touch $0/go; until [ -e $0/end ]; do sleep 0.01; done
      else until [ -e $0/go ]; do sleep 0.01; done; echo line; touch $0/end; fi)",
                               folder.path()});
  EXPECT_EQ(lines_of(two.out, "[1] ").size() + (two.out.find("\r[1]") == std::string::npos), 2u) << two.out;
}

TEST(Output, ProgressThatEndsInAReturnIsShownAtOnce) {
  TemporaryFolder folder;
  Tool tool({"run", "sh", "-c", R"(
      printf '50%%\r'; until [ -e $0/go ]; do sleep 0.01; done; printf '\ndone\n')",
             folder.path()});
  EXPECT_TRUE(tool.wait_for_output("[0] 50%\r"));
  write_text(folder.path() + "/go", "");
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_EQ(tool.out(), "[0] 50%\r\n[0] done\n");
}

// What a terminal of 40 columns shows after `bytes`: \r, \n and the two escape sequences that the console uses.
std::vector<std::string> screen_after(const std::string& bytes) {
  std::vector<std::string> rows = {""};
  std::size_t column = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string& row = rows.back();
    if (bytes[i] == '\r') {
      column = 0;
    } else if (bytes[i] == '\n') {
      rows.emplace_back();
      column = 0;
    } else if (bytes[i] == '\x1b') {
      const std::size_t end = bytes.find_first_of("mK", i);
      if (bytes[end] == 'K') row.resize(std::min(row.size(), column));
      i = end;
    } else {
      row.resize(std::max(row.size(), column + 1), ' ');
      row[column++] = bytes[i];
    }
  }
  return rows;
}

TEST(Output, ATerminalKeepsTheProgressBarBelowOtherLines) {
  TemporaryFolder folder;
  Tool tool({"run", "-n", "2", "sh", "-c", R"(
      if [ $RANK = 0 ]; then
        printf '\r10%% of a bar'
        until [ -e $0/go ]; do sleep 0.01; done
        printf '\r20%% of a bar that is far too long for this terminal'
        until [ -e $0/end ]; do sleep 0.01; done
        printf '\r          \rdone\n'
      else
        until [ -e $0/line ]; do sleep 0.01; done
        echo a line
        sleep 1000
      fi)",
             folder.path()},
            Tool::Screen::kTerminal);
  ASSERT_TRUE(tool.wait_for_output("10% of a bar"));
  write_text(folder.path() + "/line", "");
  ASSERT_TRUE(tool.wait_for_output("a line"));
  ASSERT_TRUE(eventually([&] { return tool.wait_for_output("10%") && screen_after(tool.out()).size() == 2; }));
  EXPECT_THAT(screen_after(tool.out()), ElementsAre("[1] a line", "[0] 10% of a bar"));
  write_text(folder.path() + "/go", "");
  ASSERT_TRUE(tool.wait_for_output("far too"));
  EXPECT_THAT(screen_after(tool.out()), ElementsAre("[1] a line", "[0] 20% of a bar that is far too long f"));
  write_text(folder.path() + "/end", "");
  ASSERT_TRUE(tool.wait_for_output("done"));
  EXPECT_THAT(screen_after(tool.out()), ElementsAre("[1] a line", "[0] done", ""));
  EXPECT_NE(tool.out().find("\x1b[36m[0]\x1b[m "), std::string::npos) << "the prefix has no colour";
}

TEST(Output, ATerminalShowsNoBarThatSpacesWipedOutAtTheEnd) {
  Tool tool({"run", "printf", "done\\n20%%\\r   "}, Tool::Screen::kTerminal);
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_THAT(screen_after(tool.out()), ElementsAre("[0] done", ""));
}

}  // namespace
}  // namespace tandem::launch
