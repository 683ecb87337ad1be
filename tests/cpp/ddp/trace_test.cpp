// Traces of ranks that are real processes, and that they are on one clock.
#include <gmock/gmock.h>
#include <sched.h>
#include <torch/torch.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cpp/comm/job.h"
#include "cpp/data/temp_dir.h"
#include "tandem/ddp.h"
#include "tandem/trace.h"
#include "trace/tool/merge.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace tandem::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr int kSteps = 3;
constexpr int kNoTimeNamespace = 77;  // exit code

// --- what a rank does

void train(const std::shared_ptr<ProcessGroup>& group) {
  torch::nn::Linear net(20, 10);
  DataParallelOptions options;
  options.bucket_cap_mb = 0;
  DistributedDataParallel<torch::nn::Linear> ddp(net, group, options);
  for (int i = 0; i < kSteps; ++i) ddp.forward(torch::ones({4, 20})).sum().backward();
  group->barrier();
  at::Tensor message = torch::zeros({3});
  if (group->rank() == 0) {
    group->send(message, 1);
  } else if (group->rank() == 1) {
    group->recv(message, 0);
  }
}

int trace_by_call() {
  const auto group = ProcessGroup::create(from_environment());
  say_error([&] { stop_trace("none"); });
  start_trace(*group);
  say_error([&] { start_trace(*group); });
  train(group);
  say_error([&] { stop_trace("/no/such/folder/trace.json"); });
  stop_trace(std::string(std::getenv("TEST_TRACE")) + ".rank" + std::to_string(group->rank()) + ".json");
  say(is_tracing() ? "on" : "off");
  group->barrier();
  return 0;
}

int trace_by_environment() {
  const auto group = ProcessGroup::create(from_environment());
  train(group);
  return 0;
}

// The rank's monotonic clock is a thousand seconds ahead of the other's.
int trace_with_another_clock() {
  if (unshare(CLONE_NEWTIME) != 0) return kNoTimeNamespace;
  std::ofstream offsets("/proc/self/timens_offsets");
  offsets << "monotonic 1000 0\n";
  if (!offsets.flush()) return kNoTimeNamespace;
  offsets.close();
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "/proc/self/exe", "--role", "environment", nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int run_child(const std::string& role) {
  if (role == "call") return trace_by_call();
  if (role == "environment") return trace_by_environment();
  if (role == "clock") return trace_with_another_clock();
  return 2;
}

// --- the tests

std::string trace_of(const std::string& prefix, int rank) {
  return prefix + ".rank" + std::to_string(rank) + ".json";
}

Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

bool python_reads(const std::string& path) {
  return std::system(("python3 -c 'import json, sys; json.load(open(sys.argv[1]))' " + path).c_str()) == 0;
}

// Begin and end of an event, microseconds.
struct Span {
  std::string name;
  int process = 0;
  double begun = 0, ended = 0;
  Json arguments;
};

std::vector<Span> spans_of(const Json& trace) {
  std::vector<Span> spans;
  std::map<std::string, std::size_t> open;
  for (const Json& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "M") continue;
    const double time = event["ts"];
    if (phase == "e") {
      const auto found = open.find(event["id"].get<std::string>());
      EXPECT_NE(found, open.end());
      if (found == open.end()) continue;
      EXPECT_EQ(event["name"], spans[found->second].name);
      EXPECT_GE(time, spans[found->second].begun);
      spans[found->second].ended = time;
      open.erase(found);
      continue;
    }
    if (phase == "b") {
      EXPECT_TRUE(open.emplace(event["id"].get<std::string>(), spans.size()).second) << event;
    } else {
      EXPECT_EQ(phase, "X");
    }
    spans.push_back({event["name"].get<std::string>(), event["pid"].get<int>(), time,
                     phase == "X" ? time + event["dur"].get<double>() : 0, event["args"]});
  }
  EXPECT_TRUE(open.empty());
  return spans;
}

std::vector<Span> named(const std::vector<Span>& spans, const std::string& name) {
  std::vector<Span> found;
  std::copy_if(spans.begin(), spans.end(), std::back_inserter(found),
               [&](const Span& one) { return one.name == name; });
  return found;
}

// A rank's file: steps, one after the other, with their parts and buckets inside.
void expect_steps(const std::vector<Span>& spans) {
  constexpr double kRounding = 0.01;  // microseconds, of numbers as they are read
  const auto steps = named(spans, "step");
  ASSERT_EQ(steps.size(), static_cast<std::size_t>(kSteps));
  for (int i = 0; i < kSteps; ++i) {
    EXPECT_EQ(steps[i].arguments["iteration"], i);
    if (i > 0) {
      EXPECT_GE(steps[i].begun, steps[i - 1].ended - kRounding);
    }
    double last = steps[i].begun;
    for (const char* part : {"forward's exchange", "forward", "backward", "wait for communication"}) {
      const auto all = named(spans, part);
      ASSERT_EQ(all.size(), static_cast<std::size_t>(kSteps)) << part;
      EXPECT_GE(all[i].begun, last - kRounding) << part;
      EXPECT_GE(all[i].ended, all[i].begun) << part;
      EXPECT_LE(all[i].ended, steps[i].ended + kRounding) << part;
      last = all[i].ended;
    }
    std::int64_t bytes = 0;
    for (const Span& one : spans) {
      if (one.name.rfind("bucket ", 0) != 0 || one.arguments["iteration"] != i) continue;
      EXPECT_GE(one.begun, named(spans, "backward")[i].begun - kRounding);
      EXPECT_LE(one.ended, steps[i].ended + kRounding);
      bytes += one.arguments["bytes"].get<std::int64_t>();
    }
    EXPECT_EQ(bytes, 4 * (20 * 10 + 10));
  }
}

