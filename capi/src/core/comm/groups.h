// Handles of stores, process groups, works and DDP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/call/guard.h"
#include "core/handles/handles.h"
#include "tandem/comm_hook.h"
#include "tandem/ddp.h"
#include "tandem/process_group.h"
#include "tandem/store.h"

struct tdm_store : tandem::capi::Handle<tandem::Kind::kStore> {
  tandem::Store store;
};

struct tdm_process_group : tandem::capi::Handle<tandem::Kind::kProcessGroup> {
  std::shared_ptr<tandem::ProcessGroup> group;
};

struct tdm_work : tandem::capi::Handle<tandem::Kind::kWork> {
  tandem::Work work;
  std::shared_ptr<tandem::ProcessGroup> group;  // whose threads run it
};

namespace tandem::capi {

inline const std::shared_ptr<ProcessGroup>& share_group(tdm_process_group* group) {
  return not_null(group, "group")->group;
}
inline ProcessGroup& unwrap_group(tdm_process_group* group) {
  return *share_group(group);
}

inline ReduceOp to_reduce_op(tdm_reduce_op op) {
  if (op < TDM_REDUCE_OP_SUM || op > TDM_REDUCE_OP_BXOR)
    invalid("argument 'op' is " + std::to_string(op) + ", which is no tdm_reduce_op");
  return static_cast<ReduceOp>(op);
}

inline std::vector<std::int64_t> to_splits(const std::int64_t* splits, std::size_t count, const char* argument) {
  check_count(count, argument);
  if (count == 0) return {};
  not_null(splits, argument);
  return {splits, splits + count};
}

}  // namespace tandem::capi

struct tdm_ddp : tandem::capi::Handle<tandem::Kind::kDdp> {
  std::shared_ptr<tandem::ProcessGroup> group;
  std::unique_ptr<tandem::DataParallelReducer> reducer;
  std::shared_ptr<tandem::PowerSgdState> power_sgd;  // of its hook
};
