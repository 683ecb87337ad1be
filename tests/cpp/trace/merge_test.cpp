// `tandem trace merge`: what it makes, and what it refuses.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cpp/data/temp_dir.h"
#include "cpp/launch/tool.h"
#include "tandem/error.h"
#include "trace/tool/merge.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

Json about(int rank, int size, const std::string& kind = "trace") {
  return {{"version", 1},  {"kind", kind},   {"run", "a"},       {"rank", rank},         {"world_size", size},
          {"host", "h"},   {"process", 7},   {"backend", "shm"}, {"clock_offset_ns", 0}, {"clock_error_ns", 100 * rank},
          {"shift_ns", 0}, {"dropped", rank}};
}

Json event(const std::string& phase, double time, Json process, const std::string& name = "all_reduce") {
  return {{"ph", phase}, {"name", name}, {"pid", std::move(process)}, {"tid", 0}, {"ts", time}};
}

Json trace(int rank, int size, std::vector<Json> events = {}, const std::string& kind = "trace") {
  if (events.empty()) events.push_back(event("X", 10 * rank, rank));
  return {{"tandem", about(rank, size, kind)}, {"traceEvents", std::move(events)}};
}

class Merge : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string put(const std::string& name, const Json& content) const { return put(name, content.dump()); }

  Json merged(const std::vector<std::string>& files, const MergeOptions& options = {}) const {
    merge_traces(files, out(), options);
    std::ifstream file(out());
    return Json::parse(file);
  }
  std::string out() const { return folder_ / "out.json"; }

  // Refused with `code` and a text that has `parts`, and nothing written.
  void expect_refused(const std::vector<std::string>& files, ErrorCode code, const std::vector<std::string>& parts,
                      const MergeOptions& options = {}) const {
    try {
      merge_traces(files, out(), options);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string& part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
    }
    for (const std::string& name : folder_.names()) EXPECT_EQ(name.find("out.json"), std::string::npos) << name;
  }

  const test::TempDir folder_;
};

TEST_F(Merge, PutsAllRanksIntoOneFileOnOneClock) {
  Json late = trace(1, 2, {event("X", 5.25, 4711), event("b", 7, "spans")});
  late["tandem"]["shift_ns"] = 2000;
  const Json all = merged({put("b", late), put("a", trace(0, 2, {event("X", 1.001, 0)}))});
  EXPECT_THAT(all["tandem"]["ranks"], ElementsAre(0, 1));
  EXPECT_EQ(all["tandem"]["clock_error_ns"], 100);
  EXPECT_EQ(all["tandem"]["dropped"], 1);
  ASSERT_EQ(all["traceEvents"].size(), 3u);
  EXPECT_EQ(all["traceEvents"][0]["ts"], 7.25);
  EXPECT_EQ(all["traceEvents"][1]["ts"], 9.0);
  EXPECT_EQ(all["traceEvents"][2]["ts"], 1.001);
  EXPECT_NE(all["traceEvents"][0]["pid"], all["traceEvents"][1]["pid"]);
  EXPECT_EQ(all["traceEvents"][2]["pid"], 0);
}

TEST_F(Merge, KeepsProcessesAndPairsOfRanksApart) {
  std::vector<std::string> files;
  for (int rank = 0; rank < 3; ++rank) {
    for (const char* kind : {"trace", "profile"}) {
      std::vector<Json> events;
      for (const int process : {5, 6}) {
        Json begin = event("b", 1, process), end = event("e", 2, process);
        begin["id"] = end["id"] = process;
        events.insert(events.end(), {begin, end});
      }
      events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 5}, {"args", {{"name", "python"}}}});
      files.push_back(put(kind + std::to_string(rank), trace(rank, 3, events, kind)));
    }
  }
  const Json all = merged(files);
  std::map<std::string, int> pairs;
  std::set<std::int64_t> processes;
  std::set<std::string> names;
  for (const Json& one : all["traceEvents"]) {
    processes.insert(one["pid"].get<std::int64_t>());
    if (one.contains("id")) ++pairs[one["id"].get<std::string>()];
    if (one["ph"] == "M") names.insert(one["args"]["name"].get<std::string>());
  }
  EXPECT_EQ(processes.size(), 12u);
  EXPECT_EQ(pairs.size(), 12u);
  for (const auto& [id, count] : pairs) EXPECT_EQ(count, 2) << id;
  EXPECT_TRUE(names.count("rank 2, profile: python"));
}

TEST_F(Merge, MayReplaceOneOfItsFiles) {
  const std::string file = put("out.json", trace(0, 1));
  EXPECT_EQ(merge_traces({file}, file).events, 1);
}

TEST_F(Merge, RefusesRanksThatAreMissingOrThereTwice) {
  const std::string first = put("0", trace(0, 4)), third = put("2", trace(2, 4)), again = put("again", trace(2, 4));
  expect_refused({first, third}, ErrorCode::kInvalidArgument, {"ranks 1, 3 of run a is missing", "--allow-missing"});
  expect_refused({first, third, again}, ErrorCode::kInvalidArgument, {third, again, "trace of rank 2"});
  expect_refused({}, ErrorCode::kInvalidArgument, {"no trace to merge"});
  MergeOptions some;
  some.allow_missing = true;
  EXPECT_EQ(merged({first, third}, some)["traceEvents"].size(), 2u);
}

