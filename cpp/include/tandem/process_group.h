// Process groups: ranks that run collectives together, over LibTorch's c10d backends.
//
//   auto group = tandem::ProcessGroup::create({});     // under `tandem run`: env://, Gloo
//   auto work = group->all_reduce_async(tensor);       // overlaps with what follows
//   work.wait();                                       // tensor holds the sum over all ranks
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/error.h"
#include "tandem/export.h"
#include "tandem/store.h"

namespace tandem {

struct Channel;

struct ProcessGroupOptions {
  std::string backend = "gloo";                // "gloo", "nccl", "shm", "auto" or "none", or one for each device, as in
                                               // "cpu:shm,cuda:nccl": docs/process-groups.md
  std::string init_method = "env://";          // or "tcp://host:port", "file:///path"; ignored when a store is given
  int rank = -1;                               // -1: the environment's RANK
  int world_size = -1;                         // -1: the environment's WORLD_SIZE
  std::chrono::milliseconds timeout{1800000};  // of meeting the other ranks, and of each collective
  c10::Device device = c10::kCPU;              // of this rank: cuda:LOCAL_RANK for nccl
  std::string interface_name = "";  // of Gloo; "": GLOO_SOCKET_IFNAME, else loopback when all ranks are on this
                                 // host, else the address that reaches the store, or the host's
  std::string name = "default";  // ranks that give the same name meet
  bool abort_subgroups = false;  // abort() of the group aborts those that are made from it, and from those, too
};

enum class ReduceOp { kSum = 0, kAvg = 1, kProduct = 2, kMin = 3, kMax = 4, kBand = 5, kBor = 6, kBxor = 7 };

// A collective, send or receive in flight. Copies share it. Holds its tensors until it is done.
class TANDEM_API Work {
 public:
  Work() = default;
  explicit Work(c10::intrusive_ptr<c10d::Work> work, std::vector<at::Tensor> result = {})
      : work_(std::move(work)), result_(std::move(result)) {}

  // Blocks until the collective is done on this rank; zero: as long as the group's timeout lets it run. Over NCCL, as
  // in PyTorch, a wait without a limit does not block: it has this thread's current stream wait, so that what is queued
  // there from now on comes after the collective.
  // Errors: kTimeout (also when only this wait is over: then the collective goes on), kPeerLost, kAborted.
  void wait(std::chrono::milliseconds timeout = std::chrono::milliseconds(0));
  // The same, and blocks over NCCL, too: for what reads the result, or wants to know of a failure, at once.
  void synchronize(std::chrono::milliseconds timeout = std::chrono::milliseconds(0));
  // Done, or failed.
  bool is_completed() const;
  // Why it failed; nothing while it goes on and after success.
  std::optional<Error> error() const;
  // The tensors that hold the result once it is done, as they were given; empty for barriers and sends.
  const std::vector<at::Tensor>& result() const { return result_; }
  // Of a receive that is done: the rank that sent. Else -1.
  int source_rank() const;

  const c10::intrusive_ptr<c10d::Work>& native() const { return work_; }

 private:
  c10::intrusive_ptr<c10d::Work> work_;
  std::vector<at::Tensor> result_;
};

// Around the start of a collective or message for which its thread waits right afterwards. Where whoever waits can run it
// (backend shm), no other thread is then woken for it, which takes longer than a small one. The blocking calls of
// ProcessGroup have one.
class TANDEM_API WaitsAtOnce {
 public:
  // False: not so for what begins inside another one's scope.
  explicit WaitsAtOnce(bool waits = true);
  ~WaitsAtOnce();
  WaitsAtOnce(const WaitsAtOnce&) = delete;
  WaitsAtOnce& operator=(const WaitsAtOnce&) = delete;
  // Whether this thread has one.
  static bool now();

