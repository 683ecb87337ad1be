// Autograd over calls between workers: what a call computes elsewhere has gradients there.
//
//   tandem::rpc::AutogradContext context;                         // calls of this thread take part from here on
//   at::Tensor hidden = tandem::rpc::rpc_sync("worker1", "encode", {x}).toTensor();
//   at::Tensor loss = torch::mse_loss(decode(hidden), y);
//   context.backward({loss});
//   optimizer.step(context.id());                                 // tandem/dist_optimizer.h
//
// Source: torch.distributed.autograd.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tandem/export.h"

namespace tandem::rpc {

// One pass forward and back. Gradients are kept with it, on each worker for the parameters there, instead of in the
// tensors' grad, so that several passes may go on at a time. It is this thread's current one while it lives; functions
// that are called inside of it have it as theirs. Contexts of a thread nest. Of one thread, but for backward() and
// gradients(). Errors, of all that follows: kClosed outside of init() and shutdown().
class TANDEM_API AutogradContext {
 public:
  AutogradContext();
  // Drops what all workers keep of it.
  ~AutogradContext();
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  // The same on all workers.
  std::int64_t id() const { return id_; }
  // From `roots`, tensors of one number each, through all workers that took part, to the tensors without history that
  // require gradients. What no root depends on is left alone: it gets no gradients, and nobody waits for them. With
  // retain_graph it may be called again. Blocks. Errors: kInvalidArgument for roots without history; kPeerLost and
  // kTimeout, each message having Options::rpc_timeout; what a node of the graph throws, on whatever worker.
  void backward(const std::vector<at::Tensor>& roots, bool retain_graph = false) const;
  // Of this worker's tensors: each with its gradient.
  std::vector<std::pair<at::Tensor, at::Tensor>> gradients() const;

 private:
  std::int64_t id_;
  std::int64_t outer_;
};

// The same by id, for whoever was told it, as functions with parameters of their own are. Errors: kNotFound for a context
// that is over, or in which this worker took no part.
TANDEM_API void dist_backward(std::int64_t context, const std::vector<at::Tensor>& roots, bool retain_graph = false);
TANDEM_API std::vector<std::pair<at::Tensor, at::Tensor>> dist_gradients(std::int64_t context);
// The current thread's; -1: none.
TANDEM_API std::int64_t current_context();

// For languages whose tasks move between threads: a context that is no thread's current one until it is made so.
TANDEM_API std::int64_t new_context();
// On all workers.
TANDEM_API void release_context(std::int64_t context);
// While it lives, the context is this thread's current one; -1: this thread has none.
class TANDEM_API WithContext {
 public:
  explicit WithContext(std::int64_t context);
  ~WithContext();
  WithContext(const WithContext&) = delete;
  WithContext& operator=(const WithContext&) = delete;

 private:
  const std::int64_t outer_;
};

// How many contexts this worker keeps.
TANDEM_API std::int64_t context_count();

}  // namespace tandem::rpc
