// What a Pipeline consists of.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/message.h"
#include "pipeline/tied_parameters.h"
#include "tandem/pipeline.h"

namespace tandem {

struct PipelineParts {
  std::shared_ptr<ProcessGroup> group;
  std::vector<PipelineStage> stages;  // in order of their numbers
  PipelineOptions options;
  std::map<int, std::unique_ptr<DataParallelReducer>> reducers;  // by stage; empty without replicas
  std::unique_ptr<TiedParameters> tied;
  std::map<std::string, int> first_stage_of_tied;  // by name
  std::int64_t passes = 0;  // in a trace

  // Ranks that fail together, and their number in it is the one that errors name.
  ProcessGroup& everyone() const { return options.everyone ? *options.everyone : *group; }
  const std::vector<PipelineAction>& actions() const { return options.schedule.actions[group->rank()]; }
  const PipelineStage& stage(int index) const;
  // "stage 1 (rank 3)"
  std::string name_of(int stage) const;
  // The number that errors have for a rank of `group`.
  std::string number_of(int rank) const;
  // Nobody waits for this rank any more.
  void abort_groups();
  void abort_replicas();
};

// An error as ranks tell it each other; "": none.
std::string tell(const Error* error);
// The first of them that is not a consequence of another rank's failure; without such the first; null without any.
std::shared_ptr<const Error> chosen_of(const std::vector<std::string>& told);

// Compares what all ranks give to a pipeline. Gives the names of tied parameters of each stage. Errors: as Pipeline's.
std::vector<std::vector<std::string>> compare_ranks(ProcessGroup& group, ProcessGroup& everyone,
                                                    const std::vector<PipelineStage>& stages,
                                                    const PipelineOptions& options);

}  // namespace tandem
