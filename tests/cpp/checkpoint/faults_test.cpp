// A save, or a load, of which each call of the system in turn fails or is the process's last: whatever happens, a whole
// checkpoint loads.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>

#include "cpp/checkpoint/contents.h"
#include "cpp/checkpoint/failing_calls.h"
#include "cpp/comm/threads.h"

namespace tandem::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Only the last stays: the other is removed as soon as that may be.
CheckpointFolder open(const TemporaryFolder& folder, std::shared_ptr<ProcessGroup> group = {}) {
  return CheckpointFolder(folder / "run", {.keep = 1, .group = std::move(group)});
}

// That of step 1 or of step 2; gives which.
std::int64_t expect_whole(const TemporaryFolder& folder, const std::string& what) {
  const auto read = open(folder).load();
  if (!read) {
    ADD_FAILURE() << what << ": nothing is left";
    return -1;
  }
  EXPECT_THAT(read->step, AnyOf(Eq(1), Eq(2))) << what;
  EXPECT_THAT(read->refused, IsEmpty()) << what;
  expect_content_of(read->step, *read);
  return read->step;
}

// What is left over does not disturb later saves, and goes away.
void expect_goes_on(const TemporaryFolder& folder, const std::string& what) {
  open(folder).save(3, content_of(3));
  expect_content_of(3, *open(folder).load());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "run"))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("step-000000003", "latest")) << what;
}

// Runs it in a process of its own; gives its exit code, or minus the signal that ended it.
int in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    try {
      body();
    } catch (const std::exception& error) {
      std::cerr << error.what() << std::endl;
      _exit(3);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class Faults : public ::testing::TestWithParam<int> {};

TEST_P(Faults, AnyCallOfASaveMayFail) {
  int at = 0, failures = 0, calls = 1;
  for (; at < calls; ++at) {
    const TemporaryFolder folder;
    open(folder).save(1, content_of(1));
    bool saved = true;
    const std::string what = "call " + std::to_string(at);
    try {
      calls = std::max(calls, with_failing_call(at, GetParam(), [&] { open(folder).save(2, content_of(2)); }));
    } catch (const Error& error) {
      saved = false;
      ++failures;
      calls = std::max(calls, at + 2);
      EXPECT_THAT(error.code(), AnyOf(ErrorCode::kIo, ErrorCode::kNotFound)) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("step-000000002")) << what;
      EXPECT_THAT(error.what(), HasSubstr(std::strerror(GetParam()))) << what;
    }
    const auto step = expect_whole(folder, what);
    if (saved) {
      EXPECT_EQ(step, 2) << what;
    }
    expect_goes_on(folder, what);
    if (HasFailure()) return;
  }
  EXPECT_GT(failures, 15);
  std::cout << calls << " calls, " << failures << " of which a save cannot do without" << std::endl;
}

INSTANTIATE_TEST_SUITE_P(Errors, Faults, ::testing::Values(EIO, ENOSPC));

