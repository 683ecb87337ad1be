#include "metrics/job/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "metrics/job/exposition.h"
#include "metrics/job/progress.h"
#include "tandem/error.h"

namespace tandem::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Job job_of_two() {
  Job job;
  job.run = "digits";
  job.program = "mnist";
  job.host = "alpha";
  job.pid = 4711;
  job.seconds = 3725.6;
  job.world_size = 2;
  Rank rank;
  rank.rank = 0;
  rank.host = "alpha";
  rank.pid = 4712;
  rank.step = 1200;
  rank.epoch = 3;
  rank.samples = 76800;
  rank.loss = 0.25;
  rank.samples_per_second = 2500;
  rank.steps_per_second = 39.0625;
  rank.wait_seconds = 12.5;
  rank.wait_share = 0.25;
  rank.resident_bytes = 130ll << 20;
  rank.age = 0.1;
  job.ranks.push_back(rank);
  rank.rank = 1;
  rank.loss = 0.75;
  job.ranks.push_back(rank);
  return job;
}

TEST(Job, IsReadAsItWasWritten) {
  Job job = job_of_two();
  job.ranks[0].loss = std::numeric_limits<double>::infinity();
  job.ranks.push_back({});
  const Job read = decode_job(encode_job(job), 3);
  EXPECT_EQ(read.ranks, job.ranks);
  EXPECT_EQ(read.run, "digits");
  EXPECT_EQ(read.seconds, job.seconds);
  job.ranks[0].loss = std::nan("");
  EXPECT_TRUE(std::isnan(decode_ranks(encode_ranks(job.ranks), 3)[0].loss.value()));
}

TEST(Job, IsBoundedAndPrintable) {
  const std::string two = encode_ranks(job_of_two().ranks);
  EXPECT_THROW(decode_ranks(two, 1), Error);
  for (const char* wrong : {"", "{}", "[1]", "[{}]", R"([{"rank":"x","host":"a","pid":1}])", R"([{"rank":0,"host":"a","pid":1,"step":"1"}])"}) {
    EXPECT_THROW(decode_ranks(wrong, 5), Error) << wrong;
  }
  const auto read = decode_ranks(R"([{"rank":0,"host":"a\u001b[2J","pid":1}])", 5);
  EXPECT_EQ(read[0].host, "a?[2J");
  for (const char* wrong : {R"([{"rank":1e300,"host":"a","pid":1}])", R"([{"rank":4294967296,"host":"a","pid":1}])", R"([{"rank":-2,"host":"a","pid":1}])",
                            R"([{"rank":0,"host":"a","pid":1.5}])", R"([{"rank":0,"host":"a","pid":1,"step":18446744073709551615}])"}) {
    EXPECT_THROW(decode_ranks(wrong, 5), Error) << wrong;
  }
}

TEST(Job, HasNoRankTwiceAndNoneThatLeft) {
  std::vector<Rank> ranks(4);
  for (int i = 0; i < 4; ++i) ranks[static_cast<std::size_t>(i)].pid = 100 + i;
  ranks[0].rank = 2;  // of three before, of which one left
  ranks[1].rank = 1;
  ranks[2].rank = 0;
  ranks[3].rank = 1;  // which has yet to be told of another
  settle_ranks(ranks, 2);
  std::vector<std::pair<int, std::int64_t>> left;
  for (const Rank& one : ranks) left.emplace_back(one.rank, one.pid);
  EXPECT_THAT(left, ::testing::ElementsAre(std::pair(0, 102), std::pair(1, 101), std::pair(-1, 100), std::pair(-1, 103)));
}

TEST(Exposition, HasCountersOfProcessesThatTellThemApart) {
  Job job = job_of_two();
  job.ranks[1].calls = 90;
  job.ranks[1].failed_calls = 2;
  const std::string first = exposition(job);
  EXPECT_THAT(first, HasSubstr("tandem_samples_total{run=\"digits\",host=\"alpha\",rank=\"0\",pid=\"4712\"} 76800\n"));
  EXPECT_THAT(first, HasSubstr("tandem_wait_seconds_total{run=\"digits\",host=\"alpha\",rank=\"0\",pid=\"4712\"} 12.5\n"));
  EXPECT_THAT(first, HasSubstr("tandem_rpc_calls_total{run=\"digits\",host=\"alpha\",rank=\"1\",pid=\"4712\"} 90\n"));
  EXPECT_THAT(first, HasSubstr("tandem_rpc_failed_calls_total{run=\"digits\",host=\"alpha\",rank=\"1\",pid=\"4712\"} 2\n"));
  EXPECT_THAT(first, HasSubstr("tandem_step{run=\"digits\",host=\"alpha\",rank=\"0\"} 1200\n"));
}

TEST(Exposition, SaysWhetherAllRanksAreThere) {
  Job job = job_of_two();
  EXPECT_THAT(exposition(job), HasSubstr("tandem_serves_all_ranks{run=\"digits\"} 1\n"));
  job.is_whole = false;
  EXPECT_THAT(exposition(job), HasSubstr("tandem_serves_all_ranks{run=\"digits\"} 0\n"));
}

TEST(Progress, IsOneLine) {
  Job job = job_of_two();
  EXPECT_EQ(progress_line(job), "epoch 3, step 1200, 5000 samples/s, loss 0.5, 2 ranks, 1:02:05");
  for (Rank& rank : job.ranks) rank.samples_per_second = {}, rank.loss = {}, rank.epoch = {};
  EXPECT_EQ(progress_line(job), "step 1200, 39.06 steps/s, 2 ranks, 1:02:05");
  job.is_whole = false;
  EXPECT_EQ(progress_line(job), "step 1200, 39.06 steps/s, 2 ranks, 1:02:05 (this node)");
  EXPECT_EQ(progress_line(Job()), "");
}

TEST(Progress, IsATableOfRanks) {
  Job job = job_of_two();
  job.ranks.push_back({});
  job.ranks.back().host = "beta";
  const std::string table = rank_table(job);
  EXPECT_THAT(table, HasSubstr("digits: mnist on alpha, 2 ranks, 1:02:05\nRANK  HOST "));
  EXPECT_THAT(table, HasSubstr("\n0     alpha  4712      3  1200    76800       2500    39.06  0.25   25%  130 MiB  0 s\n"));
  EXPECT_THAT(table, HasSubstr("\n-     beta "));
  EXPECT_THAT(table, Not(HasSubstr("CALLS")));
  job.ranks[0].calls = 90;
  job.ranks[0].failed_calls = 2;
  const std::string with_calls = rank_table(job);
  EXPECT_THAT(with_calls, HasSubstr("WAIT  CALLS  FAILED   MEMORY  AGE\n"));
  EXPECT_THAT(with_calls, HasSubstr("  25%     90       2  130 MiB  0 s\n"));
}

TEST(Progress, NumbersAreShort) {
  EXPECT_EQ(number_text(0.000123456), "0.0001235");
  EXPECT_EQ(number_text(123456.7), "123457");
  EXPECT_EQ(number_text(std::nan("")), "nan");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1536ll << 20), "1.5 GiB");
}

}  // namespace
}  // namespace tandem::metrics