 private:
  const bool before_;
};

// A send or a receive of a batch.
struct Message {
  enum class Kind { kSend, kReceive };
  Kind kind = Kind::kSend;
  at::Tensor tensor;
  int peer = 0;
  int tag = 0;
};

// Collectives are called by all ranks of the group in the same order with tensors of the same dtype and of shapes as
// given below; tensors must be dense, and results are written in place. Ranks are the group's own (see global_rank()).
// Tensors without elements are exchanged by doing nothing. The first failure ends the group: every rank gets an error
// soon, which names the collective, its number, the group, ranks and age, and later collectives are refused. With
// TORCH_DISTRIBUTED_DEBUG=DETAIL ranks check first that all call the same; what differs is an Error (kInvalidArgument)
// on all of them, and the group lives on. Thread-safe, but the order of calls from several threads must be the same on
// all ranks.
//
// Dtypes: whatever moves unchanged (broadcast, gather, scatter, all_gather, all_to_all, send …) takes every dtype. Gloo
// reduces float, double, half, bfloat16, int8, uint8, int32, int64 and bool, and complex numbers for SUM and AVG;
// reduce_scatter takes int16 as well. Of bool, SUM and MAX are "or", PRODUCT and MIN "and". AVG of whole numbers rounds
// towards zero; bool has none. Bitwise operations take whole numbers and bool. What is not taken is kInvalidArgument.
// Source: torch.distributed.
class TANDEM_API ProcessGroup {
 public:
  // Meets the other ranks and connects to them. Blocks. `store` may be empty: then init_method makes one.
  // Errors: kInvalidArgument (a missing RANK, a rank outside the world or twice, sizes that differ between ranks),
  // kTimeout naming the ranks that are missing, kIo (a port in use), kUnsupported (no GPU, unknown backend).
  static std::shared_ptr<ProcessGroup> create(const ProcessGroupOptions& options, const Store& store = {});

  // Aborts what is pending.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const;
  int size() const;
  const std::string& backend() const;  // what "auto" has become
  at::Device rank_device() const;      // ProcessGroupOptions::device
  const std::string& name() const;

  // --- sub-groups

  // The number that a rank of this group has in the group that new_group() and split() began with, and back; -1 where
  // there is none. In a group that is no sub-group they are the same.
  int global_rank(int rank) const;
  int rank_of(int global_rank) const;
  // Of all members, in order of rank.
  const std::vector<int>& global_ranks() const;

  // A group of some of this one's ranks, numbered in the order of `ranks`. All ranks of this group call it, with the
  // same arguments; those outside get null at once. `name` "": this group's with a number. Blocks.
  // Errors: kInvalidArgument (ranks outside the group or twice), and those of create().
  std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks, const std::string& name = "");
  // Several at a time, without a rank in common: the one that this rank is in, else null.
  std::shared_ptr<ProcessGroup> split(const std::vector<std::vector<int>>& groups, const std::string& name = "");
  // Neighbours by `size`: ranks 0 to size - 1, and so on. Errors: kInvalidArgument when that does not come out even.
  std::shared_ptr<ProcessGroup> new_subgroups(int size, const std::string& name = "");

  // --- collectives

