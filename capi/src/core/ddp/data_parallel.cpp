// Replicas of a module of the caller's.
#include "tandem/data_parallel.h"

#include <algorithm>
#include <string>

#include "core/call/callback.h"
#include "core/call/options.h"
#include "core/handles/handles.h"
#include "core/operators/intra_op.h"
#include "ddp/replicas/failure.h"

struct tdm_data_parallel : tandem::capi::Handle<tandem::Kind::kDataParallel> {
  tdm_data_parallel(const tandem::ReplicaOptions& options, at::Device device) : replicas(options, device) {}

  tandem::internal::Replicas replicas;
};

namespace tandem::capi {
namespace {

using Tensors = std::vector<at::Tensor>;
using Forward = tdm_error* (*)(void* user_data, const tdm_replica_call* call);

ReplicaOptions to_replica_options(const tdm_data_parallel_options& given) {
  ReplicaOptions options;
  options.replicas = given.replicas;
  options.threads = given.threads;
  options.dim = given.dim;
  check_count(given.device_count, "options->devices");
  if (given.device_count != 0) not_null(given.devices, "options->devices");
  for (std::size_t i = 0; i < given.device_count; ++i) {
    options.devices.push_back(to_device(given.devices[i], "options->devices"));
  }
  // Threads that call the C ABI say that they compute alone.
  if (given.device.type != TDM_DEVICE_CPU) return options;
  if (options.replicas == 0 && options.devices.empty()) options.replicas = intra_op_threads();
  const int count = std::max(1, options.replicas ? options.replicas : static_cast<int>(options.devices.size()));
  if (options.threads == 0) options.threads = std::max(1, intra_op_threads() / count);
  return options;
}

// Keeps the caller's replicas for as long as the set is in use.
struct CallersReplicas : internal::ReplicaSet {
  std::shared_ptr<Callback> callback;
};

Tensors tensors_of(tdm_tensor* const* handles, std::size_t count, const char* argument) {
  check_count(count, argument);
  if (count != 0) not_null(handles, argument);
  return unwrap_list(handles, count, argument);
}

std::vector<Tensors> tensors_of_replicas(tdm_tensor* const* handles, std::size_t count, int replicas,
                                         const char* argument) {
  check_count(count * static_cast<std::size_t>(replicas), argument);
  const Tensors all = tensors_of(handles, count * static_cast<std::size_t>(replicas), argument);
  std::vector<Tensors> lists;
  for (auto first = all.begin(); lists.size() < static_cast<std::size_t>(replicas);
       first += static_cast<std::ptrdiff_t>(count)) {
    lists.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
  }
  return lists;
}

Tensors call_forward(Forward forward, void* user_data, int replica, int count, std::size_t room,
                     const Tensors& inputs) {
  Tensors outputs;
  std::vector<tdm_tensor*> handles(room);
  std::size_t given = 0;
  run_callback(
      "the forward of a replica", "the " + internal::place_of(replica, count, "forward", inputs) + ",",
      [&] {
        const auto own = make_optional_handles(inputs);
        const tdm_replica_call call{sizeof(tdm_replica_call), replica,        own.data(), own.size(),
                                    handles.data(),           handles.size(), &given};
        return forward(user_data, &call);
      },
      [&] {
        if (given > room) {
          invalid("replica " + std::to_string(replica) + " gave " + std::to_string(given) +
                  " outputs, but there is room for " + std::to_string(room));
        }
        outputs = unwrap_optional_list(handles.data(), given, "call->outputs");
      });
  return outputs;
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_data_parallel_create(const tdm_data_parallel_options* options, tdm_data_parallel** out) {
  return guard("tdm_data_parallel_create", [&] {
    not_null(out, "out");
    const auto given =
        read_options<tdm_data_parallel_options>(options, TDM_DATA_PARALLEL_OPTIONS_INIT, "tdm_data_parallel_options");
    const at::Device device = to_device(given.device, "options->device");
    *out = new tdm_data_parallel(to_replica_options(given), device);
  });
}

void tdm_data_parallel_free(tdm_data_parallel* data_parallel) {
  tandem::capi::free_handle("tdm_data_parallel_free", data_parallel);
}

std::int32_t tdm_data_parallel_replicas(const tdm_data_parallel* data_parallel) {
  const auto* live = if_live(data_parallel);
  return live ? live->replicas.count() : 0;
}

tdm_error* tdm_data_parallel_forward(tdm_data_parallel* data_parallel, const tdm_replicas* replicas,
                                     tdm_tensor* const* inputs, std::size_t input_count, tdm_tensor** results,
                                     std::size_t* result_count) {
  return guard("tdm_data_parallel_forward", [&] {
    not_null(data_parallel, "data_parallel");
    not_null(replicas, "replicas");
    not_null(result_count, "result_count");
    const auto given = read_options<tdm_replicas>(replicas, TDM_REPLICAS_INIT, "tdm_replicas");
    not_null(given.forward, "replicas->forward");
    if (*result_count != 0) not_null(results, "results");
    check_count(*result_count, "results");
    if (input_count != 0) not_null(inputs, "inputs");
    const int count = data_parallel->replicas.count();

    tandem::internal::ReplicaCall call;
    call.parameters = tensors_of(given.parameters, given.parameter_count, "replicas->parameters");
    call.buffers = tensors_of(given.buffers, given.buffer_count, "replicas->buffers");
    call.inputs = unwrap_optional_list(inputs, input_count, "inputs");
    const auto set = std::make_shared<CallersReplicas>();
    set->parameters =
        tensors_of_replicas(given.replica_parameters, given.parameter_count, count, "replicas->replica_parameters");
    set->buffers = tensors_of_replicas(given.replica_buffers, given.buffer_count, count, "replicas->replica_buffers");
    const auto callback = set->callback = std::make_shared<Callback>(given.user_data);
    call.set = set;
    const std::size_t room = *result_count;
    call.forward = [&](int replica, const Tensors& own) {
      return call_forward(given.forward, given.user_data, replica, count, room, own);
    };
    const Tensors outputs = data_parallel->replicas.run(call);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      results[i] = outputs[i].defined() ? make_tensor_handle(outputs[i]) : nullptr;
    }
    *result_count = outputs.size();
    callback->adopt(given.destroy);
  });
}
