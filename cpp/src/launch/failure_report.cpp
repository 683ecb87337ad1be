#include "launch/failure_report.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <tuple>

#include "launch/process_tree.h"

namespace tandem::launch {
namespace {

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

// Such a death is noticed a moment later, and by then others may have said that they lost that worker.
constexpr double kNoticedWithin = 0.5;  // seconds

// But not by itself: who aborts may do so because it lost another one.
bool was_killed(const EndedWorker& worker) {
  return WIFSIGNALED(worker.status) && WTERMSIG(worker.status) != SIGABRT;
}

// A worker that was told to stop and says nothing of its own failed for that alone.
bool speaks_for_itself(const EndedWorker& worker) {
  return worker.failed() && (worker.report || worker.ended_by_itself);
}

}  // namespace

int EndedWorker::exit_code() const {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string EndedWorker::name() const {
  return "rank " + std::to_string(rank) + " (pid " + std::to_string(pid) + ")";
}

std::string EndedWorker::end() const {
  if (!WIFSIGNALED(status)) return "exited with code " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return "was killed by " + signal_name(number) + " (signal " + std::to_string(number) + ")";
}

const EndedWorker* first_failure(const std::vector<EndedWorker>& workers) {
  const EndedWorker* first = nullptr;
  std::tuple<double, double> first_time;
  for (const EndedWorker& worker : workers) {
    if (!speaks_for_itself(worker)) continue;
    const double ended_at = worker.ended_at - (was_killed(worker) ? kNoticedWithin : 0);
    const std::tuple<double, double> time = {std::floor(worker.report ? worker.report->timestamp : ended_at),
                                             worker.report ? worker.report->written_at : ended_at};
    if (first && time >= first_time) continue;
    first_time = time;
    first = &worker;
  }
  return first;
}

std::string describe_failures(const std::vector<EndedWorker>& workers, const EndedWorker& first, bool is_alone) {
  std::string text;
  for (const EndedWorker& worker : workers) {
    if (&worker == &first || !speaks_for_itself(worker)) continue;
    text += worker.name() + " " + worker.end();
    if (worker.report) text += ": " + worker.report->message.substr(0, worker.report->message.find('\n'));
    text += "\n";
  }
  const std::string message = first.report ? first.report->message : "";
  if (is_alone) {
    text += first.name() + " " + first.end();
  } else {
    text += "the first error was that of " + first.name() + " on " + host_name() + ", which " + first.end();
  }
  if (!message.empty()) text += ":\n" + message;
  if (!is_alone && !first.last_lines.empty()) {
    text += "\nthe last of its stderr:";
    for (const std::string& line : first.last_lines) text += "\n  " + line;
  }
  return text;
}

}  // namespace tandem::launch
