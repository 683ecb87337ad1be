// Schedules as data: those that Tandem makes, and those that it refuses.
#include <gmock/gmock.h>

#include "tandem/error.h"
#include "tandem/pipeline_schedule.h"

namespace tandem::testing {
namespace {

using ::testing::HasSubstr;
using Kind = PipelineAction::Kind;

std::string refusal(const PipelineSchedule& schedule) {
  try {
    verify(schedule);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

// The most micro-batches whose forward a rank has made and whose backward it has not.
int most_kept(const std::vector<PipelineAction>& actions) {
  int kept = 0, most = 0;
  for (const PipelineAction& action : actions) most = std::max(most, kept += action.kind == Kind::kForward ? 1 : -1);
  return most;
}

TEST(PipelineSchedule, AllThatAreMadeCanRun) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    for (int micro_batches = 1; micro_batches <= 9; ++micro_batches) {
      verify(one_forward_one_backward_schedule(ranks, micro_batches));
      for (int stages = 1; stages <= 3; ++stages) {
        verify(gpipe_schedule(ranks, micro_batches, stages));
        verify(interleaved_schedule(ranks, micro_batches, stages));
      }
    }
  }
}

TEST(PipelineSchedule, BubbleIsThatOfThePapers) {
  for (const int ranks : {1, 2, 4}) {
    for (const int micro_batches : {4, 8, 16}) {
      const double bubble = (ranks - 1.0) / (micro_batches + ranks - 1);
      EXPECT_NEAR(bubble_share(gpipe_schedule(ranks, micro_batches)), bubble, 1e-12);
      EXPECT_NEAR(bubble_share(one_forward_one_backward_schedule(ranks, micro_batches)), bubble, 1e-12);
      for (const int stages : {2, 4}) {
        const double of_one = (ranks - 1.0) / stages;  // the bubble in units of a micro-batch's time on a rank
        EXPECT_NEAR(bubble_share(interleaved_schedule(ranks, micro_batches, stages)), of_one / (micro_batches + of_one),
                    1e-12)
            << ranks << " ranks, " << micro_batches << " micro-batches, " << stages << " stages";
      }
    }
  }
}

TEST(PipelineSchedule, OneForwardOneBackwardKeepsNoMoreThanStagesToCome) {
  const PipelineSchedule eager = one_forward_one_backward_schedule(4, 16), late = gpipe_schedule(4, 16);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(most_kept(eager.actions[rank]), 4 - rank);
    EXPECT_EQ(most_kept(late.actions[rank]), 16);
  }
}

TEST(PipelineSchedule, ByName) {
  for (const char* name : {"gpipe", "1f1b", "interleaved1f1b"}) {
    EXPECT_EQ(make_pipeline_schedule(name, 2, 4, 1).name, name);
  }
  try {
    make_pipeline_schedule("2f2b", 2, 4, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr("gpipe, 1f1b and interleaved1f1b"));
  }
  EXPECT_THROW(make_pipeline_schedule("1f1b", 2, 4, 2), Error);
  EXPECT_THROW(gpipe_schedule(0, 4), Error);
  EXPECT_THROW(gpipe_schedule(2, 1 << 20), Error);
}

TEST(PipelineSchedule, RefusesWhatCannotRun) {
  PipelineSchedule circle = gpipe_schedule(2, 2);
  // Rank 1 wants micro-batch 1 first; rank 0 sends it after the backward of micro-batch 0.
  circle.actions[0] = {{Kind::kForward, 0, 0}, {Kind::kBackward, 0, 0}, {Kind::kForward, 0, 1}, {Kind::kBackward, 0, 1}};
  circle.actions[1] = {{Kind::kForward, 1, 1}, {Kind::kBackward, 1, 1}, {Kind::kForward, 1, 0}, {Kind::kBackward, 1, 0}};
  EXPECT_THAT(refusal(circle), HasSubstr("rank 0 would wait in the backward of micro-batch 0 on stage 0 for the "
                                         "backward of micro-batch 0 on stage 1, rank 1 would wait in the forward of "
                                         "micro-batch 1 on stage 1 for the forward of micro-batch 1 on stage 0"));

  PipelineSchedule missing = gpipe_schedule(2, 2);
  missing.actions[1].pop_back();
  EXPECT_THAT(refusal(missing), HasSubstr("rank 1 lacks the backward of micro-batch 1 on stage 1"));

  PipelineSchedule twice = gpipe_schedule(2, 2);
  twice.actions[0].push_back(twice.actions[0].back());
  EXPECT_THAT(refusal(twice), HasSubstr("rank 0 makes the backward of micro-batch 1 on stage 0 twice"));

  PipelineSchedule elsewhere = gpipe_schedule(2, 2);
  elsewhere.actions[0][0].stage = 1;
  EXPECT_THAT(refusal(elsewhere), HasSubstr("which is rank 1's"));

  PipelineSchedule early = gpipe_schedule(1, 1);
  std::swap(early.actions[0][0], early.actions[0][1]);
  EXPECT_THAT(refusal(early), HasSubstr("before its forward"));

  PipelineSchedule outside = gpipe_schedule(1, 1);
  outside.actions[0][0].micro_batch = 1;
  EXPECT_THAT(refusal(outside), HasSubstr("there are 1 stages and 1 micro-batches"));

  PipelineSchedule large = gpipe_schedule(1, 1);
  large.micro_batches = 1 << 14;
  large.rank_of_stage.resize(1 << 14);
  EXPECT_THAT(refusal(large), HasSubstr("their product is at most"));

  PipelineSchedule nowhere = gpipe_schedule(2, 1);
  nowhere.rank_of_stage[1] = 2;
  EXPECT_THAT(refusal(nowhere), HasSubstr("stage 1 is on rank 2; there are 2 ranks"));
}

}  // namespace
}  // namespace tandem::testing
