// What a process measures, in memory that another one reads.
#include "metrics/page.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "membership/socket.h"
#include "metrics/job/page_server.h"
#include "metrics/reporter.h"
#include "support/temporary_folder.h"
#include "tandem/error.h"
#include "tandem/metrics.h"

namespace tandem::metrics {
namespace {

TEST(Page, IsReadAsItWasWritten) {
  auto written = Page::make();
  ASSERT_TRUE(written);
  const auto read = Page::open(duplicate(written->fd()));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->read());
  Measured measured;
  measured.step = 7;
  measured.loss = std::nan("");
  written->write(measured);
  const auto first = read->read();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->step, 7);
  EXPECT_EQ(first->samples, -1);
  ASSERT_TRUE(first->loss);
  EXPECT_TRUE(std::isnan(*first->loss));
  EXPECT_FALSE(first->wait_seconds);
  EXPECT_FALSE(first->calls);
  measured.calls = CallTotals{5, 1, 1000, 64, 0.25};
  written->write(measured);
  EXPECT_EQ(read->read()->calls, measured.calls);
}

TEST(Page, IsNeverReadInTheMiddleOfAWrite) {
  auto written = Page::make();
  ASSERT_TRUE(written);
  const auto read = Page::open(duplicate(written->fd()));
  ASSERT_TRUE(read);
  std::atomic<bool> ends = false;
  std::thread writer([&] {
    for (std::int64_t i = 1; !ends; ++i) {
      Measured measured;
      measured.step = measured.samples = measured.reported_at = i;
      measured.loss = static_cast<double>(i);
      written->write(measured);
    }
  });
  std::int64_t last = 0;
  for (int reads = 0; reads < 20000;) {
    const auto got = read->read();
    if (!got) continue;
    ++reads;
    EXPECT_EQ(got->step, got->samples);
    EXPECT_EQ(got->step, got->reported_at);
    EXPECT_EQ(static_cast<double>(got->step), got->loss);
    EXPECT_GE(got->step, last);
    last = got->step;
  }
  ends = true;
  writer.join();
}

TEST(Page, CannotBeTakenAwayFromItsReader) {
  const auto page = Page::make();
  ASSERT_TRUE(page);
  EXPECT_NE(ftruncate(page->fd(), 0), 0);
  Descriptor other(memfd_create("other", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(other.get(), 4096), 0);
  EXPECT_FALSE(Page::open(std::move(other))) << "it could get smaller";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Descriptor write_end(ends[1]);
  EXPECT_FALSE(Page::open(Descriptor(ends[0])));
}

// A process that reports, which is this program again: an agent's workers have variables from their start.
class Server : public ::testing::Test {
 protected:
  void serve() {
    std::vector<pollfd> polled;
    server_.add_polled(&polled);
    poll(polled.data(), polled.size(), 5);
    server_.serve({.knows = [](std::int64_t worker) { return worker == 3; }, .job = [this] { return answer_; }});
  }
  // Runs `child` in a process that has the variables, and gives that one's number.
  template <typename Child>
  pid_t start(const char* member, const Child& child) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setenv(kMetricsVariable, path_.c_str(), 1);
    setenv("TANDEM_MEMBER", member, 1);
    child();
    _exit(0);
  }

  testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "metrics";
  PageServer server_{membership::listen_at(path_)};
  std::string answer_ = "{}";
};

TEST_F(Server, HasWhatAProcessReported) {
  const pid_t pid = start("3", [] {
    for (int i = 0; i < 5; ++i) report_metrics({.epoch = 2, .samples = 10, .loss = 0.5, .wait_seconds = 0.25});
    report_metrics({.step = 9});
    Reporter::of_process().add_wait(1000000000);
    Reporter::of_process().add_calls({1, 0, 100, 10, 0.5});
    Reporter::of_process().add_calls({1, 1, 20, 0, 0});
  });
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_EQ(status, 0);
  for (int i = 0; i < 500 && !server_.has_pages(); ++i) serve();  // it has ended, and is still to be read
  const auto got = server_.read(3);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->pid, pid);
  EXPECT_EQ(got->measured.step, 9);
  EXPECT_EQ(got->measured.epoch, 2);
  EXPECT_EQ(got->measured.samples, 50);
  EXPECT_EQ(got->measured.loss, 0.5);
  EXPECT_EQ(got->measured.wait_seconds, 2.25);
  EXPECT_EQ(got->measured.calls, (CallTotals{2, 1, 120, 10, 0.5}));
  EXPECT_GT(got->measured.reported_at, 0);
  EXPECT_FALSE(server_.read(4));
  server_.forget(3);
  EXPECT_FALSE(server_.read(3));
}

TEST_F(Server, HoldsUpNobodyWhoReportsToItWhileItStandsStill) {
  const pid_t pid = start("3", [] {
    for (int i = 0; i < 100000; ++i) report_metrics({.samples = 1});
  });
  int status = -1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);  // nobody has served it meanwhile
  EXPECT_EQ(status, 0);
  for (int i = 0; i < 500 && !server_.has_pages(); ++i) serve();
  ASSERT_TRUE(server_.read(3));
  EXPECT_EQ(server_.read(3)->measured.samples, 100000);
}

