// Stores, process groups, collectives and DistributedDataParallel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/abi/tensor.hpp"
#include "tandem/abi/value.hpp"

namespace tandem::abi {

// A key-value store through which ranks meet.
class Store {
 public:
  // port 0 on the server: any free one, see port(). listen_fd -1: none.
  static Store tcp(const std::string& host, uint16_t port, bool is_server, int32_t world_size = 0,
                   bool wait_workers = false, int64_t timeout_ms = 300000, int32_t listen_fd = -1) {
    tdm_tcp_store_options options = TDM_TCP_STORE_OPTIONS_INIT;
    options.is_server = is_server;
    options.world_size = world_size;
    options.wait_workers = wait_workers;
    options.timeout_ms = timeout_ms;
    options.listen_fd = listen_fd;
    Store store;
    check(tdm_store_tcp(host.c_str(), port, &options, store.handle_.out()));
    return store;
  }
  // world_size 0: the file is not removed at the end.
  static Store file(const std::string& path, int32_t world_size) {
    Store store;
    check(tdm_store_file(path.c_str(), world_size, store.handle_.out()));
    return store;
  }
  // For ranks that are threads of one process.
  static Store hash() {
    Store store;
    check(tdm_store_hash(store.handle_.out()));
    return store;
  }
  // Keys of this store under "prefix/"; holds this store.
  Store prefix(const std::string& prefix) const {
    Store store;
    check(tdm_store_prefix(prefix.c_str(), raw(), store.handle_.out()));
    return store;
  }

  uint16_t port() const { return tdm_store_port(raw()); }
  void set(const std::string& key, const void* data, size_t size) {
    check(tdm_store_set(raw(), key.c_str(), data, size));
  }
  void set(const std::string& key, const std::string& value) { set(key, value.data(), value.size()); }
  // Waits for the key.
  std::string get(const std::string& key) {
    tdm_string* value = nullptr;
    check(tdm_store_get(raw(), key.c_str(), &value));
    return take_string(value);
  }
  int64_t add(const std::string& key, int64_t amount) {
    int64_t sum = 0;
    check(tdm_store_add(raw(), key.c_str(), amount, &sum));
    return sum;
  }
  // Whether all the keys exist.
  bool check_keys(const std::vector<std::string>& keys) {
    const auto pointers = c_strings(keys);
    int32_t all = 0;
    check(tdm_store_check(raw(), pointers.data(), pointers.size(), &all));
    return all != 0;
  }
  bool remove(const std::string& key) {
    int32_t removed = 0;
    check(tdm_store_delete(raw(), key.c_str(), &removed));
    return removed != 0;
  }
  void wait(const std::vector<std::string>& keys, int64_t timeout_ms) {
    const auto pointers = c_strings(keys);
    check(tdm_store_wait(raw(), pointers.data(), pointers.size(), timeout_ms));
  }
  std::string compare_set(const std::string& key, const std::string& expected, const std::string& desired) {
    tdm_string* value = nullptr;
    check(tdm_store_compare_set(raw(), key.c_str(), expected.data(), expected.size(), desired.data(), desired.size(),
                                &value));
    return take_string(value);
  }
  void set_timeout(int64_t timeout_ms) { check(tdm_store_set_timeout(raw(), timeout_ms)); }

  tdm_store* raw() const noexcept { return handle_.get(); }

 private:
  Store() = default;

  Handle<tdm_store, tdm_store_free> handle_;
};

// Rank, world size, local rank, local world size and node rank of this process, as the launcher's or scheduler's
// environment says them; -1: not said. Alone: 0 of 1.
inline std::vector<int64_t> launch_place() {
  int32_t numbers[5] = {0, 0, 0, 0, 0};
  check(tdm_launch_place(&numbers[0], &numbers[1], &numbers[2], &numbers[3], &numbers[4], nullptr));
  return std::vector<int64_t>(numbers, numbers + 5);
}
// Who says so ("the environment", "Slurm", …); "": nobody, the process was started alone.
inline std::string launcher() {
  tdm_string* name = nullptr;
  check(tdm_launch_place(nullptr, nullptr, nullptr, nullptr, nullptr, &name));
  return take_string(name);
}

// How a group is made. Unset numbers (-1) come from the environment for "env://".
struct ProcessGroupOptions {
  std::string backend = "gloo";        // "gloo", "nccl", "shm", "auto" or "none", or "cpu:shm,cuda:nccl"
  std::string init_method = "env://";  // "tcp://host:port", "file:///path"; ignored when a store is given
  int32_t rank = -1;
  int32_t world_size = -1;
  int64_t timeout_ms = 1800000;  // of rendezvous and of each collective
  int32_t device_type = TDM_DEVICE_CPU;
  int32_t device_index = -1;
  std::string interface_name;  // of the network, for gloo; "": GLOO_SOCKET_IFNAME, else the host's address
  std::string name;            // "": "default"

