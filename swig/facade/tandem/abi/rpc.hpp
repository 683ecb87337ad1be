// Calls between the processes of a job, references, and autograd and optimizers over both; see docs/rpc.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/abi/callback.hpp"
#include "tandem/abi/dist.hpp"
#include "tandem/abi/nn.hpp"
#include "tandem/abi/rref.hpp"
#include "tandem/abi/value.hpp"

namespace tandem::abi {

struct RpcDeviceMap {
  std::string worker;
  Device from, to;
};

struct RpcOptions {
  std::string init_method = "env://";
  int32_t rank = -1;        // -1: the environment's, as the next
  int32_t world_size = -1;
  int64_t timeout_ms = 300000;      // of meeting the other workers
  int64_t call_timeout_ms = 60000;  // of a call that names none
  int64_t most_outstanding = 16384;
  std::string address;              // where this worker listens; "": TP_SOCKET_IFNAME, else loopback
  int32_t num_worker_threads = 16;  // run what others call
  int32_t most_worker_threads = 1024;  // with those that wait for calls of their own
  std::vector<RpcDeviceMap> device_maps;

  // Tensors of calls to `worker` that are on the GPU `from` of this machine arrive on its GPU `to`.
  void map_device(const std::string& worker, const Device& from, const Device& to) {
    device_maps.push_back({worker, from, to});
  }
};

// Joins the job's workers; `store` may be null. Blocks.
inline void rpc_init(const std::string& name, const RpcOptions& options, const Store* store) {
  tdm_rpc_options raw = TDM_RPC_OPTIONS_INIT;
  raw.init_method = options.init_method.c_str();
  raw.rank = options.rank;
  raw.world_size = options.world_size;
  raw.timeout_ms = options.timeout_ms;
  raw.rpc_timeout_ms = options.call_timeout_ms;
  raw.most_outstanding = options.most_outstanding;
  raw.address = or_null(options.address);
  raw.num_worker_threads = options.num_worker_threads;
  raw.most_worker_threads = options.most_worker_threads;
  std::vector<tdm_rpc_device_map> maps;
  for (const auto& map : options.device_maps) {
    maps.push_back({map.worker.c_str(), map.from.raw(), map.to.raw()});
  }
  raw.device_maps = maps.data();
  raw.device_map_count = maps.size();
  check(tdm_rpc_init(name.c_str(), &raw, store ? store->raw() : nullptr));
}
inline void rpc_shutdown(bool graceful, int64_t timeout_ms = 0) { check(tdm_rpc_shutdown(graceful, timeout_ms)); }
inline bool rpc_is_initialized() { return tdm_rpc_is_initialized() != 0; }
inline std::vector<std::string> rpc_workers() {
  tdm_strings* names = nullptr;
  check(tdm_rpc_workers(&names));
  return take_strings(names);
}
inline int32_t rpc_worker_id() {
  int32_t id = -1;
  check(tdm_rpc_worker_id(&id));
  return id;
}

// Around a wait for a call by other means than those below, by a function that workers call: it makes room for another one
// meanwhile. True: rpc_wait_end() is due, on this thread.
inline bool rpc_wait_begin() { return tdm_rpc_wait_begin() != 0; }
inline void rpc_wait_end() { tdm_rpc_wait_end(); }

// Within a function that workers call: takes what it gives. Not called: none.
class RpcReply {
 public:
  explicit RpcReply(tdm_rpc_result* borrowed) : result_(borrowed) {}
  // One value, of which a copy is taken.
  void give(const Arguments& value) const { check(tdm_rpc_result_set(result_, one(value))); }

 private:
  tdm_rpc_result* result_;
};
using RpcFunction = std::function<void(Results arguments, const RpcReply& reply)>;

inline void rpc_register_function(const std::string& name, RpcFunction function) {
  const auto call = [](void* user_data, tdm_value* arguments, size_t count, tdm_rpc_result* result) {
    return callback::guarded([&] {
      Results given(count);
      for (size_t i = 0; i < count; ++i) given.data()[i] = std::exchange(arguments[i], tdm_value{});
      (*static_cast<RpcFunction*>(user_data))(std::move(given), RpcReply(result));
    });
  };
  auto owned = std::make_unique<RpcFunction>(std::move(function));
  check(tdm_rpc_register_function(name.c_str(), call, owned.get(), callback::destroy<RpcFunction>));
  owned.release();
}
inline void rpc_register_module(const std::string& name, const Module& module) {
  check(tdm_rpc_register_module(name.c_str(), module.raw()));
}
// False when there was none.
inline bool rpc_unregister(const std::string& name) {
  int32_t existed = 0;
  check(tdm_rpc_unregister(name.c_str(), &existed));
  return existed != 0;
}

inline tdm_rpc_call_options rpc_call_options(int64_t timeout_ms, int32_t retries, int64_t context) {
  tdm_rpc_call_options raw = TDM_RPC_CALL_OPTIONS_INIT;
  raw.timeout_ms = timeout_ms;
  raw.retries = retries;
  raw.context = context;
  return raw;
}

// A call under way.
class RpcFuture {
 public:
  explicit RpcFuture(tdm_rpc_future* owned) : handle_(owned) {}

