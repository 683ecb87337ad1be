// Collectives, messages, byte strings.
#include <string>
#include <vector>

#include "core/call/timeout.h"
#include "core/comm/groups.h"
#include "tandem/resident.h"

using namespace tandem::capi;

namespace {

// Starts a collective for the caller, who waits for it, or waits here.
template <typename Start>
void run(tdm_process_group* group, tdm_work** out, Start&& start) {
  if (!out) {
    tandem::Work work;
    {
      const tandem::WaitsAtOnce at_once;
      work = start();
    }
    work.wait();
    tandem::startup_is_over();
    return;
  }
  tandem::Work work = start();
  auto* handle = new tdm_work;
  handle->work = std::move(work);
  handle->group = group->group;
  *out = handle;
}

std::string to_bytes(const void* data, std::size_t size, const char* argument) {
  // Less than this is refused on all ranks together.
  if (size >= std::size_t{1} << 40)
    invalid(std::string("argument '") + argument + "' cannot have " + std::to_string(size) + " bytes");
  if (size == 0) return "";
  return std::string(static_cast<const char*>(not_null(data, argument)), size);
}

// `strings` into the caller's array of exactly as many.
void hand_over_bytes(std::vector<std::string> strings, tdm_string** out) {
  std::vector<std::unique_ptr<tdm_string>> made;
  for (auto& text : strings) made.emplace_back(make_string(std::move(text)));
  for (std::size_t i = 0; i < made.size(); ++i) out[i] = made[i].release();
}

void check_length(std::size_t count, std::size_t expected, const char* argument) {
  if (count == expected) return;
  invalid(std::string("argument '") + argument + "' is " + std::to_string(count) + "; it must be " +
          std::to_string(expected));
}

}  // namespace

tdm_error* tdm_broadcast(tdm_process_group* group, tdm_tensor* tensor, int32_t root, tdm_work** work) {
  return guard("tdm_broadcast", [&] {
    run(group, work, [&] { return unwrap_group(group).broadcast_async(unwrap(tensor, "tensor"), root); });
  });
}

tdm_error* tdm_all_reduce(tdm_process_group* group, tdm_tensor* tensor, tdm_reduce_op op, tdm_work** work) {
  return guard("tdm_all_reduce", [&] {
    run(group, work, [&] { return unwrap_group(group).all_reduce_async(unwrap(tensor, "tensor"), to_reduce_op(op)); });
  });
}

tdm_error* tdm_all_reduce_premul_sum(tdm_process_group* group, tdm_tensor* tensor, double factor, tdm_work** work) {
  return guard("tdm_all_reduce_premul_sum", [&] {
    run(group, work, [&] { return unwrap_group(group).all_reduce_premul_sum_async(unwrap(tensor, "tensor"), factor); });
  });
}

tdm_error* tdm_all_reduce_coalesced(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count,
                                    tdm_reduce_op op, tdm_work** work) {
  return guard("tdm_all_reduce_coalesced", [&] {
    auto& native = unwrap_group(group);
    run(group, work, [&] {
      return native.all_reduce_coalesced_async(unwrap_list(tensors, tensor_count, "tensors"), to_reduce_op(op));
    });
  });
}

tdm_error* tdm_reduce(tdm_process_group* group, tdm_tensor* tensor, int32_t root, tdm_reduce_op op, tdm_work** work) {
  return guard("tdm_reduce", [&] {
    run(group, work,
        [&] { return unwrap_group(group).reduce_async(unwrap(tensor, "tensor"), root, to_reduce_op(op)); });
  });
}

tdm_error* tdm_all_gather(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count,
                          const tdm_tensor* input, tdm_work** work) {
  return guard("tdm_all_gather", [&] {
    auto& native = unwrap_group(group);
    run(group, work,
        [&] { return native.all_gather_async(unwrap_list(outputs, output_count, "outputs"), unwrap(input, "input")); });
  });
}

tdm_error* tdm_all_gather_into_tensor(tdm_process_group* group, tdm_tensor* output, const tdm_tensor* input,
                                      tdm_work** work) {
  return guard("tdm_all_gather_into_tensor", [&] {
    auto& native = unwrap_group(group);
    run(group, work,
        [&] { return native.all_gather_into_tensor_async(unwrap(output, "output"), unwrap(input, "input")); });
  });
}

tdm_error* tdm_gather(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count,
                      const tdm_tensor* input, int32_t root, tdm_work** work) {
  return guard("tdm_gather", [&] {
    auto& native = unwrap_group(group);
    run(group, work, [&] {
      return native.gather_async(unwrap_list(outputs, output_count, "outputs"), unwrap(input, "input"), root);
    });
  });
}

tdm_error* tdm_scatter(tdm_process_group* group, tdm_tensor* output, tdm_tensor* const* inputs, size_t input_count,
                       int32_t root, tdm_work** work) {
  return guard("tdm_scatter", [&] {
    auto& native = unwrap_group(group);
    run(group, work, [&] {
      return native.scatter_async(unwrap(output, "output"), unwrap_list(inputs, input_count, "inputs"), root);
    });
  });
}

tdm_error* tdm_reduce_scatter(tdm_process_group* group, tdm_tensor* output, tdm_tensor* const* inputs,
                              size_t input_count, tdm_reduce_op op, tdm_work** work) {
  return guard("tdm_reduce_scatter", [&] {
    auto& native = unwrap_group(group);
    run(group, work, [&] {
      return native.reduce_scatter_async(unwrap(output, "output"), unwrap_list(inputs, input_count, "inputs"),
                                         to_reduce_op(op));
    });
  });
}