  // Valid as long as this is and stays as it is.
  tdm_process_group_options raw() const {
    tdm_process_group_options raw = TDM_PROCESS_GROUP_OPTIONS_INIT;
    raw.backend = or_null(backend);
    raw.init_method = or_null(init_method);
    raw.rank = rank;
    raw.world_size = world_size;
    raw.timeout_ms = timeout_ms;
    raw.device = {device_type, device_index};
    raw.interface_name = or_null(interface_name);
    raw.name = or_null(name);
    return raw;
  }
};

// A collective in progress. When it goes before it is done, it waits for it.
class Work {
 public:
  explicit Work(tdm_work* owned) : handle_(owned) {}
  // At most timeout_ms, -1: the group's.
  void wait(int64_t timeout_ms = -1) { check(tdm_work_wait(handle_.get(), timeout_ms)); }
  bool is_completed() const { return tdm_work_is_completed(handle_.get()) != 0; }

 private:
  Handle<tdm_work, tdm_work_free> handle_;
};

// Ranks that call the same collectives in the same order, with tensors of the same shape and dtype. Results are
// written in place. Functions named …_async return at once.
class ProcessGroup {
 public:
  // Meets the other ranks. `store` may be null: options.init_method makes one.
  explicit ProcessGroup(const ProcessGroupOptions& options, const Store* store = nullptr) {
    const tdm_process_group_options raw = options.raw();
    check(tdm_process_group_create(&raw, store ? store->raw() : nullptr, handle_.out()));
  }
  explicit ProcessGroup(tdm_process_group* owned) : handle_(owned) {}

  // False: an elastic training needed no group of this process.
  bool exists() const { return raw() != nullptr; }
  int32_t rank() const { return tdm_process_group_rank(raw()); }
  int32_t size() const { return tdm_process_group_size(raw()); }
  std::string backend() const {
    const char* name = tdm_process_group_backend(raw());
    return name ? name : "";
  }
  // Wakes every waiter with TDM_ERROR_ABORTED; from any thread. The group can then only be freed.
  void abort() { check(tdm_process_group_abort(raw())); }

  void broadcast(const Tensor& tensor, int32_t root) { check(tdm_broadcast(raw(), tensor.raw(), root, nullptr)); }
  void all_reduce(const Tensor& tensor, int32_t op = TDM_REDUCE_OP_SUM) {
    check(tdm_all_reduce(raw(), tensor.raw(), op, nullptr));
  }
  void reduce(const Tensor& tensor, int32_t root, int32_t op = TDM_REDUCE_OP_SUM) {
    check(tdm_reduce(raw(), tensor.raw(), root, op, nullptr));
  }
  // outputs: one a rank.
  void all_gather(const TensorList& outputs, const Tensor& input) {
    check(tdm_all_gather(raw(), outputs.data(), outputs.size(), input.raw(), nullptr));
  }
  void barrier() { check(tdm_barrier(raw(), nullptr)); }

