// Process groups: ranks that run collectives together, over LibTorch's c10d backends.
//
//   auto group = tandem::ProcessGroup::create({});     // under `tandem run`: env://, Gloo
//   auto work = group->all_reduce_async(tensor);       // overlaps with what follows
//   work.wait();                                       // tensor holds the sum over all ranks
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/store.h"

namespace tandem {

struct ProcessGroupOptions {
  std::string backend = "gloo";                // "gloo", "nccl", or "none" (exchanges nothing, for benchmarks)
  std::string init_method = "env://";          // or "tcp://host:port", "file:///path"; ignored when a store is given
  int rank = -1;                               // -1: the environment's RANK
  int world_size = -1;                         // -1: the environment's WORLD_SIZE
  std::chrono::milliseconds timeout{1800000};  // of meeting the other ranks, and of each collective
  c10::Device device = c10::kCPU;              // of this rank, for nccl
  std::string interface_name;    // of Gloo; "": GLOO_SOCKET_IFNAME, else loopback when all ranks are on this
                                 // host, else the address that reaches the store, or the host's
  std::string name = "default";  // ranks that give the same name meet
};

enum class ReduceOp { kSum = 0, kAvg = 1, kProduct = 2, kMin = 3, kMax = 4, kBand = 5, kBor = 6, kBxor = 7 };

// A collective in flight. Copies share it. Holds its tensors until it is done.
class TANDEM_API Work {
 public:
  Work() = default;
  explicit Work(c10::intrusive_ptr<c10d::Work> work) : work_(std::move(work)) {}

  // Blocks until the collective is done on this rank; zero: as long as the group's timeout lets it run.
  // Errors: kTimeout (also when only this wait is over: then the collective goes on), kPeerLost, kAborted.
  void wait(std::chrono::milliseconds timeout = std::chrono::milliseconds(0));
  bool is_completed() const;

  const c10::intrusive_ptr<c10d::Work>& native() const { return work_; }

 private:
  c10::intrusive_ptr<c10d::Work> work_;
};

// Collectives are called by all ranks in the same order with tensors of the same shape and dtype, which must be dense;
// results are written in place. Tensors without elements are exchanged by doing nothing. The first failure ends the
// group: every rank gets an error soon, and later collectives are refused. Thread-safe, but the order of calls from
// several threads must be the same on all ranks. Source: torch.distributed.
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
  const std::string& backend() const;
  const std::string& name() const;

  Work broadcast_async(const at::Tensor& tensor, int root);
  Work all_reduce_async(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);
  // The result is the root's; other ranks' tensors hold nothing of use afterwards.
  Work reduce_async(const at::Tensor& tensor, int root, ReduceOp op = ReduceOp::kSum);
  // outputs: one tensor a rank, each shaped like `input`.
  Work all_gather_async(const std::vector<at::Tensor>& outputs, const at::Tensor& input);
  Work barrier_async();

  void broadcast(const at::Tensor& tensor, int root) { broadcast_async(tensor, root).wait(); }
  void all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum) { all_reduce_async(tensor, op).wait(); }
  void reduce(const at::Tensor& tensor, int root, ReduceOp op = ReduceOp::kSum) {
    reduce_async(tensor, root, op).wait();
  }
  void all_gather(const std::vector<at::Tensor>& outputs, const at::Tensor& input) {
    all_gather_async(outputs, input).wait();
  }
  void barrier() { barrier_async().wait(); }

  // Wakes every waiter with Error (kAborted), within a moment even when a peer is stopped; the group can then only be
  // destroyed. From any thread.
  void abort();

  // Aborts what is pending and refuses what comes, but leaves peers in peace when nothing is pending. The destructor
  // does it too; for those who share the group with others who hold it longer.
  void close();

  // LibTorch's group, for what takes one.
  const c10::intrusive_ptr<c10d::ProcessGroup>& native() const;

 private:
  struct Parts;
  explicit ProcessGroup(std::unique_ptr<Parts> parts);
  const c10::intrusive_ptr<c10d::Backend>& backend_of(const at::Tensor& tensor, const char* collective) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace tandem
