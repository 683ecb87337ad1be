// Threads that LibTorch computes with, when many threads call.
#include <dirent.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "capi/calls.h"

namespace intra_op_test {
namespace {

using namespace calls;
using testing::HasSubstr;

// Time that each thread of this process has computed, in ns, by the thread's id.
std::map<long, long> computed() {
  std::map<long, long> found;
  std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/task"), closedir);
  while (const dirent* entry = readdir(folder.get())) {
    const long id = std::strtol(entry->d_name, nullptr, 10);
    std::ifstream file("/proc/self/task/" + std::string(entry->d_name) + "/schedstat");
    if (long time = 0; id != 0 && file >> time) found[id] = time;
  }
  return found;
}

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) - 8;
  return values;
}

Tensor square(std::int64_t n) { return tensor(numbers(n * n), {n, n}); }

class IntraOp : public testing::Test {
 protected:
  static constexpr int kThreads = 3;
  void SetUp() override {
    ASSERT_OK(tdm_get_num_threads(&before_));
    ASSERT_OK(tdm_set_num_threads(kThreads));
    // This thread is the first with large work, and keeps a pool.
    const Tensor x = square(256);
    call("aten::mm", "", {of(x), of(x)});
  }
  void TearDown() override { EXPECT_OK(tdm_set_num_threads(before_)); }

 private:
  std::int32_t before_ = 0;
};

TEST_F(IntraOp, ManyThreadsDoNotGatherPools) {
  constexpr int kCallers = 24;
  const std::size_t before = computed().size();
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0;
  bool leave = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      const Tensor x = square(256);
      for (int k = 0; k < 5; ++k) call("aten::mm", "", {of(x), of(x)});
      std::unique_lock<std::mutex> lock(mutex);
      ++done;
      changed.notify_all();
      changed.wait(lock, [&] { return leave; });
    });
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return done == kCallers; });
  // The compute thread and its pool, at most.
  EXPECT_LE(computed().size(), before + kCallers + kThreads);
  leave = true;
  changed.notify_all();
  lock.unlock();
  for (auto& caller : callers) caller.join();
}

TEST_F(IntraOp, LargeWorkOfAnyThreadUsesAllCores) {
  const auto before = computed();
  std::thread([] {
    const Tensor x = square(2048);
    call("aten::exp", "", {of(x)});
  }).join();
  int computing = 0;
  for (const auto& [id, time] : computed()) {
    const auto at = before.find(id);
    computing += time - (at == before.end() ? 0 : at->second) > 1'000'000;
  }
  EXPECT_GE(computing, kThreads);
}

TEST_F(IntraOp, ResultsModesAndErrorsAreThoseOfTheCaller) {
  const Tensor x = square(256);
  ASSERT_OK(tdm_tensor_set_requires_grad(x.get(), 1));
  const Tensor here = call("aten::mm", "", {of(x), of(x)});
  EXPECT_EQ(tdm_tensor_requires_grad(here.get()), 1);
  std::thread([&] {
    const Tensor there = call("aten::mm", "", {of(x), of(x)});
    EXPECT_EQ(tdm_tensor_requires_grad(there.get()), 1);
    EXPECT_EQ(floats(there.get()), floats(here.get()));
    tdm_mode* off = nullptr;  // ends with the thread
    ASSERT_OK(tdm_mode_enter_grad(0, &off));
    EXPECT_EQ(tdm_tensor_requires_grad(call("aten::mm", "", {of(x), of(x)}).get()), 0);

    const Tensor odd = tensor(numbers(311 * 211), {311, 211});
    const tdm_op* mm = nullptr;
    ASSERT_OK(tdm_op_find("aten::mm", "", &mm));
    const tdm_value arguments[] = {of(x), of(odd)};
    tdm_value result{};
    EXPECT_REFUSED(tdm_op_call(mm, arguments, 2, &result, 1), TDM_ERROR_INVALID_ARGUMENT, "256x256 and 311x211");
  }).join();
}

TEST_F(IntraOp, TheNumberIsTheProcesss) {
  std::thread([] {
    std::int32_t threads = 0;
    ASSERT_OK(tdm_get_num_threads(&threads));
    EXPECT_EQ(threads, kThreads);
  }).join();
  EXPECT_REFUSED(tdm_set_num_threads(0), TDM_ERROR_INVALID_ARGUMENT, "at least 1");
}

}  // namespace
}  // namespace intra_op_test
