// What shells and `man` are told of the tool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cpp/launch/tool.h"

namespace tandem::launch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// What bash offers for the last of `words`.
std::vector<std::string> offered(const std::vector<std::string>& words) {
  TemporaryFolder folder;
  const std::string file = folder.path() + "/tandem";
  write_text(file, run_tool({"completion", "bash"}).out);
  std::vector<std::string> arguments = {"run", "--no-prefix", "bash", "-c", R"(
      source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tandem
      for word in "${COMPREPLY[@]}"; do echo "$word"; done)",
                                        file};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Result result = run_tool(arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  std::istringstream lines(result.out);
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  return found;
}

TEST(Completion, OffersCommandsThenTheirFlags) {
  EXPECT_THAT(offered({"tandem", "r"}), testing::UnorderedElementsAre("run", "record"));
  EXPECT_THAT(offered({"tandem", "record", "c"}), testing::UnorderedElementsAre("cat", "convert"));
  const std::vector<std::string> flags = offered({"tandem", "run", "-n", "2", "--n"});
  for (const char* flag : {"--nproc-per-node", "--nnodes", "--no-python"}) EXPECT_THAT(flags, Contains(flag));
  EXPECT_THAT(flags, Not(Contains("--nproc_per_node"))) << "one spelling is enough";
  EXPECT_THAT(offered({"tandem", "record", "cat", "--nn"}), IsEmpty());
  EXPECT_THAT(offered({"tandem", "d"}), testing::ElementsAre("doctor"));
  EXPECT_THAT(offered({"tandem", "doctor", "--"}), testing::AllOf(Contains("--hostfile"), Not(Contains("--agent"))));
  EXPECT_THAT(offered({"tandem", "run", "prog"}), IsEmpty()) << "where bash completes files by itself";
}

TEST(Completion, KnowsThreeShells) {
  EXPECT_THAT(run_tool({"completion", "zsh"}).out, HasSubstr("bashcompinit"));
  EXPECT_THAT(run_tool({"completion", "fish"}).out, HasSubstr(" -s n -l nproc-per-node -r "));
  const Result result = run_tool({"completion", "tcsh"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("'tcsh'"));
}

TEST(ManualPage, HasEveryCommandAndNoStrayRequest) {
  const std::string page = run_tool({"man"}).out;
  for (const char* text : {".SS tandem run\n", ".SS tandem record cat\n", ".SS tandem doctor\n", "\\-\\-max\\-restarts", "PET_MAX_RESTARTS"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || (line[0] != '.' && line[0] != '\'')) continue;
    EXPECT_THAT(line.substr(0, line.find(' ')), testing::AnyOf(".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".br")) << line;
  }
}

}  // namespace
}  // namespace tandem::launch