TEST(Faults, AnyCallOfASaveMayBeTheLast) {
  int killed = 0, status = -SIGKILL;
  for (int at = 0; status == -SIGKILL; ++at) {
    const TemporaryFolder folder;
    open(folder).save(1, content_of(1));
    status = in_child([&] { with_failing_call(at, 0, [&] { open(folder).save(2, content_of(2)); }); });
    if (status == -SIGKILL) ++killed;
    const std::string what = "killed in call " + std::to_string(at);
    const auto step = expect_whole(folder, what);
    if (status == 0) {
      EXPECT_EQ(step, 2);
    }
    expect_goes_on(folder, what);
    if (HasFailure()) return;
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(killed, 20);
}

// In place of a checkpoint of the same step, on file systems that can exchange two names and on others.
class Replacement : public ::testing::TestWithParam<bool> {};

TEST_P(Replacement, AnyCallMayBeTheLast) {
  int status = -SIGKILL;
  for (int at = 0; status == -SIGKILL; ++at) {
    const TemporaryFolder folder;
    CheckpointContent other = content_of(1);
    other.values = "{\"other\": true}";
    open(folder).save(1, other);
    status = in_child([&] {
      let_exchange(GetParam());
      with_failing_call(at, 0, [&] { open(folder).save(1, content_of(1)); });
    });
    const auto read = open(folder).load();
    ASSERT_TRUE(read) << at;
    EXPECT_THAT(read->refused, IsEmpty());
    EXPECT_THAT(read->values, AnyOf(Eq(other.values), Eq(content_of(1).values)));
    if (status == 0) {
      EXPECT_EQ(read->values, content_of(1).values);
    }
  }
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(FileSystems, Replacement, ::testing::Bool());

TEST(Faults, AnyCallOfALoadMayFail) {
  const TemporaryFolder folder;
  CheckpointFolder both(folder / "run", {.keep = 2});
  for (const int step : {1, 2}) both.save(step, content_of(step));
  int fell_back = 0, calls = 1;
  for (int at = 0; at < calls; ++at) {
    try {
      calls = std::max(calls, with_failing_call(at, EIO, [&] {
                         const auto read = both.load();
                         ASSERT_TRUE(read);
                         expect_content_of(read->step, *read);
                         if (read->step == 1) {
                           ++fell_back;
                           ASSERT_EQ(read->refused.size(), 1u);
                           EXPECT_THAT(read->refused[0], HasSubstr("step-000000002"));
                           EXPECT_THAT(read->refused[0], HasSubstr("Input/output error"));
                         }
                       }));
    } catch (const Error& error) {  // the folder itself could not be read
      EXPECT_EQ(error.code(), ErrorCode::kIo);
      EXPECT_THAT(error.what(), HasSubstr(folder / "run"));
      calls = std::max(calls, at + 2);
    }
  }
  EXPECT_GT(fell_back, 8);
}

// A disk as full as it can be: each size that files may have.
TEST(Faults, FilesMayNotGrow) {
  const TemporaryFolder folder;
  open(folder).save(1, content_of(1));
  std::signal(SIGXFSZ, SIG_IGN);  // the limit is then an error of write
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  int failures = 0;
  for (rlim_t size = 0; size < 2048; size += 37) {
    const rlimit tight{size, old.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
    try {
      open(folder).save(2, content_of(2));
    } catch (const Error& error) {
      ++failures;
      EXPECT_THAT(error.what(), HasSubstr("File too large"));
    }
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    expect_whole(folder, "files of " + std::to_string(size));
  }
  EXPECT_GT(failures, 3);
  expect_goes_on(folder, "full");
}

// Two ranks, one of which is killed in each of its calls: the other is told, and what loads afterwards is whole.
class KilledRank : public ::testing::TestWithParam<int> {};

TEST_P(KilledRank, AnyCallMayBeTheLast) {
  const int victim = GetParam();
  int status = -SIGKILL, killed = 0;
  for (int at = 0; status == -SIGKILL; ++at) {
    const TemporaryFolder folder;
    open(folder).save(1, content_of(1));
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < 2; ++rank) {
      ranks.push_back(fork());
      if (ranks.back() != 0) continue;
      alarm(60);
      try {
        ProcessGroupOptions options = options_for(rank, 2);
        options.init_method = "file://" + (folder / "store");
        const auto group = ProcessGroup::create(options);
        CheckpointFolder checkpoints = open(folder, group);
        CheckpointContent content = content_of(2);
        content.own["own"] = {{"of " + std::to_string(rank), torch::tensor(rank)}};
        with_failing_call(rank == victim ? at : -1, 0, [&] { checkpoints.save(2, content); });
        group->barrier();
      } catch (const Error& error) {
        _exit(error.code() == ErrorCode::kPeerLost ? 4 : 5);
      } catch (...) {
        _exit(3);
      }
      _exit(0);
    }
    int other = 0;
    for (int rank = 0; rank < 2; ++rank) {
      int ended = 0;
      waitpid(ranks[rank], &ended, 0);
      (rank == victim ? status : other) = WIFSIGNALED(ended) ? -WTERMSIG(ended) : WEXITSTATUS(ended);
    }
    if (status == -SIGKILL) ++killed;
    EXPECT_EQ(other, status == 0 ? 0 : 4) << at;
    const auto read = open(folder).load();
    ASSERT_TRUE(read) << at;
    EXPECT_THAT(read->refused, IsEmpty());
    EXPECT_EQ(read->sections.count("own"), read->step == 2 ? 1u : 0u);
    if (status == 0) {
      EXPECT_EQ(read->step, 2);
    }
    expect_goes_on(folder, "rank killed in call " + std::to_string(at));
    if (HasFailure()) return;
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(killed, victim == 0 ? 20 : 3);
}

INSTANTIATE_TEST_SUITE_P(Ranks, KilledRank, ::testing::Values(0, 1));

}  // namespace
}  // namespace tandem::testing
