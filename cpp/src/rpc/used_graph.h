// Which parts of a distributed graph a backward pass uses.
#pragma once

#include <torch/csrc/distributed/autograd/context/context.h>

#include <cstdint>
#include <vector>

namespace tandem::rpc {

// LibTorch's engine waits, on each worker, for gradients of all that was sent in a context, whether or not the loss
// depends on it (its FAST mode). So before a pass the workers find out what it uses, and the rest is taken out of their
// contexts meanwhile. A tensor that was sent is a "send" where it came from and a "receive" where it came to; both have
// the same number, which is unique among all workers.
using torch::distributed::autograd::ContextPtr;

// The receives that are reached from these roots, or from these sends.
std::vector<std::int64_t> receives_from_roots(const ContextPtr& context, const std::vector<at::Tensor>& roots);
std::vector<std::int64_t> receives_from_sends(const ContextPtr& context, const std::vector<std::int64_t>& sends);

// Leaves these sends alone in the context. What an earlier call took out comes back where it is among them.
void keep_sends(const ContextPtr& context, const std::vector<std::int64_t>& sends);
// Whether this worker has that context.
bool has_context(std::int64_t context);
// The context is over.
void forget_sends(std::int64_t context);

// Registers what other workers call for that.
void register_used_graph();

// Finds what `roots` use of this context on all workers, and takes out the rest. Blocks. Errors: those of calls.
void keep_what_is_used(const ContextPtr& context, const std::vector<at::Tensor>& roots);

}  // namespace tandem::rpc
