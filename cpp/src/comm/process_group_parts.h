// What a ProcessGroup consists of, for the files that implement it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/group_backend.h"
#include "comm/group_state.h"
#include "comm/notes.h"
#include "comm/rendezvous.h"
#include "tandem/process_group.h"
#include "tandem/runtime.h"

namespace tandem {

enum class Kind { kGloo, kNccl, kNone, kShm, kAuto };  // kAuto: until the ranks have met

struct ProcessGroup::Parts {
  Kind kind = Kind::kGloo;
  std::string backend_name;     // what "auto" has become
  ProcessGroupOptions options;  // as given
  Meeting meeting;  // where sub-groups meet, too
  std::vector<int> global_ranks;
  std::atomic<std::uint64_t> subgroups{0};  // how many were asked for
  std::shared_ptr<GroupState> state;
  Store store;  // outlives the backend, which uses it to the end
  std::mutex barrier_mutex;
  std::unique_ptr<Notes> barrier_notes;
  c10::intrusive_ptr<GroupBackend> backend;
  c10::intrusive_ptr<c10d::ProcessGroup> native;
  std::unique_ptr<ShutdownHook> hook;

  // The backend takes only the dtypes that it computes with.
  bool few_types() const { return kind == Kind::kGloo; }
};

// Makes groups out of a place where their ranks meet.
class GroupMaker {
 public:
  static std::shared_ptr<ProcessGroup> make(const ProcessGroupOptions& options, const Meeting& meeting,
                                            std::vector<int> global_ranks);
};

}  // namespace tandem