  Work broadcast_async(const at::Tensor& tensor, int root);
  Work all_reduce_async(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);
  // Multiplies each rank's tensor, of a float type, by its `factor` before the sum.
  Work all_reduce_premul_sum_async(const at::Tensor& tensor, double factor);
  // As one message for each dtype.
  Work all_reduce_coalesced_async(const std::vector<at::Tensor>& tensors, ReduceOp op = ReduceOp::kSum);
  // The result is the root's; other ranks' tensors hold nothing of use afterwards.
  Work reduce_async(const at::Tensor& tensor, int root, ReduceOp op = ReduceOp::kSum);
  // outputs: one tensor a rank, of the shape of that rank's input, so that every rank gives the same list of shapes.
  Work all_gather_async(const std::vector<at::Tensor>& outputs, const at::Tensor& input);
  // output: size() times the elements of input, which has the same shape on all ranks; contiguous.
  Work all_gather_into_tensor_async(const at::Tensor& output, const at::Tensor& input);
  // outputs: on root one tensor a rank, each shaped like `input`; elsewhere empty.
  Work gather_async(const std::vector<at::Tensor>& outputs, const at::Tensor& input, int root);
  // inputs: on root one tensor a rank, each shaped like `output`; elsewhere empty.
  Work scatter_async(const at::Tensor& output, const std::vector<at::Tensor>& inputs, int root);
  // inputs: one tensor a rank, of the shape of that rank's output; every rank gives the same list of shapes.
  Work reduce_scatter_async(const at::Tensor& output, const std::vector<at::Tensor>& inputs,
                            ReduceOp op = ReduceOp::kSum);
  // input: size() times the elements of output, which has the same shape on all ranks.
  Work reduce_scatter_tensor_async(const at::Tensor& output, const at::Tensor& input, ReduceOp op = ReduceOp::kSum);
  // inputs[r] goes to rank r; outputs[r] comes from it and has the shape of what it sends.
  Work all_to_all_async(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& inputs);
  // The same with slices of one tensor along its first dimension, as many rows for each rank as the splits say; empty
  // splits: equal parts.
  Work all_to_all_single_async(const at::Tensor& output, const at::Tensor& input,
                               const std::vector<std::int64_t>& output_splits = {},
                               const std::vector<std::int64_t>& input_splits = {});
  Work barrier_async();

