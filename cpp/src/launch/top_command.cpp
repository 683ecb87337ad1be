#include "launch/top_command.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "launch/console.h"
#include "launch/failure.h"
#include "launch/numbers.h"
#include "launch/running_jobs.h"
#include "metrics/job/job.h"
#include "metrics/job/progress.h"

namespace tandem::launch {
namespace {

struct TopFlags {
  std::string job;
  bool once = false;
  bool json = false;
};

using Found = std::pair<RunningJob, metrics::Job>;

std::vector<Found> answering_jobs() {
  std::vector<Found> jobs;
  for (const RunningJob& one : running_jobs()) {
    if (auto job = ask_job(one)) jobs.emplace_back(one, std::move(*job));
  }
  return jobs;
}

std::string list_of(const std::vector<Found>& found) {
  std::vector<metrics::Job> jobs;
  for (const Found& one : found) jobs.push_back(one.second);
  return metrics::job_list(jobs);
}

RunningJob choose(const std::string& name) {
  std::vector<Found> jobs = answering_jobs();
  const std::string all = list_of(jobs);
  if (!name.empty()) {
    std::erase_if(jobs, [&](const Found& one) {
      return one.second.run != name && std::to_string(one.second.pid) != name &&
             std::to_string(one.first.supervisor) != name;
    });
  }
  if (jobs.size() == 1) return jobs.front().first;
  if (all.find('\n') + 1 == all.size())
    throw Failure("no job of this user runs on this machine; HOST:PORT names a launcher's --metrics-port");
  std::fputs(all.c_str(), stdout);
  throw Failure(name.empty()      ? "several jobs run; name one of them, or its process"
                : jobs.size() > 1 ? "several jobs are called " + name + "; name a process"
                                  : "no job is called " + name);
}

// What is as wide as the terminal, and not higher.
void draw(const std::string& table) {
  if (!isatty(STDOUT_FILENO)) {
    std::printf("%s\n", table.c_str());
    return;
  }
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 1;
  const std::size_t columns = is_known ? size.ws_col : 80, rows = is_known ? size.ws_row - 1u : 23;
  std::string screen = "\x1b[H";
  std::istringstream lines(table);
  std::size_t count = 0;
  for (std::string line; count < rows && std::getline(lines, line); ++count) {
    screen.append(fit_columns(line, columns)).append("\x1b[K\n");
  }
  screen += "\x1b[J";
  std::fputs(screen.c_str(), stdout);
}

// HOST:PORT, where `colon` stands.
bool is_place(const std::string& text, std::size_t colon) {
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return false;
  return text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

// A job that runs here may be called as a port would be.
bool is_name(const std::string& text) {
  return std::ranges::any_of(answering_jobs(), [&](const Found& one) { return one.second.run == text; });
}

void show(const TopFlags& flags) {
  std::optional<RunningJob> here;
  std::string host;
  int port = 0;
  if (const std::size_t colon = flags.job.rfind(':'); is_place(flags.job, colon) && !is_name(flags.job)) {
    host = flags.job.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    port = whole_number(flags.job.substr(colon + 1), "the port in " + flags.job, 1, 65535);
  } else {
    here = choose(flags.job);
  }
  for (bool is_first = true;; is_first = false) {
    std::optional<metrics::Job> job;
    try {
      job = here ? ask_job(*here) : ask_job(host, port);
    } catch (const Failure&) {
      if (is_first) throw;  // else it has answered before
    }
    if (!job) {
      if (is_first) throw Failure("the job has just ended, or its launcher is stopped");
      std::fputs("the job has ended, or its launcher is stopped\n", stderr);
      return;
    }
    if (flags.json) {
      std::printf("%s\n", metrics::encode_job(*job).c_str());
    } else if (flags.once) {
      std::fputs(metrics::rank_table(*job).c_str(), stdout);
    } else {
      draw(metrics::rank_table(*job));
    }
    if (std::fflush(stdout) != 0 || flags.once) return;
    const timespec second{1, 0};
    nanosleep(&second, nullptr);
  }
}

}  // namespace

void add_top_command(CLI::App& app) {
  auto flags = std::make_shared<TopFlags>();
  CLI::App* top = app.add_subcommand("top", "Show how the ranks of a running job get on, again each second");
  top->add_option("job", flags->job,
                  "its name or process, or HOST:PORT of its --metrics-port [the one that runs here]");
  top->add_flag("--once", flags->once, "print one table, and end");
  top->add_flag("--json", flags->json, "print JSON, a line a second");
  top->callback([flags] { show(*flags); });
}

}  // namespace tandem::launch
