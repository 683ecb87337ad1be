#include "tandem/lease_log.h"

#include <gtest/gtest.h>

#include "cpp/data/expect_error.h"
#include "tandem/lease_queue.h"

namespace tandem::lease_log_test {
namespace {

TEST(LeaseLog, AStepIsALineOfJson) {
  const CommittedStep step{2, 0, 7, {{1, 0, 4}, {0, 2, 3}}, {{77, 0, 7, 3, "a \"bad\" JPEG\nin 2 lines"}}};
  const std::string line = step.json();
  EXPECT_EQ(line, R"({"generation":2,"epoch":0,"step":7,"parts":[[1,0,4],[0,2,3]],"left_out":)"
                  R"([{"sample":77,"epoch":0,"step":7,"failures":3,"reason":"a \"bad\" JPEG\nin 2 lines"}]})");
  EXPECT_EQ(CommittedStep::parse(line), step);
  EXPECT_EQ(step.samples(), 7);
  EXPECT_EQ(parse_quarantine(quarantine_json(step.left_out)), step.left_out);
  EXPECT_TRUE(parse_quarantine("").empty());
  EXPECT_EQ(quarantine_json({}), "[]");
}

TEST(LeaseLog, AStepSaysWhatWasSkipped) {
  const CommittedStep step{1, 0, 2, {{0, 0, 3}}, {}, {{0, 4, 1}, {1, 0, 8}}};
  const std::string line = step.json();
  EXPECT_EQ(line, R"({"generation":1,"epoch":0,"step":2,"parts":[[0,0,3]],"left_out":[],)"
                  R"("skipped":[[0,4,1],[1,0,8]]})");
  EXPECT_EQ(CommittedStep::parse(line), step);
  const auto with = [](const std::string& skipped) {
    return R"({"generation":1,"epoch":0,"step":0,"parts":[],"left_out":[],"skipped":)" + skipped + "}";
  };
  EXPECT_ERROR(CommittedStep::parse(with("3")), ErrorCode::kInvalidArgument, "skipped is no array");
  EXPECT_ERROR(CommittedStep::parse(with("[[0,1]]")), ErrorCode::kInvalidArgument, "skipped[0]",
               "[part, first, count]");
  EXPECT_ERROR(CommittedStep::parse(with("[[0,1,-2]]")), ErrorCode::kInvalidArgument, "skipped[0]", "negative");
}

TEST(LeaseLog, ReasonsOfAnyBytesAreText) {
  const std::string json = quarantine_json({{1, 0, 0, 3, "cut \xc3"}});
  EXPECT_EQ(parse_quarantine(json)[0].reason, "cut \xef\xbf\xbd");
}

// Ranks that pass a quarantine on and ranks that pass its JSON on begin with the same.
TEST(LeaseLog, AQuarantineIsTheSameAfterItsJson) {
  LeaseQueue queue({.positions = 4, .batch_size = 4, .micro_batch = 4, .most_failures = 1});
  queue.begin(1, 1, 0, 0, {});
  const std::string letters(499, 'a');
  const std::vector<std::string> reasons = {letters + "\xc3\xa9", "cut \xc3", letters + "\x80\x80\x80\x80\x80",
                                            letters + "\xff\xff", letters + "bc"};
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    Lease lease;
    ASSERT_EQ(queue.lease(1, 0, 0, 0, &lease), LeaseQueue::Answer::kDone);
    queue.fail(1, 0, lease, static_cast<std::int64_t>(i), reasons[i]);
  }
  ASSERT_EQ(queue.quarantine().size(), reasons.size());
  EXPECT_EQ(parse_quarantine(quarantine_json(queue.quarantine())), queue.quarantine());
  EXPECT_EQ(queue.quarantine()[0].reason, letters);
  EXPECT_EQ(queue.quarantine()[1].reason, "cut \xef\xbf\xbd");
  EXPECT_EQ(queue.quarantine()[4].reason, letters + "b");
}

TEST(LeaseLog, RefusesWhatIsNone) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  EXPECT_ERROR(CommittedStep::parse("{"), kInvalid, "record of a step", "no JSON");
  EXPECT_ERROR(CommittedStep::parse("[]"), kInvalid, "no JSON object");
  EXPECT_ERROR(CommittedStep::parse(R"({"generation":1,"epoch":0})"), kInvalid, "no step");
  const auto with_parts = [](const std::string& parts) {
    return R"({"generation":1,"epoch":0,"step":0,"left_out":[],"parts":)" + parts + "}";
  };
  EXPECT_TRUE(CommittedStep::parse(with_parts("[]")).parts.empty());
  EXPECT_ERROR(CommittedStep::parse(with_parts("3")), kInvalid, "parts is no array");
  const std::string nested = std::string(1'000'000, '[') + std::string(1'000'000, ']');  // too much to be shown
  EXPECT_ERROR(CommittedStep::parse(R"({"generation":)" + nested + "}"), kInvalid, "record of a step", "256 deep");
  EXPECT_ERROR(CommittedStep::parse(with_parts("[[0,1]]")), kInvalid, "parts[0]");
  EXPECT_ERROR(CommittedStep::parse(with_parts("[[0,1,2],[0,1,-2]]")), kInvalid, "parts[1]", "negative");
  EXPECT_ERROR(CommittedStep::parse(with_parts("[[5000000000,1,2]]")), kInvalid, "parts[0]", "too much");
  EXPECT_ERROR(parse_quarantine(R"([{"sample":-1,"epoch":0,"step":0,"failures":1,"reason":""}])"), kInvalid,
               "quarantine[0]", "sample", "negative");
  EXPECT_ERROR(parse_quarantine(R"([{"sample":1,"epoch":0,"step":0,"failures":1,"reason":7}])"), kInvalid, "reason");
  EXPECT_ERROR(parse_quarantine(R"([{"sample":1,"epoch":0,"step":0,"failures":1,"reason":"","x":1}])"), kInvalid, "x");
}

}  // namespace
}  // namespace tandem::lease_log_test
