// Messages between this rank's stages and others', in one pass through a schedule.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "pipeline/message.h"
#include "pipeline/parts.h"
#include "tandem/pipeline_schedule.h"
#include "tandem/process_group.h"

namespace tandem {

// Receives on a thread of its own, in the order in which the rank will ask, so that what comes early is there when it is
// wanted; sends without waiting. Results for stages of the same rank are passed on without a message.
class StageMessenger {
 public:
  // `actions`: all that this rank will do in this pass, in order.
  StageMessenger(const PipelineParts& parts, const std::vector<PipelineAction>& actions);
  // Aborts the group when what is expected was not taken.
  ~StageMessenger();

  // The result of an action of another stage, once; waits for it. Errors: those of messages, naming the action and its
  // rank.
  StageMessage take(const PipelineAction& source);
  // An action's result, to the stage that wants it; does nothing where none does. Keeps its tensors until they are sent.
  void send(const PipelineAction& action, StageMessage message);
  // The other stage has what it was sent for this action: releases it.
  void settle(const PipelineAction& action);
  // All is received; waits until all is sent.
  void finish();

 private:
  int tag_of(const PipelineAction& action) const;
  int rank_of(const PipelineAction& action) const { return schedule_.rank_of_stage[action.stage]; }
  void receive_all();
  void release_sent();
  StageMessage receive(const PipelineAction& source);
  void wait_for(const PipelineAction& action, std::vector<Work>& works) const;
  [[noreturn]] void rethrow(const char* what, const PipelineAction& action, int rank) const;

  // What comes before it is wanted is kept; no more than this, so that a fast stage does not fill a slow one's memory.
  static constexpr std::size_t kMostAhead = 4;

  const PipelineParts& parts_;
  ProcessGroup& group_;
  const PipelineSchedule& schedule_;
  std::vector<PipelineAction> expected_;
  struct Sent {
    PipelineAction action;
    std::vector<Work> works;
    std::vector<at::Tensor> tensors;
  };
  std::map<int, Sent> sends_;               // by tag
  std::map<int, StageMessage> own_;         // from stages of this rank
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, StageMessage> received_;
  std::exception_ptr failure_;
  bool stopped_ = false;
  bool finished_ = false;
  std::thread receiver_;
};

}  // namespace tandem
