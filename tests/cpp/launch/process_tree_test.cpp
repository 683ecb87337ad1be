// Which processes a launch ends, and which it leaves alone.
#include "launch/process_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "cpp/launch/tool.h"

namespace tandem::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

// A child of the test's that does nothing, killed at the end.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) pause();
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(SendSignal, ReachesTheProcessThatIsMeant) {
  const Sleeper sleeper;
  const auto process = read_process(sleeper.pid());
  ASSERT_TRUE(process);
  EXPECT_EQ(process->parent, getpid());
  EXPECT_TRUE(send_signal(*process, SIGTERM));
  EXPECT_TRUE(eventually([&] { return is_gone(sleeper.pid()); }));
  EXPECT_FALSE(read_process(sleeper.pid())) << "it waits for its parent, and is no process any more";
}

// As when the number was given to another process after a look into /proc.
TEST(SendSignal, LeavesALaterProcessOfThatNumberAlone) {
  const Sleeper sleeper;
  auto process = read_process(sleeper.pid());
  ASSERT_TRUE(process);
  --process->started;
  EXPECT_FALSE(send_signal(*process, SIGKILL));
  EXPECT_FALSE(is_gone(sleeper.pid()));
}

TEST(Descendants, KnowsAProcessWhoseMainThreadHasEnded) {
  TemporaryFolder folder;
  const std::string file = folder.path() + "/pid";
  const pid_t child = fork();
  if (child == 0) {
    execl(ODD_PROCESS, "odd_process", "leaderless", file.c_str(), nullptr);
    _exit(99);
  }
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(file); }));
  const std::string stat = read_text("/proc/" + std::to_string(child) + "/stat");
  EXPECT_EQ(stat[stat.rfind(')') + 2], 'Z');
  EXPECT_TRUE(read_process(child)) << "another thread of it runs";
  EXPECT_THAT(descendants(getpid()), testing::Contains(testing::Field(&Process::pid, child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(read_process(child));
}

// It left its worker's group and ignores signals, so that only a look at all processes finds it.
TEST(Ending, AProcessWhoseMainThreadHasEndedIsKilled) {
  TemporaryFolder folder;
  const std::string file = folder.path() + "/pid";
  Tool tool({"run", "--grace", "0.2", "sh", "-c", "setsid $1 leaderless $0 & until [ -s $0 ]; do sleep 0.01; done",
             file, ODD_PROCESS});
  EXPECT_EQ(tool.wait(), 0) << tool.err();
  EXPECT_THAT(tool.err(), Not(HasSubstr("does not die")));
  const pid_t pid = std::stoi(read_text(file));
  EXPECT_TRUE(is_gone(pid));
  if (!is_gone(pid)) kill(pid, SIGKILL);
}

// A program that starts processes and then becomes the launcher. One of them is left by its parent while the launch
// runs, for whoever adopts orphans.
class EarlierChildren {
 public:
  explicit EarlierChildren(const std::vector<std::string>& arguments)
      : tool_(arguments, Tool::Screen::kPipes, {},
              {"sh", "-c", R"(
    folder=$0
    sleep 1000 & echo $! > $folder/child
    sh -c 'sleep 1000 & echo $! > $0/orphan; until [ -e $0/leave ]; do sleep 0.01; done; echo > $0/left' $folder &
    echo $! > $folder/parent
    until [ -s $folder/orphan ]; do sleep 0.01; done
    exec "$@")",
               folder_.path()}) {}
  ~EarlierChildren() {
    for (const auto& [name, program] : {std::pair("parent", "sh\n"), {"child", "sleep\n"}, {"orphan", "sleep\n"}}) {
      const pid_t pid = std::atoi(read_text(path(name)).c_str());
      if (pid > 0 && read_text("/proc/" + std::to_string(pid) + "/comm") == program) kill(pid, SIGKILL);
    }
  }

  Tool& tool() { return tool_; }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void leave_the_orphan() const {
    write_text(path("leave"), "");
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(path("left")); }));
  }
  void expect_alive() const {
    for (const char* name : {"child", "orphan"}) EXPECT_FALSE(is_gone(std::stoi(read_text(path(name))))) << name;
  }

 private:
  TemporaryFolder folder_;
  Tool tool_;
};

TEST(Ending, ChildrenFromBeforeTheLaunchAreLeftAlone) {
  EarlierChildren family({"run", "-n", "2", "sh", "-c", "echo $$; while :; do sleep 0.01; done"});
  ASSERT_TRUE(family.tool().wait_for_output("[0] ") && family.tool().wait_for_output("[1] "));
  family.leave_the_orphan();
  const pid_t worker = std::stoi(lines_of(family.tool().out(), "[0] ").at(0));
  family.tool().send(SIGTERM);
  EXPECT_EQ(family.tool().wait(), 128 + SIGTERM);
  EXPECT_THAT(family.tool().err(), HasSubstr("stopping all ranks: SIGTERM"));
  EXPECT_TRUE(is_gone(worker));
  family.expect_alive();
}

TEST(Ending, ChildrenFromBeforeTheLaunchDoNotChangeItsExitCode) {
  EarlierChildren family({"run", "sh", "-c", "exit 42"});
  EXPECT_EQ(family.tool().wait(), 42);
  EXPECT_THAT(family.tool().err(), HasSubstr("exited with code 42"));
  family.expect_alive();
}

TEST(Ending, KillingALauncherThatHadChildrenLeavesThemAlone) {
  EarlierChildren family({"run", "-n", "2", "sh", "-c", "trap '' TERM INT HUP; echo $$; exec sleep 1000"});
  ASSERT_TRUE(family.tool().wait_for_output("[0] ") && family.tool().wait_for_output("[1] "));
  const pid_t worker = std::stoi(lines_of(family.tool().out(), "[1] ").at(0));
  family.tool().send(SIGKILL);
  EXPECT_EQ(family.tool().wait(), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return is_gone(worker); }));
  family.expect_alive();
}

// Old systems and some sandboxes.
TEST(Ending, WithoutPidfdsTheLauncherSaysSoAndEndsEverybody) {
  TemporaryFolder folder;
  const std::string file = folder.path() + "/pid";
  Tool tool({"run", "sh", "-c", "setsid sh -c 'echo $$ > $0; sleep 1000' $0 & until [ -s $0 ]; do sleep 0.01; done",
             file},
            Tool::Screen::kPipes, {}, {ODD_PROCESS, "without-pidfds"});
  EXPECT_EQ(tool.wait(), 0) << tool.err();
  EXPECT_THAT(tool.err(), HasSubstr("tandem: this system has no pidfds"));
  EXPECT_TRUE(is_gone(std::stoi(read_text(file))));
}

}  // namespace
}  // namespace tandem::launch
