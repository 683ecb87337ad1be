// tandem run --shared-parameters: workers get memory that nobody else has, and go on without each other.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "cpp/launch/tool.h"

namespace tandem::launch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// "DEVICE:INODE" of the memory that a worker has.
constexpr const char* kMemory = "stat -L -c %d:%i /proc/self/fd/$TANDEM_SHARED_PARAMETERS";

// How many processes have it open.
int holders(const std::string& memory) {
  int count = 0;
  std::error_code ignored;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::filesystem::directory_iterator file(process.path() / "fd", ignored);
    for (const std::filesystem::directory_iterator end; file != end; file.increment(ignored)) {
      struct stat info {};
      if (stat(file->path().c_str(), &info) != 0) continue;
      count += std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) == memory;
    }
  }
  return count;
}

TEST(SharedParameters, AreOneMemoryForAllWorkers) {
  const std::string script = std::string("readlink /proc/self/fd/$TANDEM_SHARED_PARAMETERS; ") + kMemory;
  const Result result = run_tool({"run", "-n", "2", "--shared-parameters", "sh", "-c", script});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto first = lines_of(result.out, "[0] "), second = lines_of(result.out, "[1] ");
  ASSERT_EQ(first.size(), 2u);
  EXPECT_THAT(first[0], HasSubstr("memfd:tandem-parameters"));
  EXPECT_EQ(first, second);
  const std::vector<std::string> without{"run", "sh", "-c", "echo \"<$TANDEM_SHARED_PARAMETERS>\""};
  EXPECT_THAT(run_tool(without, {"PET_SHARED_PARAMETERS=1"}).out, testing::MatchesRegex("\\[0\\] <[0-9]+>\n"));
  EXPECT_EQ(run_tool(without, {"TANDEM_SHARED_PARAMETERS=3"}).out, "[0] <>\n") << "of a launcher around this one";
}

TEST(SharedParameters, GoWithTheLaunchWhateverIsKilled) {
  Tool tool({"run", "-n", "2", "--shared-parameters", "sh", "-c", std::string(kMemory) + "; exec sleep 1000"});
  ASSERT_TRUE(tool.wait_for_output("\n"));
  const std::string memory = tool.out().substr(4, tool.out().find('\n') - 4);
  EXPECT_GT(holders(memory), 0);
  tool.send(SIGKILL);
  tool.wait();
  EXPECT_TRUE(eventually([&] { return holders(memory) == 0; }));
}

TEST(SharedParameters, AWorkerThatIsKilledIsStartedAgainAlone) {
  TemporaryFolder folder;
  const Result result = run_tool({"run", "-n", "2", "--shared-parameters", "--max-restarts", "1", "sh", "-c",
                                  std::string(kMemory) + R"(
      [ $RANK.$TORCHELASTIC_RESTART_COUNT = 1.0 ] && kill -9 $$
      [ $RANK = 1 ] && { touch $0/again; exit 0; }
      until [ -e $0/again ]; do sleep 0.01; done)",
                                  folder.path()});
  EXPECT_EQ(result.code, 0) << result.err;
  const auto first = lines_of(result.out, "[0] ");
  ASSERT_EQ(first.size(), 1u) << "it was started once";
  EXPECT_THAT(lines_of(result.out, "[1] "), ElementsAre(first[0], first[0])) << "the same memory";
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGKILL (signal 9); another one takes its place"));
}

TEST(SharedParameters, TheOthersGoOnWithoutAWorkerAndItsEndIsTold) {
  TemporaryFolder folder;
  const Result result = run_tool({"run", "-n", "2", "--shared-parameters", "sh", "-c", R"(
      [ $RANK = 1 ] && { echo $$ > $0/pid; exit 7; }
      until [ -s $0/pid ]; do sleep 0.01; done
      while kill -0 $(cat $0/pid) 2> /dev/null; do sleep 0.01; done
      echo done)",
                                  folder.path()});
  EXPECT_EQ(lines_of(result.out, "[0] "), std::vector<std::string>{"done"});
  EXPECT_THAT(result.err, AllOf(HasSubstr("exited with code 7; the others go on without it"), HasSubstr("rank 1")));
  EXPECT_EQ(result.code, 7);
}

TEST(SharedParameters, AreOfOneMachine) {
  const Result result = run_tool({"run", "--shared-parameters", "--nnodes", "2", "--master-addr", "a", "true"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("--shared-parameters is of the processes of one machine"));
}

}  // namespace
}  // namespace tandem::launch
