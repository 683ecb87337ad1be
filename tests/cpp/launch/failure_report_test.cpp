// Which of several failures came first.
#include "launch/failure_report.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

namespace tandem::launch {
namespace {

EndedWorker ended(int rank, int status, double at) {
  EndedWorker worker;
  worker.rank = rank;
  worker.status = status;
  worker.ended_at = at;
  return worker;
}

EndedWorker reported(int rank, double at) {
  EndedWorker worker = ended(rank, 1 << 8, at + 1);  // exit code 1
  worker.report = ErrorReport{"rank 1 is gone", at, at};
  return worker;
}

int first(const std::vector<EndedWorker>& workers) {
  const EndedWorker* const found = first_failure(workers);
  return found ? found->rank : -1;
}

TEST(FirstFailure, IsThatOfTheKilledOneAndNotOfWhoLostIt) {
  EXPECT_EQ(first({reported(0, 100.1), ended(1, SIGKILL, 100.2)}), 1);
  EXPECT_EQ(first({reported(0, 101.0), ended(1, SIGSEGV, 101.3)}), 1);
}

TEST(FirstFailure, IsNotThatOfWhoAbortsOrIsKilledLater) {
  EXPECT_EQ(first({reported(0, 100.1), ended(1, SIGABRT, 100.2)}), 0);
  EXPECT_EQ(first({reported(0, 100.1), ended(1, SIGKILL, 100.9)}), 0);
}

TEST(FirstFailure, OfWhoWasToldToStopCountsOnlyWithAReason) {
  EndedWorker stopped = ended(0, SIGTERM, 100);
  stopped.ended_by_itself = false;
  EXPECT_EQ(first({stopped, ended(1, 3 << 8, 101)}), 1);
  EXPECT_EQ(first({stopped}), -1);
}

}  // namespace
}  // namespace tandem::launch
