// Groups that are made and destroyed leave nothing behind.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "cpp/comm/threads.h"

#if defined(__SANITIZE_ADDRESS__)
// Freed memory that the sanitizer holds back, 256 MiB unless told, would look like a leak.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0";
}
#endif

namespace tandem::testing::churn_test {
namespace {

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

// Threads that were joined may still be listed for a moment.
std::size_t threads_at_rest() {
  std::size_t least = entries("/proc/self/task");
  for (int i = 0; i < 100; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::size_t now = entries("/proc/self/task");
    if (now == least) return now;
    least = std::min(least, now);
  }
  return least;
}

long resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::stol(line.substr(6));
  }
  return -1;
}

// Collectives, a message, a sub-group, now and then an abort with something pending.
void make_and_destroy(int count, int first) {
  for (int i = first; i < first + count; ++i) {
    const Store store = hash_store();
    run_ranks(2, [&](int rank) {
      const auto group = ProcessGroup::create(options_for(rank, 2), store);
      at::Tensor tensor = torch::full({64}, rank + 1.0);
      group->all_reduce(tensor);
      EXPECT_EQ(tensor[63].item<double>(), 3);
      Work message = rank == 0 ? group->isend(tensor, 1) : group->irecv(tensor, 0);
      message.wait(std::chrono::seconds(20));
      if (i % 4 == 0) {
        const auto inner = group->new_group({1, 0});
        inner->barrier();
      }
      group->barrier();
      if (i % 3 == 0) {
        Work pending;
        try {
          pending = group->irecv(tensor, 1 - rank);
          pending.is_completed();
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kPeerLost);  // the other rank was quicker to abort
        }
        group->abort();
      }
    });
  }
}

void leave_nothing(int count) {
  const int warm_up = 40;
  make_and_destroy(warm_up, 0);
  const auto descriptors = entries("/proc/self/fd");
  const auto threads = threads_at_rest();
  const long memory = resident_kb();
  make_and_destroy(count, warm_up);
  std::cout << count << " groups: " << descriptors << " to " << entries("/proc/self/fd") << " descriptors, " << threads
            << " to " << threads_at_rest() << " threads, " << memory << " to " << resident_kb() << " KB" << std::endl;
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(threads_at_rest(), threads);
  EXPECT_LE(resident_kb(), memory + 8 * 1024);
}

TEST(Churn, SixtyGroupsLeaveNothing) {
  leave_nothing(60);
}

TEST(ChurnLong, AThousandGroupsLeaveNothing) {
  leave_nothing(1000);
}

}  // namespace
}  // namespace tandem::testing::churn_test
