// Remote procedure calls between the processes of a job: operators of LibTorch, methods of TorchScript modules and
// functions that programs register, with tensors, and references to values that stay where they were made.
//
//   tandem::rpc::register_function("twice", [](const auto& arguments) { return arguments[0].toTensor() * 2; });
//   tandem::rpc::init("worker" + std::string(std::getenv("RANK")));        // under `tandem run`
//   at::IValue sum = tandem::rpc::rpc_sync("worker1", "aten::add", {a, b});
//   tandem::rpc::Future later = tandem::rpc::rpc_async("worker1", "twice", {a});
//   tandem::rpc::RRef there = tandem::rpc::remote("worker1", "aten::mul", {a, b});
//   at::Tensor product = there.to_here().toTensor();
//   tandem::rpc::shutdown();
//
// Workers trust each other: whoever reaches a worker's port can call every operator of LibTorch, and sends what its
// unpickler reads. Never open the port to others than the job's own machines. docs/rpc.md has more.
// Source: torch.distributed.rpc.
#pragma once

#include <ATen/core/ivalue.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/error.h"
#include "tandem/export.h"
#include "tandem/store.h"

namespace tandem::jit {
class ScriptModule;
}

namespace tandem::rpc {

struct Worker {
  std::string name;
  int id = -1;  // the rank with which it called init()
};

struct Options {
  std::string init_method = "env://";      // as in ProcessGroupOptions; ignored when a store is given
  int rank = -1;                           // -1: the environment's RANK
  int world_size = -1;                     // -1: the environment's WORLD_SIZE
  std::chrono::milliseconds timeout{300000};     // of meeting the other workers
  std::chrono::milliseconds rpc_timeout{60000};  // of a call that names none
  int num_worker_threads = 16;             // functions that others called run at a time, beside those that wait for calls
  std::int64_t most_outstanding = 16384;   // calls of this worker under way at a time; later ones wait for room
  // Where this worker listens: a numeric address of this machine, or the name of a network interface. "": the
  // environment's TP_SOCKET_IFNAME, else loopback, which only workers of one host can share. Never all addresses at once.
  std::string address = "";
  // Threads for functions that others called, at a time, those whose functions wait for calls of their own among them. A
  // call that finds none is run later, or times out.
  int most_worker_threads = 1024;
  // By the name of another worker: GPUs of this machine, and which of its GPUs tensors of calls to it arrive on, one to
  // one. Results come back the same way. Tensors on devices that are not mapped cannot be sent. All workers that have
  // part in one load CUDA first (tandem/runtime.h). Source: TensorPipeRpcBackendOptions.set_device_map.
  std::map<std::string, std::vector<std::pair<at::Device, at::Device>>> device_maps = {};
};

// Joins the job's workers under a name of its own: letters, digits, '-', '_' and ':', at most 128 of them. Blocks until
// all have joined; from then on others may call this worker. A process joins once in its life: what LibTorch keeps of
// references and of distributed autograd is bound to the first time.
// Errors: kInvalidArgument (a name that is taken or makes no sense; world sizes that differ; workers on several hosts
// that listen on loopback), kNotFound (no such interface), kTimeout naming the ranks that are missing, kUnsupported for a
// second time in a process; those of opening a store.
TANDEM_API void init(const std::string& name, const Options& options = {}, const Store& store = {});

// Leaves. Graceful: waits until all workers have called it and no call is under way anywhere, so that nobody is cut off;
// references that are still held are deleted. Otherwise, or after an error, what is under way fails with kAborted on this
// worker and with kPeerLost on others. Functions that others called are waited for in both cases. `timeout` zero:
// Options::timeout. Does nothing when there is no session.
// Errors: kTimeout naming the workers that have not come, or when functions still run: then it may be called again.
TANDEM_API void shutdown(bool graceful = true, std::chrono::milliseconds timeout = std::chrono::milliseconds(0));

// Between init() and shutdown().
TANDEM_API bool is_initialized();

// Errors of all that follows: kClosed outside of init() and shutdown().

TANDEM_API Worker self();
// Errors: kNotFound, which lists the workers that there are.
TANDEM_API Worker worker(const std::string& name);
TANDEM_API Worker worker(int id);
// In order of id.
TANDEM_API std::vector<Worker> workers();

// --- what others can call

using Values = std::vector<at::IValue>;
// Called on a thread of the session, several at a time. What it throws the caller gets: an Error with its code,
// anything else as kCallback.
using Function = std::function<at::IValue(const Values& arguments)>;

// Before or after init(), once a name. Errors: kInvalidArgument for a name that is taken, is empty or has "::" in it.
TANDEM_API void register_function(const std::string& name, Function function);
// Its methods, as "NAME.METHOD"; compiled or traced functions of TorchScript are methods as well. Callers may use several
// at a time, as ScriptModule says.
TANDEM_API void register_module(const std::string& name, std::shared_ptr<jit::ScriptModule> module);
// Of a function or module; calls that have begun go on. False when there was none.
TANDEM_API bool unregister(const std::string& name);
// Begins a wait by other means than Future::wait() and its like, as of a runtime of its own: until end_wait(), on the same
// thread, the function that it runs does not count among Options::num_worker_threads. False, and nothing to end: no such
// function runs on this thread, or it waits already.
TANDEM_API bool begin_wait();
TANDEM_API void end_wait();

// --- calls

struct CallOptions {
  std::chrono::milliseconds timeout{0};  // of each try; zero: Options::rpc_timeout. At most 24 days
  // How often a call that had no answer in time is made again: only for calls that may happen twice (idempotent ones).
  int retries = 0;
};

struct FutureState;
struct RRefState;

// A call's result, or a value made of it. Copies share it. Thread-safe.
class TANDEM_API Future {
 public:
  explicit Future(std::shared_ptr<FutureState> state) : state_(std::move(state)) {}

