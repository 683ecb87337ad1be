// A process as one of the job's workers, and what it counts.
#include "core/call/options.h"
#include "core/comm/groups.h"
#include "core/rpc/call_values.h"
#include "tandem/rpc.h"

using namespace tandem::capi;
namespace tr = tandem::rpc;

tdm_error* tdm_rpc_init(const char* name, const tdm_rpc_options* options, const tdm_store* store) {
  return guard("tdm_rpc_init", [&] {
    not_null(name, "name");
    const auto given = read_options<tdm_rpc_options>(options, TDM_RPC_OPTIONS_INIT, "tdm_rpc_options");
    tr::Options native;
    native.init_method = text_or(given.init_method, "env://");
    native.rank = given.rank;
    native.world_size = given.world_size;
    native.timeout = to_wait(given.timeout_ms);
    native.rpc_timeout = to_wait(given.rpc_timeout_ms);
    native.most_outstanding = given.most_outstanding;
    native.address = text_or(given.address, "");
    native.num_worker_threads = given.num_worker_threads;
    native.most_worker_threads = given.most_worker_threads;
    check_count(given.device_map_count, "options->device_maps");
    if (given.device_map_count != 0) not_null(given.device_maps, "options->device_maps");
    for (std::size_t i = 0; i < given.device_map_count; ++i) {
      const tdm_rpc_device_map& map = given.device_maps[i];
      const std::string argument = element_name("options->device_maps", i);
      not_null(map.worker, (argument + ".worker").c_str());
      native.device_maps[map.worker].emplace_back(to_device(map.from, (argument + ".from").c_str()),
                                                  at::Device(at::kCUDA, to_device_index(map.to, (argument + ".to").c_str())));
      if (map.to.type != TDM_DEVICE_CUDA) invalid(argument + ".to is no GPU");
    }
    const tandem::Store given_store = store ? not_null(store, "store")->store : tandem::Store();
    tr::init(name, native, given_store);
  });
}

tdm_error* tdm_rpc_shutdown(int32_t graceful, int64_t timeout_ms) {
  return guard("tdm_rpc_shutdown", [&] { tr::shutdown(graceful != 0, to_optional_wait(timeout_ms)); });
}

int32_t tdm_rpc_is_initialized(void) {
  return tr::is_initialized();
}

tdm_error* tdm_rpc_workers(tdm_strings** out) {
  return guard("tdm_rpc_workers", [&] {
    not_null(out, "out");
    std::vector<std::string> names;
    for (const tr::Worker& worker : tr::workers()) names.push_back(worker.name);
    *out = new tdm_strings(std::move(names));
  });
}

tdm_error* tdm_rpc_worker_id(int32_t* out) {
  return guard("tdm_rpc_worker_id", [&] {
    not_null(out, "out");
    *out = tr::self().id;
  });
}

int32_t tdm_rpc_wait_begin(void) {
  return tr::begin_wait();
}

void tdm_rpc_wait_end(void) {
  tr::end_wait();
}

tdm_error* tdm_rpc_get_statistics(const char* worker, tdm_rpc_statistics* out) {
  return guard("tdm_rpc_get_statistics", [&] {
    not_null(worker, "worker");
    check_struct_size(not_null(out, "out")->struct_size, "tdm_rpc_statistics");
    const auto counted = tr::statistics()[tr::worker(std::string(worker)).name];
    tdm_rpc_statistics made = TDM_RPC_STATISTICS_INIT;
    made.calls = counted.calls;
    made.failed = counted.failed;
    made.outstanding = counted.outstanding;
    made.bytes_sent = counted.bytes_sent;
    made.bytes_received = counted.bytes_received;
    made.latency_ns = counted.latency.count();
    write_struct(out, made, "tdm_rpc_statistics");
  });
}

tdm_error* tdm_rref_get_counts(tdm_rref_counts* out) {
  return guard("tdm_rref_get_counts", [&] {
    check_struct_size(not_null(out, "out")->struct_size, "tdm_rref_counts");
    const tr::RRefCounts counted = tr::rref_counts();
    tdm_rref_counts made = TDM_RREF_COUNTS_INIT;
    made.owners = counted.owners;
    made.forks = counted.forks;
    made.pending = counted.pending;
    write_struct(out, made, "tdm_rref_counts");
  });
}
