// Handles of stores, process groups, works and DDP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/call/guard.h"
#include "core/call/options.h"
#include "core/call/timeout.h"
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
  bool owns = true;  // freeing it closes the group
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

// A new group, or NULL for a rank that is in none.
inline void hand_over_group(std::shared_ptr<ProcessGroup> group, tdm_process_group** out, bool owns = true) {
  tdm_process_group* handle = nullptr;
  if (group) {
    handle = new tdm_process_group;
    handle->group = std::move(group);
    handle->owns = owns;
  }
  *out = handle;
}

inline std::string text_or(const char* text, const char* otherwise) {
  return text ? text : otherwise;
}

inline ProcessGroupOptions to_group_options(const tdm_process_group_options* options) {
  const auto given =
      read_options<tdm_process_group_options>(options, TDM_PROCESS_GROUP_OPTIONS_INIT, "tdm_process_group_options");
  ProcessGroupOptions native;
  native.backend = text_or(given.backend, "gloo");
  native.init_method = text_or(given.init_method, "env://");
  native.rank = given.rank;
  native.world_size = given.world_size;
  native.timeout = to_wait(given.timeout_ms);
  // to_device() would say that there is no GPU; the group says which backend needs it.
  if (given.device.type == TDM_DEVICE_CUDA) {
    native.device = c10::Device(c10::kCUDA, to_device_index(given.device, "device"));
  } else {
    native.device = to_device(given.device, "device");
  }
  native.interface_name = text_or(given.interface_name, "");
  native.name = text_or(given.name, "default");
  return native;
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