// Nobody leaves the barrier before all have come, on whatever clock they are put.
void expect_barrier_on_one_clock(const std::vector<Span>& spans, std::size_t ranks, double error_us) {
  const auto barriers = named(spans, "barrier");
  ASSERT_EQ(barriers.size(), ranks);
  for (const Span& one : barriers) {
    for (const Span& other : barriers) EXPECT_GE(one.ended + error_us, other.begun);
  }
}

double expect_trace(const std::string& prefix, int ranks, const std::string& backend) {
  std::vector<std::string> files;
  for (int rank = 0; rank < ranks; ++rank) {
    files.push_back(trace_of(prefix, rank));
    const Json trace = read_json(files.back());
    EXPECT_EQ(trace["tandem"]["rank"], rank);
    EXPECT_EQ(trace["tandem"]["world_size"], ranks);
    EXPECT_EQ(trace["tandem"]["backend"], backend);
    EXPECT_EQ(trace["tandem"]["dropped"], 0);
    EXPECT_EQ(trace["tandem"]["run"], read_json(files[0])["tandem"]["run"]);
    const auto spans = spans_of(trace);
    for (const Span& one : spans) EXPECT_EQ(one.process, rank);
    expect_steps(spans);
    EXPECT_EQ(named(spans, "send").size(), rank == 0 ? 1u : 0u);
    EXPECT_EQ(named(spans, "recv").size(), rank == 1 ? 1u : 0u);
    const auto barrier = named(spans, "barrier");
    EXPECT_EQ(barrier.size(), 1u);
    if (!barrier.empty()) {
      EXPECT_EQ(barrier[0].arguments["group"], "default");
    }
  }
  const std::string merged = prefix + ".json";
  const MergeResult result = merge_traces(files, merged);
  EXPECT_EQ(result.ranks.size(), static_cast<std::size_t>(ranks));
  EXPECT_TRUE(python_reads(merged));
  const auto spans = spans_of(read_json(merged));
  const double error = static_cast<double>(result.clock_error_ns) / 1000 + 0.01;
  expect_barrier_on_one_clock(spans, static_cast<std::size_t>(ranks), error);
  return error;
}

class Traces : public ::testing::TestWithParam<const char*> {};

TEST_P(Traces, HaveStepsBucketsAndCollectivesOfAllRanks) {
  const test::TempDir folder;
  const Job job(Environment{{"TEST_BACKEND", GetParam()}, {"TEST_TRACE", folder / "step"}});
  std::vector<std::unique_ptr<Child>> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.push_back(job.start("call", rank, 3));
  for (const auto& rank : ranks) {
    EXPECT_THAT(rank->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("no trace of this process is on")));
    EXPECT_THAT(rank->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("is on already")));
    EXPECT_THAT(rank->line(), IsError(ErrorCode::kNotFound, HasSubstr("/no/such/folder")));
    EXPECT_EQ(rank->line(), "off");
    EXPECT_EQ(rank->wait(), 0);
  }
  EXPECT_LT(expect_trace(folder / "step", 3, GetParam()), 1);  // ranks of one host have one clock
}

TEST_P(Traces, AreWrittenWhenTheEnvironmentAsksForThem) {
  const test::TempDir folder;
  const Job job(Environment{{"TEST_BACKEND", GetParam()}, {"TANDEM_TRACE", folder / "run"}});
  const auto first = job.start("environment", 0, 2), second = job.start("environment", 1, 2);
  EXPECT_EQ(first->wait(), 0);
  EXPECT_EQ(second->wait(), 0);
  expect_trace(folder / "run", 2, GetParam());
}

INSTANTIATE_TEST_SUITE_P(, Traces, ::testing::Values("gloo", "shm"), [](const auto& one) { return one.param; });

TEST(TraceClocks, AreOnRankZerosClockWhereClocksDiffer) {
  const test::TempDir folder;
  const Job job(Environment{{"TEST_BACKEND", "gloo"}, {"TANDEM_TRACE", folder / "run"}});
  const auto first = job.start("environment", 0, 2), second = job.start("clock", 1, 2);
  const int code = second->wait();
  if (code == kNoTimeNamespace) GTEST_SKIP() << "this process may not make a time namespace (CAP_SYS_ADMIN)";
  EXPECT_EQ(code, 0);
  EXPECT_EQ(first->wait(), 0);
  const Json about = read_json(trace_of(folder / "run", 1))["tandem"];
  const std::int64_t offset = about["clock_offset_ns"], error = about["clock_error_ns"];
  EXPECT_GT(error, 0);
  EXPECT_NEAR(static_cast<double>(offset), -1000e9, static_cast<double>(error));
  expect_trace(folder / "run", 2, "gloo");
}

TEST(TraceLimits, LaterEventsAreCounted) {
  const test::TempDir folder;
  run_groups(1, [&](ProcessGroup& group) {
    EXPECT_THAT(error_of([&] { start_trace(group, {0}); }).what(), HasSubstr("most_events is 0"));
    start_trace(group, {2});
    at::Tensor tensor = torch::ones({4});
    for (int i = 0; i < 5; ++i) group.all_reduce(tensor);
    stop_trace(folder / "trace");
    group.all_reduce(tensor);
    const Json trace = read_json(folder / "trace");
    EXPECT_EQ(trace["tandem"]["dropped"], 3);
    EXPECT_EQ(named(spans_of(trace), "all_reduce").size(), 2u);
    start_trace(group);
    stop_trace(folder / "empty");
    EXPECT_TRUE(spans_of(read_json(folder / "empty")).empty());
    EXPECT_TRUE(python_reads(folder / "empty"));
    EXPECT_EQ(folder.names().size(), 2u);
  });
}

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--role") return tandem::testing::run_child(argv[2]);
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