  Work broadcast_async(const Tensor& tensor, int32_t root) {
    tdm_work* work = nullptr;
    check(tdm_broadcast(raw(), tensor.raw(), root, &work));
    return Work(work);
  }
  Work all_reduce_async(const Tensor& tensor, int32_t op = TDM_REDUCE_OP_SUM) {
    tdm_work* work = nullptr;
    check(tdm_all_reduce(raw(), tensor.raw(), op, &work));
    return Work(work);
  }
  Work reduce_async(const Tensor& tensor, int32_t root, int32_t op = TDM_REDUCE_OP_SUM) {
    tdm_work* work = nullptr;
    check(tdm_reduce(raw(), tensor.raw(), root, op, &work));
    return Work(work);
  }
  Work all_gather_async(const TensorList& outputs, const Tensor& input) {
    tdm_work* work = nullptr;
    check(tdm_all_gather(raw(), outputs.data(), outputs.size(), input.raw(), &work));
    return Work(work);
  }
  Work barrier_async() {
    tdm_work* work = nullptr;
    check(tdm_barrier(raw(), &work));
    return Work(work);
  }

  tdm_process_group* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_process_group, tdm_process_group_free> handle_;
};

struct DdpOptions {
  double bucket_cap_mb = 25;
  bool broadcast_buffers = true;
  bool find_unused_parameters = false;
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
  bool init_sync = true;  // verify shapes and broadcast from rank 0 at the start
  bool average_by_samples = false;
  // Mixed precision: what the module computes in, what gradients are exchanged in, what buffers become.
  int32_t param_dtype = TDM_UNCHANGED;
  int32_t reduce_dtype = TDM_UNCHANGED;
  int32_t buffer_dtype = TDM_UNCHANGED;
};

// c10d::Reducer around parameters and buffers. Source: torch.nn.parallel.DistributedDataParallel.
class Ddp {
 public:
  Ddp(ProcessGroup& group, const TensorList& parameters, const std::vector<std::string>& names,
      const TensorList& buffers, const DdpOptions& options = {}) {
    if (!names.empty() && names.size() != parameters.size()) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "Ddp", "give one name for each parameter, or none at all");
    }
    const auto pointers = c_strings(names);
    tdm_ddp_options raw = TDM_DDP_OPTIONS_INIT;
    raw.bucket_cap_mb = options.bucket_cap_mb;
    raw.broadcast_buffers = options.broadcast_buffers;
    raw.find_unused_parameters = options.find_unused_parameters;
    raw.gradient_as_bucket_view = options.gradient_as_bucket_view;
    raw.static_graph = options.static_graph;
    raw.init_sync = options.init_sync;
    raw.average_by_samples = options.average_by_samples;
    raw.param_dtype = options.param_dtype;
    raw.reduce_dtype = options.reduce_dtype;
    raw.buffer_dtype = options.buffer_dtype;
    casts_ = options.param_dtype != TDM_UNCHANGED;
    check(tdm_ddp_create(group.raw(), parameters.data(), names.empty() ? nullptr : pointers.data(), parameters.size(),
                         buffers.data(), buffers.size(), &raw, handle_.out()));
  }

  // Before the module's forward, with the tensors among its inputs. Gives what to use instead of them, nothing where
  // they are not cast.
  std::vector<Tensor> prepare_forward(bool training, const TensorList& inputs) {
    const Arguments arguments = Arguments::of(inputs);
    Results prepared(1);
    check(tdm_ddp_prepare_forward(handle_.get(), training, arguments.data(), 1, casts_ ? prepared.data() : nullptr));
    return casts_ ? prepared.tensors(0) : std::vector<Tensor>();
  }
  // With the tensors in what forward gave, before backward. Gives what to use instead of them.
  std::vector<Tensor> prepare_backward(const TensorList& outputs) {
    const Arguments given = Arguments::of(outputs);
    Results prepared(1);
    check(tdm_ddp_prepare_backward(handle_.get(), given.data(), 1, prepared.data()));
    return prepared.tensors(0);
  }
  // Instead, where forward failed.
  void cancel_forward() { check(tdm_ddp_cancel_forward(handle_.get())); }
  // false: gradients accumulate locally until switched on again.
  void set_require_backward_grad_sync(bool on) { check(tdm_ddp_set_require_backward_grad_sync(handle_.get(), on)); }
  // For average_by_samples: how many samples the next batches have, where the inputs do not say; -1: as they say again.
  void set_batch_samples(int64_t samples) { check(tdm_ddp_set_batch_samples(handle_.get(), samples)); }

 private:
  Handle<tdm_ddp, tdm_ddp_free> handle_;
  bool casts_ = false;
};

}  // namespace tandem::abi