  bool done() const;
  // Blocks; zero: as long as the call may take. Errors: the call's, and kTimeout when this wait alone is over: then the
  // call goes on.
  at::IValue wait(std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const;
  // Why it failed; nothing while it is under way and after success.
  std::optional<Error> error() const;
  // Calls `function` with this future once it is done, on a thread of the session or, where it is done, at once; gives a
  // future of what that returns. What it throws is the new future's error, an exception that is no Error as kCallback.
  Future then(std::function<at::IValue(const Future&)> function) const;

 private:
  std::shared_ptr<FutureState> state_;
};

// Calls `function` on a worker, which may be this one, and waits for what it gives. `function` is
// - an operator of LibTorch's ("aten::add", or with overload "aten::add.Tensor"): arguments are in the order of its
//   schema, keyword-only ones too; without an overload the first that they fit. Several results are a tuple.
// - what the worker has registered.
// Values are tensors, numbers, strings (of any bytes), lists, tuples, dicts, none, and references (RRef::value()), at any
// depth up to 100. Tensors are strided or sparse COO, and come as copies on the CPU, or where Options::device_maps has
// their device; with gradients only inside of a distributed autograd context.
// Errors: kInvalidArgument for values that cannot be sent, kNotFound (no such worker or function), kTimeout, kPeerLost (the worker is gone), kAborted (shut down), and
// what the function failed with there, all naming the worker.
TANDEM_API at::IValue rpc_sync(const std::string& to, const std::string& function, Values arguments = {},
                               const CallOptions& options = {});
// The same, without waiting, unless Options::most_outstanding are under way: then for room, at most for the timeout.
TANDEM_API Future rpc_async(const std::string& to, const std::string& function, Values arguments = {},
                            const CallOptions& options = {});

// --- references

// A reference to a value that stays on the worker where it was made, its owner. It lives there as long as anyone has a
// reference. Copies are one reference. Thread-safe. Source: torch.distributed.rpc.RRef.
class TANDEM_API RRef {
 public:
  // To a value of this worker's.
  explicit RRef(at::IValue value);
  explicit RRef(std::shared_ptr<RRefState> state) : state_(std::move(state)) {}
  // What came as an argument or a result. Errors: kInvalidArgument for a value that is no reference.
  static RRef from(const at::IValue& value);

  Worker owner() const;
  bool is_owner() const;
  // As an argument, or inside of one: whoever gets it has a reference too.
  at::IValue value() const;
  // On the owner: the value itself; waits where it is still computed. Errors: kInvalidArgument on other workers; what
  // computing it failed with; kTimeout.
  at::IValue local_value(std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const;
  // A copy of the value, on the owner the value itself. Blocks. Errors: as rpc_sync().
  at::IValue to_here(std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const;
  // Whether the owner knows of this reference.
  bool confirmed_by_owner() const;

 private:
  std::shared_ptr<RRefState> state_;
};

// Calls `function` on a worker, and gives a reference to its result at once; a failure is the error of to_here() and
// local_value(). Errors: as rpc_async().
TANDEM_API RRef remote(const std::string& to, const std::string& function, Values arguments = {},
                       const CallOptions& options = {});

// What this worker holds for references.
struct RRefCounts {
  std::int64_t owners = 0;   // values that others have references to, or had asked for
  std::int64_t forks = 0;    // references to them
  std::int64_t pending = 0;  // references of this worker's that their owners have not confirmed yet
};
TANDEM_API RRefCounts rref_counts();

// --- what went on

// Of the calls of this worker's to another one, remote() and to_here() among them.
struct CallStatistics {
  std::int64_t calls = 0, failed = 0, outstanding = 0;
  std::int64_t bytes_sent = 0, bytes_received = 0;  // of messages with their tensors
  std::chrono::nanoseconds latency{0};              // of calls that succeeded, in all
};
// By worker. In a trace (tandem/trace.h) each call is one entry, with worker and function.
TANDEM_API std::map<std::string, CallStatistics> statistics();

}  // namespace tandem::rpc