TEST_F(Merge, RefusesFilesOfDifferentRuns) {
  const std::string first = put("0", trace(0, 2));
  Json other = trace(1, 2);
  other["tandem"]["run"] = "b";
  expect_refused({first, put("1", other)}, ErrorCode::kInvalidArgument, {"run b", "run a", "nothing in common"});
  expect_refused({first, put("1", trace(1, 3))}, ErrorCode::kInvalidArgument, {"with 3 ranks", "run a with 2;"});
}

TEST_F(Merge, RefusesWhatIsNoTraceOfTandems) {
  expect_refused({put("x", Json{{"traceEvents", Json::array()}})}, ErrorCode::kInvalidArgument,
                 {"no trace that Tandem"});
  expect_refused({put("x", Json::array())}, ErrorCode::kInvalidArgument, {"no trace that Tandem"});
  expect_refused({folder_ / "nothing"}, ErrorCode::kIo, {"nothing", "No such file"});
  expect_refused({folder_ / "."}, ErrorCode::kIo, {"it is no file"});
  Json later = trace(0, 1);
  later["tandem"]["version"] = 2;
  expect_refused({put("x", later)}, ErrorCode::kInvalidArgument, {"version 2", "reads 1"});
  expect_refused({put("x", Json{{"tandem", {{"version", 1}, {"kind", "merged"}}}, {"traceEvents", Json::array()}})},
                 ErrorCode::kInvalidArgument, {"kind \"merged\"", "that ranks wrote"});
  MergeOptions small;
  small.most_bytes = 10;
  expect_refused({put("x", trace(0, 1))}, ErrorCode::kInvalidArgument, {"bytes", "at most 10"}, small);
}

TEST_F(Merge, NamesTheDamage) {
  const std::string whole = trace(0, 1).dump();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_refused({put("x", whole.substr(0, size))}, ErrorCode::kDataLoss, {"/x is damaged", "not JSON to its end"});
  }
  expect_refused({put("x", std::string(100000, '[') + std::string(100000, ']'))}, ErrorCode::kDataLoss,
                 {"is damaged", "256 deep"});
  expect_refused({put("x", std::string("{\"tandem\": \"\xff\"}"))}, ErrorCode::kDataLoss, {"is damaged"});
  const auto with = [&](const std::function<void(Json&)>& change) {
    Json changed = trace(0, 1);
    change(changed);
    return put("x", changed);
  };
  using Code = ErrorCode;
  expect_refused({with([](Json& t) { t["tandem"].erase("run"); })}, Code::kDataLoss, {"no text \"run\""});
  expect_refused({with([](Json& t) { t["tandem"]["rank"] = "0"; })}, Code::kDataLoss, {"no whole number \"rank\""});
  expect_refused({with([](Json& t) { t["tandem"]["rank"] = 1; })}, Code::kDataLoss, {"rank 1 of 1"});
  expect_refused({with([](Json& t) { t["tandem"]["rank"] = -1; })}, Code::kDataLoss, {"rank -1"});
  expect_refused({with([](Json& t) { t["tandem"]["world_size"] = 1LL << 40; })}, Code::kDataLoss, {"of 1099511627776"});
  expect_refused({with([](Json& t) { t["traceEvents"] = 1; })}, Code::kDataLoss, {"are no list"});
  expect_refused({with([](Json& t) { t["traceEvents"][0] = 1; })}, Code::kDataLoss, {"event 0 is no object"});
  expect_refused({with([](Json& t) { t["traceEvents"][0].erase("ts"); })}, Code::kDataLoss, {"event 0 has no time"});
  expect_refused({with([](Json& t) { t["traceEvents"][0]["ts"] = "1"; })}, Code::kDataLoss, {"event 0 has no time"});
  expect_refused({with([](Json& t) { t["traceEvents"][0].erase("ph"); })}, Code::kDataLoss, {"event 0 has no phase"});
  expect_refused({with([](Json& t) {
                   for (int i = 0; i < 1001; ++i) t["traceEvents"].push_back(event("X", 1, i + 10));
                 })},
                 Code::kDataLoss, {"more processes"});
}

TEST_F(Merge, IsACommand) {
  const std::string first = put("0", trace(0, 2)), second = put("1", trace(1, 2));
  const auto done = launch::run_tool({"trace", "merge", out(), first, second});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("2 events of 2 ranks"), HasSubstr("within 0.1 us"), HasSubstr("1 more were not")));
  EXPECT_EQ(std::system(("python3 -c 'import json, sys; json.load(open(sys.argv[1]))' " + out()).c_str()), 0);
  const auto refused = launch::run_tool({"trace", "merge", folder_ / "other", first});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("tandem: the trace of rank 1 of run a is missing"));
  EXPECT_EQ(launch::run_tool({"trace"}).code, 1);
}

}  // namespace
}  // namespace tandem
