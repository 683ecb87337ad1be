#include "launch/doctor/rank.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <sstream>
#include <string_view>

#include "base/host.h"
#include "launch/doctor/library.h"
#include "launch/failure.h"

using nlohmann::json;

namespace tandem::doctor {
namespace {

constexpr std::size_t kElements = std::size_t{1} << 18;  // of float32: 1 MiB
constexpr int kRounds = 5, kPeriod = 7;
constexpr std::int64_t kForGoodbye = 5000;  // milliseconds
// Of the time that the ranks have: for the launcher to tell what went wrong.
constexpr double kShareOfRanks = 0.6;

class Reduction {
 public:
  Reduction(const Library& library, tdm_process_group* group)
      : library_(library), group_(group), own_(kElements), sum_(kElements) {
    const int rank = library.group_rank(group), world = library.group_size(group);
    for (std::size_t i = 0; i < kElements; ++i) own_[i] = static_cast<float>((rank + 1) * pattern(i));
    all_ = static_cast<double>(world) * (world + 1) / 2;
    const std::int64_t size = kElements;
    library.check(
        library.tensor_from_data(own_.data(), own_.size() * sizeof(float), TDM_DTYPE_FLOAT32, &size, 1, &tensor_));
  }
  ~Reduction() { library_.tensor_free(tensor_); }
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  // In milliseconds. Throws launch::Failure for a wrong sum.
  double run() {
    library_.check(library_.tensor_copy_from(tensor_, own_.data(), own_.size() * sizeof(float)));
    const auto begin = Clock::now();
    library_.check(library_.all_reduce(group_, tensor_, TDM_REDUCE_OP_SUM, nullptr));
    const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    library_.check(library_.tensor_copy_to(tensor_, sum_.data(), sum_.size() * sizeof(float)));
    for (std::size_t i = 0; i < kElements; ++i) {
      // Whole numbers, exact up to some thousand ranks; beyond, as float32 rounds sums.
      const double expected = all_ * pattern(i);
      if (std::abs(sum_[i] - expected) <= expected * 1e-5) continue;
      throw launch::Failure("the sum is wrong: element " + std::to_string(i) + " is " + std::to_string(sum_[i]) +
                            " and not " + std::to_string(expected));
    }
    return took.count();
  }

 private:
  static int pattern(std::size_t i) { return static_cast<int>(i % kPeriod) + 1; }