TEST_F(Server, TakesNoPageOfAStranger) {
  const pid_t pid = start("4", [] { report_metrics({.samples = 1}); });
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  for (int i = 0; i < 20; ++i) serve();
  EXPECT_FALSE(server_.has_pages());
}

TEST_F(Server, AnswersInPartsAndEnds) {
  answer_.assign(5 * kAnswerBytes + 17, 'x');
  const Descriptor client = membership::connect_to(path_);
  ASSERT_EQ(send(client.get(), kAskForJob, 3, 0), 3);
  std::string all, part;
  for (int i = 0; i < 500; ++i) {
    serve();
    membership::Received got;
    while ((got = membership::receive(client, &part)) == membership::Received::kMessage) all += part;
    if (got == membership::Received::kEnd) break;
  }
  EXPECT_EQ(all, answer_);
}

TEST_F(Server, CutsOffWhoSaysSomethingElse) {
  for (const std::string& said : std::vector<std::string>{"page 3", "page", "jobs", std::string(100, 'x')}) {
    const Descriptor client = membership::connect_to(path_);
    ASSERT_GT(send(client.get(), said.data(), said.size(), 0), 0);
    std::string answer;
    membership::Received got = membership::Received::kNothing;
    for (int i = 0; i < 500 && got == membership::Received::kNothing; ++i) {
      serve();
      got = membership::receive(client, &answer);
    }
    EXPECT_EQ(got, membership::Received::kEnd) << said;
  }
  EXPECT_FALSE(server_.has_pages());
}

// How many descriptors this process has.
long open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

TEST_F(Server, KeepsNoDescriptorThatItDidNotAskFor) {
  const long before = open_descriptors();
  {
    const Descriptor client = membership::connect_to(path_);
    const auto page = Page::make();
    ASSERT_TRUE(page);
    char text[] = "page 3";
    iovec place{text, sizeof text - 1};
    const int both[] = {page->fd(), client.get()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof both)] = {};
    msghdr header{};
    header.msg_iov = &place;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof both);
    std::memcpy(CMSG_DATA(rights), both, sizeof both);
    ASSERT_GT(sendmsg(client.get(), &header, 0), 0);
    for (int i = 0; i < 500 && !server_.has_pages(); ++i) serve();
    EXPECT_TRUE(server_.has_pages());
  }
  for (int i = 0; i < 3; ++i) serve();
  EXPECT_EQ(open_descriptors(), before);
}

// While this lives, `free` more descriptors can be opened.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t free) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    const Descriptor lowest = duplicate(STDIN_FILENO);
    few.rlim_cur = static_cast<rlim_t>(lowest.get()) + free;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST_F(Server, LosesNoPageForWantOfDescriptorsAndDoesNotSpin) {
  for (const rlim_t free : {0, 1}) {
    server_.forget_all();
    const pid_t pid = start("3", [] { report_metrics({.samples = 1}); });
    ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
    {
      const FewDescriptors few(free);
      for (int i = 0; i < 3; ++i) serve();
      EXPECT_FALSE(server_.has_pages());
      std::vector<pollfd> polled;
      server_.add_polled(&polled);
      EXPECT_TRUE(polled.empty()) << "nothing can be done for a while";
      EXPECT_TRUE(server_.deadline());
    }
    for (int i = 0; i < 2000 && !server_.has_pages(); ++i) {
      serve();
      usleep(1000);
    }
    EXPECT_TRUE(server_.read(3)) << free;
  }
}

TEST_F(Server, HasTheRanksOwnReportsAndNotThoseOfItsForkedChildren) {
  const pid_t pid = start("3", [] {
    report_metrics({.step = 5, .samples = 10});
    const pid_t child = fork();
    if (child == 0) {
      report_metrics({.step = 900, .samples = 1000});
      _exit(0);
    }
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0) _exit(1);
  });
  int status = -1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_EQ(status, 0);
  for (int i = 0; i < 500 && !server_.has_pages(); ++i) serve();
  for (int i = 0; i < 3; ++i) serve();
  ASSERT_TRUE(server_.read(3));
  EXPECT_EQ(server_.read(3)->measured.step, 5);
  EXPECT_EQ(server_.read(3)->measured.samples, 10);
}

TEST_F(Server, CountsUpToTheLargestNumber) {
  const pid_t pid = start("3", [] {
    report_metrics({.step = std::numeric_limits<std::int64_t>::max(), .samples = std::numeric_limits<std::int64_t>::max()});
    report_metrics({.samples = 1});
  });
  int status = -1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_EQ(status, 0);
  for (int i = 0; i < 500 && !server_.has_pages(); ++i) serve();
  ASSERT_TRUE(server_.read(3));
  EXPECT_EQ(server_.read(3)->measured.step, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(server_.read(3)->measured.samples, std::numeric_limits<std::int64_t>::max());
}

TEST(Report, IsNothingWithoutALauncherAndRefusesWhatIsNegative) {
  report_metrics({.samples = 1});
  EXPECT_FALSE(Reporter::of_process().is_on());
  for (const StepMetrics& wrong : {StepMetrics{.step = -1}, {.epoch = -1}, {.samples = -1}, {.wait_seconds = -1}, {.wait_seconds = std::nan("")}, {.wait_seconds = INFINITY}}) {
    EXPECT_THROW(report_metrics(wrong), Error);
  }
}

}  // namespace
}  // namespace tandem::metrics
