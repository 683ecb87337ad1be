// The graphs of replicas on the CPU, as one node of the graph around them.
//
// LibTorch computes a backward pass on the CPU on the thread that asked for it. So each replica has a graph of its own,
// cut off from what is around, that begins with leaves: its parameters and inputs. The node around sends the gradients
// that come to it through all of them at once, each on its replica's thread, and passes on the sums.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "ddp/replicas/threads.h"

namespace tandem::internal {

struct Part {
  std::vector<at::Tensor> leaves;    // all require a gradient
  std::vector<std::size_t> sources;  // of each leaf: which of the tensors around it stands for
  std::vector<at::Tensor> roots;     // all require a gradient
};

// What a graph needs of those that made it.
struct PartOwner {
  std::shared_ptr<ReplicaThreads> threads;
  std::vector<at::Generator> generators;  // that each replica draws random numbers from
  std::shared_ptr<void> keep;             // what must stay as it is until the graph is gone
};

// For the roots of each part a tensor of the same values, in the graph around: its gradient goes to `sources`.
std::vector<std::vector<at::Tensor>> record_parts(const std::vector<at::Tensor>& sources, std::vector<Part> parts,
                                                  const PartOwner& owner);

// Throws Error (kInvalidArgument) when the part's roots depend on something that requires a gradient and is none of its
// leaves.
void check_closed(const Part& part);

}  // namespace tandem::internal