tdm_error* tdm_reduce_scatter_tensor(tdm_process_group* group, tdm_tensor* output, const tdm_tensor* input,
                                     tdm_reduce_op op, tdm_work** work) {
  return guard("tdm_reduce_scatter_tensor", [&] {
    auto& native = unwrap_group(group);
    run(group, work, [&] {
      return native.reduce_scatter_tensor_async(unwrap(output, "output"), unwrap(input, "input"), to_reduce_op(op));
    });
  });
}

tdm_error* tdm_all_to_all(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count,
                          tdm_tensor* const* inputs, size_t input_count, tdm_work** work) {
  return guard("tdm_all_to_all", [&] {
    auto& native = unwrap_group(group);
    run(group, work, [&] {
      return native.all_to_all_async(unwrap_list(outputs, output_count, "outputs"),
                                     unwrap_list(inputs, input_count, "inputs"));
    });
  });
}

tdm_error* tdm_all_to_all_single(tdm_process_group* group, tdm_tensor* output, const tdm_tensor* input,
                                 const int64_t* output_splits, size_t output_split_count, const int64_t* input_splits,
                                 size_t input_split_count, tdm_work** work) {
  return guard("tdm_all_to_all_single", [&] {
    auto& native = unwrap_group(group);
    run(group, work, [&] {
      return native.all_to_all_single_async(unwrap(output, "output"), unwrap(input, "input"),
                                            to_splits(output_splits, output_split_count, "output_splits"),
                                            to_splits(input_splits, input_split_count, "input_splits"));
    });
  });
}

tdm_error* tdm_barrier(tdm_process_group* group, tdm_work** work) {
  return guard("tdm_barrier", [&] { run(group, work, [&] { return unwrap_group(group).barrier_async(); }); });
}

tdm_error* tdm_monitored_barrier(tdm_process_group* group, int64_t timeout_ms) {
  return guard("tdm_monitored_barrier", [&] {
    auto& native = unwrap_group(group);
    if (timeout_ms == 0) invalid("argument 'timeout_ms' is 0; give milliseconds, or -1 for the group's timeout");
    native.monitored_barrier(to_wait(timeout_ms));
  });
}

tdm_error* tdm_send(tdm_process_group* group, const tdm_tensor* tensor, int32_t to, int32_t tag, tdm_work** work) {
  return guard("tdm_send",
               [&] { run(group, work, [&] { return unwrap_group(group).isend(unwrap(tensor, "tensor"), to, tag); }); });
}

tdm_error* tdm_recv(tdm_process_group* group, tdm_tensor* tensor, int32_t from, int32_t tag, int32_t* source,
                    tdm_work** work) {
  return guard("tdm_recv", [&] {
    auto& native = unwrap_group(group);
    const at::Tensor& target = unwrap(tensor, "tensor");
    if (work) {
      run(group, work, [&] { return native.irecv(target, from, tag); });
      return;
    }
    const int sender = native.recv(target, from, tag);
    if (source) *source = sender;
  });
}

tdm_error* tdm_batch_send_recv(tdm_process_group* group, const tdm_message* messages, size_t message_count,
                               tdm_work** work) {
  return guard("tdm_batch_send_recv", [&] {
    auto& native = unwrap_group(group);
    check_count(message_count, "messages");
    if (message_count != 0) not_null(messages, "messages");
    std::vector<tandem::Message> list;
    for (std::size_t i = 0; i < message_count; ++i) {
      const tdm_message& one = messages[i];
      list.push_back({one.is_send ? tandem::Message::Kind::kSend : tandem::Message::Kind::kReceive,
                      unwrap(one.tensor, ("messages[" + std::to_string(i) + "].tensor").c_str()), one.peer, one.tag});
    }
    run(group, work, [&] { return native.batch_isend_irecv(list); });
  });
}

tdm_error* tdm_broadcast_bytes(tdm_process_group* group, const void* data, size_t size, int32_t root,
                               tdm_string** out) {
  return guard("tdm_broadcast_bytes", [&] {
    auto& native = unwrap_group(group);
    not_null(out, "out");
    const std::string own = native.rank() == root ? to_bytes(data, size, "data") : "";
    *out = make_string(native.broadcast_bytes(own, root));
  });
}

tdm_error* tdm_all_gather_bytes(tdm_process_group* group, const void* data, size_t size, tdm_string** out,
                                size_t out_count) {
  return guard("tdm_all_gather_bytes", [&] {
    auto& native = unwrap_group(group);
    not_null(out, "out");
    check_length(out_count, native.size(), "out_count");
    hand_over_bytes(native.all_gather_bytes(to_bytes(data, size, "data")), out);
  });
}

tdm_error* tdm_gather_bytes(tdm_process_group* group, const void* data, size_t size, int32_t root, tdm_string** out,
                            size_t out_count) {
  return guard("tdm_gather_bytes", [&] {
    auto& native = unwrap_group(group);
    check_length(out_count, native.rank() == root ? native.size() : 0, "out_count");
    if (out_count != 0) not_null(out, "out");
    hand_over_bytes(native.gather_bytes(to_bytes(data, size, "data"), root), out);
  });
}

tdm_error* tdm_scatter_bytes(tdm_process_group* group, const void* const* data, const size_t* sizes, size_t count,
                             int32_t root, tdm_string** out) {
  return guard("tdm_scatter_bytes", [&] {
    auto& native = unwrap_group(group);
    not_null(out, "out");
    check_count(count, "data");
    if (count != 0) not_null(data, "data");
    if (count != 0) not_null(sizes, "sizes");
    std::vector<std::string> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(to_bytes(data[i], sizes[i], "data"));
    *out = make_string(native.scatter_bytes(list, root));
  });
}

tdm_error* tdm_flight_record(tdm_string** out) {
  return guard("tdm_flight_record", [&] {
    not_null(out, "out");
    *out = make_string(tandem::flight_record());
  });
}
