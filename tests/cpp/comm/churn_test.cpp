// Groups that are made and destroyed leave nothing behind.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <fstream>
#include <iostream>

#include "cpp/comm/leaks.h"
#include "cpp/comm/threads.h"

#if defined(__SANITIZE_ADDRESS__)
// Freed memory that the sanitizer holds back, 256 MiB unless told, would look like a leak.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0";
}
#endif

namespace tandem::testing::churn_test {
namespace {

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
  const std::ptrdiff_t descriptors_before = descriptors(), threads_before = threads();
  const long memory = resident_kb();
  make_and_destroy(count, warm_up);
  expect_at_most(descriptors, descriptors_before);
  expect_at_most(threads, threads_before);
  std::cout << count << " groups: " << descriptors_before << " to " << descriptors() << " descriptors, "
            << threads_before << " to " << threads() << " threads, " << memory << " to " << resident_kb() << " KB"
            << std::endl;
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
