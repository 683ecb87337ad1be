// Ranks of a test: threads on the CPU; on a GPU processes, for all threads of one share the thread on which LibTorch
// computes a device's gradients, and a rank that waits for another there would hold it up.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpp/comm/job.h"
#include "cpp/comm/threads.h"
#include "support/test_device.h"

namespace tandem::testing {

// Whether the test that calls it has been run by processes, this program's with that test alone. They are told false.
inline bool ran_in_processes(int ranks) {
  if (!wants_gpu() || std::getenv("RANK")) return false;
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = std::string("--gtest_filter=") + info->test_suite_name() + "." + info->name();
  const Job job;
  std::vector<std::unique_ptr<Child>> children;
  for (int rank = 0; rank < ranks; ++rank) children.push_back(job.start(std::vector<std::string>{filter}, rank, ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(children[rank]->wait(), 0) << "rank " << rank << ", of which GoogleTest's output is left out";
  }
  return true;
}

// Runs body(group) for each rank over Gloo.
inline void run_ranks_of_test(int ranks, const std::function<void(const std::shared_ptr<ProcessGroup>&)>& body) {
  if (wants_gpu()) {
    ProcessGroupOptions options = from_environment();
    options.device = test_device();
    return body(ProcessGroup::create(options));
  }
  const Store store = hash_store();
  run_ranks(ranks, [&](int rank) { body(ProcessGroup::create(options_for(rank, ranks), store)); });
}

}  // namespace tandem::testing