  void broadcast(const at::Tensor& tensor, int root) { now([&] { return broadcast_async(tensor, root); }); }
  void all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum) { now([&] { return all_reduce_async(tensor, op); }); }
  void all_reduce_premul_sum(const at::Tensor& tensor, double factor) {
    now([&] { return all_reduce_premul_sum_async(tensor, factor); });
  }
  void all_reduce_coalesced(const std::vector<at::Tensor>& tensors, ReduceOp op = ReduceOp::kSum) {
    now([&] { return all_reduce_coalesced_async(tensors, op); });
  }
  void reduce(const at::Tensor& tensor, int root, ReduceOp op = ReduceOp::kSum) {
    now([&] { return reduce_async(tensor, root, op); });
  }
  void all_gather(const std::vector<at::Tensor>& outputs, const at::Tensor& input) {
    now([&] { return all_gather_async(outputs, input); });
  }
  void all_gather_into_tensor(const at::Tensor& output, const at::Tensor& input) {
    now([&] { return all_gather_into_tensor_async(output, input); });
  }
  void gather(const std::vector<at::Tensor>& outputs, const at::Tensor& input, int root) {
    now([&] { return gather_async(outputs, input, root); });
  }
  void scatter(const at::Tensor& output, const std::vector<at::Tensor>& inputs, int root) {
    now([&] { return scatter_async(output, inputs, root); });
  }
  void reduce_scatter(const at::Tensor& output, const std::vector<at::Tensor>& inputs, ReduceOp op = ReduceOp::kSum) {
    now([&] { return reduce_scatter_async(output, inputs, op); });
  }
  void reduce_scatter_tensor(const at::Tensor& output, const at::Tensor& input, ReduceOp op = ReduceOp::kSum) {
    now([&] { return reduce_scatter_tensor_async(output, input, op); });
  }
  void all_to_all(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& inputs) {
    now([&] { return all_to_all_async(outputs, inputs); });
  }
  void all_to_all_single(const at::Tensor& output, const at::Tensor& input,
                         const std::vector<std::int64_t>& output_splits = {},
                         const std::vector<std::int64_t>& input_splits = {}) {
    now([&] { return all_to_all_single_async(output, input, output_splits, input_splits); });
  }
  void barrier() { now([&] { return barrier_async(); }); }
  // A barrier over the store, slower than barrier(), whose kTimeout names every rank that has not come, on each rank
  // that has, also on those that come later. The group lives on. Zero: the group's timeout.
  void monitored_barrier(std::chrono::milliseconds timeout = std::chrono::milliseconds(0));

  // --- messages from one rank to another

  // A receive from any rank; see Work::source_rank().
  static constexpr int kAnyRank = -1;

  // Messages between two ranks with the same tag arrive in the order in which they were sent. A work that nobody waits
  // for or asks may not make progress.
  Work isend(const at::Tensor& tensor, int to, int tag = 0);
  Work irecv(const at::Tensor& tensor, int from = kAnyRank, int tag = 0);
  void send(const at::Tensor& tensor, int to, int tag = 0) { now([&] { return isend(tensor, to, tag); }); }
  // Gives the rank that sent.
  int recv(const at::Tensor& tensor, int from = kAnyRank, int tag = 0);
  // All at once, in whatever order; one work for all. Ranks may exchange with each other without waiting in circles.
  Work batch_isend_irecv(const std::vector<Message>& messages);

  // --- bytes, of another length on each rank

  // Lengths are exchanged first; more than kMostBytes in one call is an Error (kInvalidArgument) on all ranks.
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;
  // `bytes` of root to all.
  std::string broadcast_bytes(const std::string& bytes, int root);
  std::vector<std::string> all_gather_bytes(const std::string& bytes);
  // All ranks' on root, nothing elsewhere.
  std::vector<std::string> gather_bytes(const std::string& bytes, int root);
  // bytes: on root one a rank, elsewhere empty. Gives this rank's.
  std::string scatter_bytes(const std::vector<std::string>& bytes, int root);

  // Why collectives are refused, or would be: the first failure, an abort or a close; nothing while they are not.
  std::optional<Error> failure() const;
  // Whether something of this rank's is in flight, here or in a group that is aborted with this one: with calls that
  // block, whether it waits for others.
  bool is_busy() const;

  // --- the end

  // Wakes every waiter with Error (kAborted), within a moment even when a peer is stopped; the group can then only be
  // destroyed. From any thread.
  void abort();

  // Aborts `other`, which goes on beside this group, once this one is aborted or closed; at once where it is already.
  void abort_with_this(const std::shared_ptr<ProcessGroup>& other);

  // Aborts what is pending and refuses what comes. When nothing is pending peers are left in peace until they need this
  // rank: they get what was sent before, and then Error (kPeerLost) at once. A message that nobody has waited for may
  // take up to half a second to be known as delivered. The destructor does it too; for those who share the group with
  // others who hold it longer.
  void close();

  // LibTorch's group, for what takes one.
  const c10::intrusive_ptr<c10d::ProcessGroup>& native() const;

 private:
  struct Parts;
  friend class GroupMaker;
  explicit ProcessGroup(std::unique_ptr<Parts> parts);
  template <typename Start>
  static void now(Start&& start) {
    Work work;
    {
      const WaitsAtOnce at_once;
      work = start();
    }
    work.wait();
  }
  // Whose backend takes tensors of this device; throws when there is none, or not one for all.
  Channel& channel_for(const at::Tensor& tensor, const char* collective) const;
  Channel& channel_for(const std::vector<at::Tensor>& tensors, const char* collective) const;
  void check_rank_of(int rank, const char* what, const char* collective) const;
  at::Device device() const;
  void abort_beside();

  std::unique_ptr<Parts> parts_;
};

// The last collectives of this process, of all its groups, as JSON, for whoever asks why ranks wait for each other:
// {"version", "process", "now_ns", "entries": [{"group", "rank", "size", "sequence", "collective", "shapes", "dtypes",
// "state": started|completed|failed, "begun_ns", "ended_ns", "error", …}]}, oldest first.
//
// The environment's TANDEM_FLIGHT_RECORD=PREFIX has it written to PREFIX.rank<r>.json when a collective times out or
// loses a peer; TANDEM_FLIGHT_RECORD_SIZE is the number of entries that are kept (2000; 0: none).
TANDEM_API std::string flight_record();

}  // namespace tandem