  const Library& library_;
  tdm_process_group* group_;
  std::vector<float> own_, sum_;
  double all_ = 0;
  tdm_tensor* tensor_ = nullptr;
};

std::string rounded(double milliseconds) {
  char text[32];
  std::snprintf(text, sizeof text, milliseconds < 10 ? "%.2f" : "%.0f", milliseconds);
  return text;
}

// "rank 1 on beta was loading LibTorch"
std::string where_ranks_are(const Outcome& outcome, int world) {
  std::vector<std::string> at(static_cast<std::size_t>(world));
  for (const json& one : outcome.answers) {
    const int rank = one.value("rank", -1);
    if (rank < 0 || rank >= world) continue;
    auto& last = at[static_cast<std::size_t>(rank)];
    if (one.contains("milliseconds")) last = "done";
    if (one.contains("stage")) last = "on " + one.value("host", "?") + " was " + one.value("stage", "");
  }
  std::string text;
  constexpr int kMost = 4;
  int told = 0;
  for (int rank = 0; rank < world; ++rank) {
    const std::string& last = at[static_cast<std::size_t>(rank)];
    if (last == "done" || ++told > kMost) continue;
    text +=
        (text.empty() ? "" : ", ") + ("rank " + std::to_string(rank)) + (last.empty() ? " did not start" : " " + last);
  }
  return text;
}

// How ranks have ended; else the last that it said.
std::string told_by_launcher(const Outcome& outcome) {
  constexpr std::string_view kBegin = "tandem: ";
  constexpr int kMost = 4;
  std::string told;
  std::istringstream lines(outcome.err);
  int count = 0;
  for (std::string line; std::getline(lines, line) && count < kMost;) {
    const std::size_t at = line.find(kBegin);
    if (at == std::string::npos || line.compare(at + kBegin.size(), 1, " ") == 0) continue;  // which quotes a rank
    if (line.find(" was killed by ") == std::string::npos && line.find(" exited with code ") == std::string::npos)
      continue;
    told += (told.empty() ? "" : "; ") + line.substr(at + kBegin.size());
    ++count;
  }
  return told.empty() ? outcome.last_line_of_stderr : told;
}

// Throws json::exception where answers are of other types.
Finding judge_ranks(const std::string& topic, const Outcome& outcome, int world, double seconds, double took) {
  std::set<int> done;
  double slowest = 0;
  std::string error;
  for (const json& one : outcome.answers) {
    if (one.contains("milliseconds")) {
      done.insert(one.value("rank", -1));
      slowest = std::max(slowest, one.value("milliseconds", 0.0));
    } else if (one.contains("error") && error.empty()) {
      error = "rank " + std::to_string(one.value("rank", -1)) + " on " + one.value("host", "?") + ": " +
              one.value("error", "");
    }
  }
  const std::string ranks = std::to_string(world) + " ranks";
  if (error.empty() && outcome.has_ended && outcome.code == 0 && static_cast<int>(done.size()) == world) {
    char all[64];
    std::snprintf(all, sizeof all, "%.1f s with the start", took);
    return ok(topic, ranks + ", the sum is right; 1 MiB in " + rounded(slowest) + " ms, " + all);
  }
  // A rank that crashes says nothing itself: the launcher tells of it, others of what they miss.
  const std::string said = told_by_launcher(outcome);
  if (!error.empty()) return problem(topic, error + (said.empty() ? "" : "; " + said), "");
  if (!outcome.has_ended) {
    return problem(topic,
                   ranks + " have not ended after " + std::to_string(std::lround(seconds)) +
                       " s: " + where_ranks_are(outcome, world),
                   "see what that rank waits for; --timeout SECONDS gives more time");
  }
  return problem(topic, "the launcher " + outcome.end + ": " + said, "");
}

}  // namespace

int be_rank(const std::string& backend, const std::string& path, double seconds) {
  int rank = -1;
  if (const char* given = std::getenv("RANK")) rank = std::atoi(given);
  const auto say = [&](json message) {
    message["rank"] = rank;
    message["host"] = host_name();
    answer(message);
  };
  try {
    say({{"stage", "loading LibTorch"}});
    const Library library(find_library(path).path);
    library.check(library.load(nullptr));
    say({{"stage", "meeting the other ranks"}});
    tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
    options.backend = backend.c_str();
    options.timeout_ms = static_cast<std::int64_t>(seconds * kShareOfRanks * 1000);
    tdm_process_group* group = nullptr;
    library.check(library.group_create(&options, nullptr, &group));
    say({{"stage", "in an all-reduce"}});
    std::vector<double> times;
    {
      Reduction reduction(library, group);
      reduction.run();
      for (int i = 0; i < kRounds; ++i) times.push_back(reduction.run());
    }
    std::ranges::sort(times);
    say({{"milliseconds", times[times.size() / 2]}});
    library.group_free(group);
    library.check(library.shutdown(kForGoodbye));
    return 0;
  } catch (const launch::Failure& failure) {
    say({{"error", failure.what()}});
    return 1;
  }
}

Finding all_reduce(const std::string& topic, std::vector<std::string> run, int world, const std::string& backend,
                   const std::string& library, double seconds, Interruption& interruption,
                   std::chrono::seconds patience) {
  char time[32];
  std::snprintf(time, sizeof time, "--timeout=%g", seconds);
  for (const std::string& word :
       {std::string("--no-prefix"), std::string("--grace=1"), std::string("--"), std::string("/proc/self/exe"),
        std::string("doctor"), "--rank=" + backend, std::string(time)}) {
    run.push_back(word);
  }
  if (!library.empty()) run.push_back("--libtandem=" + library);
  const auto begin = Clock::now();
  const Outcome outcome = run_program(run, seconds, interruption, patience);
  const std::chrono::duration<double> took = Clock::now() - begin;
  try {
    return judge_ranks(topic, outcome, world, seconds, took.count());
  } catch (const json::exception& error) {
    return problem(topic, std::string("a rank's answer makes no sense: ") + error.what(),
                   "install the same release of Tandem on all hosts");
  }
}

Finding all_reduce_here(const std::string& backend, const std::string& library, double seconds,
                        Interruption& interruption) {
  // Whatever a scheduler says of several machines.
  return all_reduce("all-reduce " + backend,
                    {"/proc/self/exe", "run", "--standalone", "--nnodes=1", "--nproc-per-node=2"}, 2, backend, library,
                    seconds, interruption);
}

}  // namespace tandem::doctor
