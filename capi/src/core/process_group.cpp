// Process groups, collectives, works.
#include <string>
#include <vector>

#include "core/groups.h"
#include "core/options.h"
#include "tandem/resident.h"

using namespace tandem::capi;

namespace {

tandem::ProcessGroup& unwrap_group(tdm_process_group* group) {
  return *not_null(group, "group")->group;
}

tandem::ReduceOp to_reduce_op(tdm_reduce_op op) {
  if (op < TDM_REDUCE_OP_SUM || op > TDM_REDUCE_OP_BXOR)
    invalid("argument 'op' is " + std::to_string(op) + ", which is no tdm_reduce_op");
  return static_cast<tandem::ReduceOp>(op);
}

// To the caller, who waits, or waits here.
void hand_over(tdm_process_group* group, tandem::Work work, tdm_work** out) {
  if (!out) {
    work.wait();
    tandem::startup_is_over();
    return;
  }
  auto* handle = new tdm_work;
  handle->work = std::move(work);
  handle->group = group->group;
  *out = handle;
}

std::string text_or(const char* text, const char* otherwise) {
  return text ? text : otherwise;
}

}  // namespace

tdm_error* tdm_process_group_create(const tdm_process_group_options* options, const tdm_store* store,
                                    tdm_process_group** out) {
  return guard("tdm_process_group_create", [&] {
    not_null(out, "out");
    const auto given = read_options<tdm_process_group_options>(options, TDM_PROCESS_GROUP_OPTIONS_INIT, "tdm_process_group_options");
    tandem::ProcessGroupOptions native;
    native.backend = text_or(given.backend, "gloo");
    native.init_method = text_or(given.init_method, "env://");
    native.rank = given.rank;
    native.world_size = given.world_size;
    native.timeout = std::chrono::milliseconds(given.timeout_ms);
    // to_device() would say that there is no GPU; the group says which backend needs it.
    if (given.device.type == TDM_DEVICE_CUDA) {
      native.device = c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(given.device.index));
    } else {
      native.device = to_device(given.device, "device");
    }
    native.interface_name = text_or(given.interface_name, "");
    native.name = text_or(given.name, "default");
    auto group = tandem::ProcessGroup::create(native, store ? store->store : tandem::Store());
    auto* handle = new tdm_process_group;
    handle->group = std::move(group);
    *out = handle;
  });
}

void tdm_process_group_free(tdm_process_group* group) {
  if (!group) return;
  try {
    group->group->close();  // DDP and works may hold it longer
  } catch (...) {
  }
  delete group;
}

int32_t tdm_process_group_rank(const tdm_process_group* group) {
  return group ? group->group->rank() : -1;
}
int32_t tdm_process_group_size(const tdm_process_group* group) {
  return group ? group->group->size() : 0;
}
const char* tdm_process_group_backend(const tdm_process_group* group) {
  return group ? group->group->backend().c_str() : nullptr;
}

tdm_error* tdm_process_group_abort(tdm_process_group* group) {
  return guard("tdm_process_group_abort", [&] { unwrap_group(group).abort(); });
}

tdm_error* tdm_broadcast(tdm_process_group* group, tdm_tensor* tensor, int32_t root, tdm_work** work) {
  return guard("tdm_broadcast",
               [&] { hand_over(group, unwrap_group(group).broadcast_async(unwrap(tensor, "tensor"), root), work); });
}

tdm_error* tdm_all_reduce(tdm_process_group* group, tdm_tensor* tensor, tdm_reduce_op op, tdm_work** work) {
  return guard("tdm_all_reduce", [&] {
    hand_over(group, unwrap_group(group).all_reduce_async(unwrap(tensor, "tensor"), to_reduce_op(op)), work);
  });
}

tdm_error* tdm_reduce(tdm_process_group* group, tdm_tensor* tensor, int32_t root, tdm_reduce_op op, tdm_work** work) {
  return guard("tdm_reduce", [&] {
    hand_over(group, unwrap_group(group).reduce_async(unwrap(tensor, "tensor"), root, to_reduce_op(op)), work);
  });
}

tdm_error* tdm_all_gather(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count,
                          const tdm_tensor* input, tdm_work** work) {
  return guard("tdm_all_gather", [&] {
    auto& native = unwrap_group(group);
    hand_over(group, native.all_gather_async(unwrap_list(outputs, output_count, "outputs"), unwrap(input, "input")),
              work);
  });
}

tdm_error* tdm_barrier(tdm_process_group* group, tdm_work** work) {
  return guard("tdm_barrier", [&] { hand_over(group, unwrap_group(group).barrier_async(), work); });
}

tdm_error* tdm_work_wait(tdm_work* work, int64_t timeout_ms) {
  return guard("tdm_work_wait", [&] {
    not_null(work, "work");
    if (timeout_ms == 0) invalid("argument 'timeout_ms' is 0; give milliseconds, or -1 for the group's timeout");
    work->work.wait(std::chrono::milliseconds(timeout_ms < 0 ? 0 : timeout_ms));
    tandem::startup_is_over();
  });
}

int32_t tdm_work_is_completed(const tdm_work* work) {
  return work ? work->work.is_completed() : 0;
}

void tdm_work_free(tdm_work* work) {
  if (!work) return;
  try {
    work->work.wait();
  } catch (...) {
    // Whoever wanted to know waited before.
  }
  delete work;
}