  // One result, each time another. 0: as long as the call may take.
  Results wait(int64_t timeout_ms = 0) const {
    Results result(1);
    check(tdm_rpc_future_wait(raw(), timeout_ms, result.data()));
    return result;
  }
  bool is_done() const { return tdm_rpc_future_is_done(raw()) != 0; }
  // Calls it once the call is done, on a thread of RPC or at once. It must not block.
  void on_completion(std::function<void()> function) const {
    auto owned = std::make_unique<std::function<void()>>(std::move(function));
    const auto call = [](void* user_data, const tdm_error*) { (*static_cast<std::function<void()>*>(user_data))(); };
    check(tdm_rpc_future_on_completion(raw(), call, owned.get(), callback::destroy<std::function<void()>>));
    owned.release();
  }

  tdm_rpc_future* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_rpc_future, tdm_rpc_future_free> handle_;
};

// timeout_ms 0: the worker's call_timeout_ms; context -1: the thread's, of distributed autograd.
inline RpcFuture rpc_async(const std::string& to, const std::string& function, const Arguments& arguments,
                           int64_t timeout_ms = 0, int32_t retries = 0, int64_t context = -1) {
  const tdm_rpc_call_options options = rpc_call_options(timeout_ms, retries, context);
  tdm_rpc_future* future = nullptr;
  check(tdm_rpc_async(to.c_str(), function.c_str(), arguments.data(), arguments.size(), &options, &future));
  return RpcFuture(future);
}
inline Rref rpc_remote(const std::string& to, const std::string& function, const Arguments& arguments,
                       int64_t timeout_ms = 0, int64_t context = -1) {
  const tdm_rpc_call_options options = rpc_call_options(timeout_ms, 0, context);
  tdm_rref* rref = nullptr;
  check(tdm_rpc_remote(to.c_str(), function.c_str(), arguments.data(), arguments.size(), &options, &rref));
  return Rref(rref);
}

// Of one value of this worker's.
inline Rref rref_create(const Arguments& value) {
  tdm_rref* rref = nullptr;
  check(tdm_rref_create(one(value), &rref));
  return Rref(rref);
}
inline Results rref_local_value(const Rref& rref, int64_t timeout_ms = 0) {
  Results result(1);
  check(tdm_rref_local_value(rref.raw(), timeout_ms, result.data()));
  return result;
}
inline Results rref_to_here(const Rref& rref, int64_t timeout_ms = 0, int64_t context = -1) {
  const tdm_rpc_call_options options = rpc_call_options(timeout_ms, 0, context);
  Results result(1);
  check(tdm_rref_to_here(rref.raw(), &options, result.data()));
  return result;
}

// Calls, failed ones, those under way, bytes sent and received, nanoseconds: integers.
inline Results rpc_statistics(const std::string& worker) {
  tdm_rpc_statistics counted = TDM_RPC_STATISTICS_INIT;
  check(tdm_rpc_get_statistics(worker.c_str(), &counted));
  Results result(6);
  const int64_t numbers[] = {counted.calls,      counted.failed,         counted.outstanding,
                             counted.bytes_sent, counted.bytes_received, counted.latency_ns};
  for (size_t i = 0; i < result.size(); ++i) {
    result.data()[i].tag = TDM_VALUE_INT;
    result.data()[i].as.integer = numbers[i];
  }
  return result;
}

inline int64_t dist_autograd_new_context() {
  int64_t context = -1;
  check(tdm_dist_autograd_new_context(&context));
  return context;
}
inline void dist_autograd_release_context(int64_t context) { check(tdm_dist_autograd_release_context(context)); }
// The thread's; -1: none.
inline int64_t dist_autograd_current_context() { return tdm_dist_autograd_current_context(); }
inline void dist_autograd_backward(int64_t context, const TensorList& roots, bool retain_graph = false) {
  check(tdm_dist_autograd_backward(context, roots.data(), roots.size(), retain_graph));
}
// Undefined where there is none.
inline std::vector<Tensor> dist_autograd_gradients(int64_t context, const TensorList& tensors) {
  std::vector<tdm_tensor*> results(tensors.size());
  check(tdm_dist_autograd_gradients(context, tensors.data(), tensors.size(), results.data()));
  std::vector<Tensor> gradients;
  for (tdm_tensor* one : results) gradients.emplace_back(one);
  return gradients;
}

// An optimizer on each worker that has some of the parameters.
class DistributedOptimizer {
 public:
  // before_step and after_step: names of functions that owners have registered, "" none.
  DistributedOptimizer(const std::string& type, const std::vector<const Rref*>& parameters, const Options& options,
                       bool locked = true, const std::string& before_step = "", const std::string& after_step = "") {
    std::vector<tdm_rref*> handles;
    for (const Rref* parameter : parameters) handles.push_back(parameter ? parameter->raw() : nullptr);
    tdm_distributed_optimizer_options distributed = TDM_DISTRIBUTED_OPTIMIZER_OPTIONS_INIT;
    distributed.locked = locked;
    distributed.before_step = or_null(before_step);
    distributed.after_step = or_null(after_step);
    const auto named = options.raw();
    check(tdm_distributed_optimizer_create(type.c_str(), handles.data(), handles.size(), named.data(), named.size(),
                                           &distributed, handle_.out()));
  }

  void step(int64_t context) { check(tdm_distributed_optimizer_step(raw(), context)); }
  void set_options(const Options& options) {
    for (const tdm_option& option : options.raw()) check(tdm_distributed_optimizer_set_option(raw(), &option));
  }

  tdm_distributed_optimizer* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_distributed_optimizer, tdm_distributed_optimizer_free> handle_;
};

}  // namespace tandem::abi
