// Profiles of this process, and of ranks that are processes.
#include "tandem/profiler.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cpp/comm/job.h"
#include "cpp/data/temp_dir.h"
#include "tandem/ddp.h"
#include "tandem/trace.h"
#include "trace/tool/merge.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// --- what a rank does

int profile_training() {
  const auto group = ProcessGroup::create(from_environment());
  const std::string prefix = std::getenv("TEST_PREFIX");
  const std::string rank = std::to_string(group->rank());
  start_trace(*group);
  start_profiler({}, group.get());
  torch::nn::Linear net(20, 10);
  DistributedDataParallel<torch::nn::Linear> ddp(net, group);
  for (int i = 0; i < 3; ++i) ddp.forward(torch::ones({4, 20})).sum().backward();
  group->barrier();
  stop_profiler(prefix + ".profile" + rank);
  stop_trace(prefix + ".trace" + rank);
  group->barrier();
  return 0;
}

// --- the tests

Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

std::vector<Json> named(const Json& trace, const std::string& name) {
  std::vector<Json> found;
  for (const Json& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if ((phase == "X" || phase == "b") && event.value("name", "") == name) found.push_back(event);
  }
  return found;
}

TEST(Profiler, NotesOperatorsOfAllThreads) {
  const test::TempDir folder;
  ProfilerOptions options;
  options.record_shapes = true;
  options.with_flops = true;
  start_profiler(options);
  EXPECT_THAT(error_of([&] { start_profiler(); }).what(), HasSubstr("is on already"));
  const at::Tensor x = torch::ones({8, 4}, torch::requires_grad());
  std::thread([] { torch::tanh(torch::ones({3})); }).join();
  torch::mm(x, torch::ones({4, 5})).sum().backward();
  const std::string table = stop_profiler(folder / "profile");
  torch::sin(torch::ones({3}));
  EXPECT_THAT(table, AllOf(HasSubstr("aten::mm"), HasSubstr("aten::tanh"), HasSubstr("MmBackward0"),
                           Not(HasSubstr("aten::sin"))));
  const Json profile = read_json(folder / "profile");
  EXPECT_EQ(profile["tandem"]["kind"], "profile");
  EXPECT_EQ(profile["tandem"]["world_size"], 1);
  const auto products = named(profile, "aten::mm");
  ASSERT_EQ(products.size(), 2u);  // forward, and backward for x
  EXPECT_EQ(products[0]["args"]["Input Dims"], (Json{{8, 4}, {4, 5}}));
  EXPECT_EQ(named(profile, "aten::tanh").size(), 1u);
  EXPECT_NE(named(profile, "aten::tanh")[0]["tid"], products[0]["tid"]);
  EXPECT_EQ(folder.names().size(), 1u);
  EXPECT_EQ(
      std::system(("python3 -c 'import json, sys; json.load(open(sys.argv[1]))' " + (folder / "profile")).c_str()), 0);
  EXPECT_EQ(merge_traces({folder / "profile"}, folder / "merged").ranks.size(), 1u);
}

TEST(Profiler, IsToldWhenItIsNotOnAndWhereAFileCannotBe) {
  EXPECT_THAT(error_of([&] { stop_profiler(); }).what(), HasSubstr("is not on"));
  start_profiler();
  const Error error = error_of([&] { stop_profiler("/no/such/folder/profile"); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("cannot create /no/such/folder/profile: No such file"));
  EXPECT_THAT(error_of([&] { stop_profiler(); }).what(), HasSubstr("is not on"));
  start_profiler();
  EXPECT_THAT(stop_profiler(), HasSubstr("own ms"));
}

class ProfiledRanks : public ::testing::TestWithParam<const char*> {};

TEST_P(ProfiledRanks, AreOnOneClockWithTheirTraces) {
  const std::string backend = GetParam();
  const test::TempDir folder;
  const Job job(Environment{{"TEST_BACKEND", backend}, {"TEST_PREFIX", folder / "x"}});
  const auto first = job.start("profile", 0, 2), second = job.start("profile", 1, 2);
  EXPECT_EQ(first->wait(), 0);
  EXPECT_EQ(second->wait(), 0);
  std::vector<std::string> files;
  for (const char* name : {"x.profile0", "x.profile1", "x.trace0", "x.trace1"}) files.push_back(folder / name);
  EXPECT_EQ(merge_traces(files, folder / "merged").ranks.size(), 2u);
  const Json merged = read_json(folder / "merged");
  for (const int rank : {0, 1}) {
    const auto of_rank = [&](std::vector<Json> events) {
      std::erase_if(events, [&](const Json& event) { return event["pid"].get<int>() / 1000 != rank; });
      return events;
    };
    EXPECT_GE(of_rank(named(merged, "aten::addmm")).size(), 3u);
    EXPECT_GE(of_rank(named(merged, backend + ":all_reduce")).size(), 3u);
    EXPECT_EQ(of_rank(named(merged, "step")).size(), 3u);
    // The same barrier, as both tell it. What is wrong with clocks makes hours.
    const auto traced = of_rank(named(merged, "barrier")), profiled = of_rank(named(merged, backend + ":barrier"));
    ASSERT_EQ(traced.size(), 1u);
    ASSERT_EQ(profiled.size(), 1u);
    EXPECT_NEAR(traced[0]["ts"].get<double>(), profiled[0]["ts"].get<double>(), 10e6);
  }
}

INSTANTIATE_TEST_SUITE_P(, ProfiledRanks, ::testing::Values("gloo", "shm"), [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--role") return tandem::testing::profile_training();
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
