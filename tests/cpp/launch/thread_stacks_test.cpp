#include "launch/thread_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "base/own_thread.h"
#include "base/stack_signal.h"
#include "membership/stack_answer.h"
#include "tool.h"

namespace tandem::launch {

volatile bool wait_is_over = false;

// Not in an unnamed namespace, for its name is looked for; each level is a frame.
[[gnu::noinline]] void wait_in_depth(int levels) {
  if (levels > 0) {
    wait_in_depth(levels - 1);
  } else {
    while (!wait_is_over) pause();
  }
  asm volatile("");  // or the call above would be a jump
}

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A process that does something once it is told where its stacks go, and then hangs.
class Hanging {
 public:
  explicit Hanging(const std::function<void()>& act) {
    int ready[2];
    if (pipe(ready) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      setenv(membership::kStacksVariable, answers().c_str(), 1);
      act();
      // Threads that were started need a moment to be where they hang.
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      if (write(ready[1], "", 1) != 1) _exit(1);
      wait_in_depth(2);
    }
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    EXPECT_TRUE(eventually([&] { return state() == 'S'; }));
  }
  ~Hanging() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  std::string answers() const { return folder_.path() + "/stacks.raw"; }
  ThreadStacks read_stacks() const { return read_thread_stacks(pid_, answers()); }

 private:
  // Of its main thread.
  char state() const {
    const std::string text = read_text("/proc/" + std::to_string(pid_) + "/stat");
    const std::size_t name = text.rfind(") ");
    return name == std::string::npos ? '?' : text[name + 2];
  }

  TemporaryFolder folder_;
  pid_t pid_;
};

void start(int levels) {
  std::thread([levels] { wait_in_depth(levels); }).detach();
}

int lines_in(const std::string& text) { return static_cast<int>(std::ranges::count(text, '\n')); }

TEST(ThreadStacks, NameFunctionsAndFoldThreadsWithTheSameStack) {
  const Hanging process([] {
    membership::answer_stack_signal();
    for (int i = 0; i < 3; ++i) start(1);
    start_own_thread("own", [] { wait_in_depth(5); }).detach();  // which takes no other signals
  });
  const ThreadStacks stacks = process.read_stacks();
  EXPECT_THAT(stacks.text, HasSubstr("the first one:\n"));
  EXPECT_THAT(stacks.text, HasSubstr("  tandem::launch::wait_in_depth(int) [launch_test]\n"));
  EXPECT_THAT(stacks.text, HasSubstr("3 threads, launch_test (3):\n"));
  EXPECT_THAT(stacks.text, HasSubstr(", own:\n"));
  EXPECT_EQ(stacks.text, stacks.short_text);
  EXPECT_FALSE(stacks.prints_own);
  EXPECT_EQ(kill(process.pid(), 0), 0);  // it has survived that
  EXPECT_THAT(process.read_stacks().text, HasSubstr("3 threads"));  // and can be asked again
}

TEST(ThreadStacks, ManyAreCutAndWholeElsewhere) {
  const Hanging process([] {
    membership::answer_stack_signal();
    for (int i = 1; i < 30; ++i) start(i);
  });
  const ThreadStacks stacks = process.read_stacks();
  EXPECT_EQ(lines_in(stacks.short_text), kShownLines);
  EXPECT_THAT(stacks.short_text, HasSubstr("more lines\n"));
  EXPECT_GT(lines_in(stacks.text), 30 * 15);
}

TEST(ThreadStacks, SayWhyThereAreNone) {
  const Hanging no_answers([] {});
  EXPECT_THAT(no_answers.read_stacks().text, HasSubstr("the program gives no stacks"));
  EXPECT_THAT(no_answers.read_stacks().text, HasSubstr("state S (sleeping), in "));

  const Hanging stopped([] { membership::answer_stack_signal(); });
  kill(stopped.pid(), SIGSTOP);
  ASSERT_EQ(waitpid(stopped.pid(), nullptr, WUNTRACED), stopped.pid());
  EXPECT_THAT(stopped.read_stacks().text, HasSubstr("the process is stopped, as by SIGSTOP"));
  EXPECT_THAT(stopped.read_stacks().text, HasSubstr("state T (stopped)"));

  const Hanging deaf([] {
    membership::answer_stack_signal();
    start(1);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
  });
  EXPECT_THAT(deaf.read_stacks().text, HasSubstr("it blocks the signal that asks for its stack"));
  EXPECT_THAT(deaf.read_stacks().text, HasSubstr("wait_in_depth"));  // the other thread

  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(read_thread_stacks(child, "/nonexistent").text, "the process is gone\n");
}

TEST(ThreadStacks, AProgramsOwnHandlerStays) {
  const Hanging process([] {
    signal(stack_signal(), [](int) {});
    membership::answer_stack_signal();
    start(3);
  });
  const ThreadStacks stacks = process.read_stacks();
  EXPECT_THAT(stacks.text, HasSubstr("no thread has given its stack"));
  EXPECT_THAT(stacks.text, Not(HasSubstr("wait_in_depth")));
  EXPECT_EQ(kill(process.pid(), 0), 0);
}

// As Go's runtime has it.
TEST(ThreadStacks, AHandlerOfAllSignalsGivesThisOneUp) {
  const Hanging process([] {
    for (int one = SIGRTMIN; one <= SIGRTMAX; ++one) signal(one, [](int) {});
    membership::answer_stack_signal();
  });
  EXPECT_THAT(process.read_stacks().text, HasSubstr("wait_in_depth"));
}

// Go's is in go/elastic.
TEST(ThreadStacks, TheJvmPrintsItsOwn) {
  if (std::system("command -v java > /dev/null") != 0) GTEST_SKIP() << "needs Java";
  const TemporaryFolder folder;
  write_text(folder.path() + "/Hang.java", "class Hang { public static void main(String[] a) throws Exception { Thread.sleep(100000); } }");
  const pid_t child = fork();
  if (child == 0) execlp("java", "java", (folder.path() + "/Hang.java").c_str(), nullptr);
  EXPECT_TRUE(eventually([&] { return read_thread_stacks(child, folder.path() + "/raw").prints_own; }));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace tandem::launch
