// Hogwild!: processes of one host train the same parameters, without locks.
//
//   auto net = ...;                             // in each process
//   tandem::share_parameters(*net);             // tandem run -n 2 --shared-parameters -- program
//   torch::optim::SGD optimizer(net->parameters(), 0.01);
//   for (...) { loss.backward(); optimizer.step(); }   // a step writes to what all processes read
//
// Each process has gradients and an optimizer of its own. So an optimizer's moments (Adam's, SGD's momentum) are its
// process's and not shared: they are means over the gradients that this process has computed. Steps may be made at the
// same time, and of an element that two write at once the last write stays; what a process reads may be from before and
// after another one's step. Source: Niu, Recht, Re, Wright, "Hogwild!" (2011); torch.nn.Module.share_memory.
#pragma once

#include <torch/nn/module.h>

#include <chrono>
#include <string>

#include "tandem/export.h"
#include "tandem/named_tensors.h"

namespace tandem {

struct SharedParametersOptions {
  std::string name;  // of the model, in a program that shares several
  std::chrono::milliseconds timeout{std::chrono::minutes(5)};  // for local rank 0 to share them
};

// Puts these tensors into memory that all processes of the launch have, in place: the tensors stay the same objects, and
// optimizers that have them already go on with them. Local rank 0's values are what all begin with; a process that
// comes later, or was started again, gets what they are by then. Returns whether they are this call's. Without a
// launcher the threads of the process share them, each with a module of its own. Before it a program has moved its module
// to where it stays; a later to() would leave the memory.
//
// Blocks until local rank 0 has called it. All or nothing. A process may end, or be killed, at any time: the others go
// on, and the memory goes with the last of them. Thread-safe for different tensors.
// Errors: kInvalidArgument for tensors that another process has with other names, shapes, strides or dtypes, naming the
// first, for a process that was started with others but without --shared-parameters, for results of operations, and
// those that have their memory from one another or overlap in themselves; kUnsupported for those that are not dense or
// not on the CPU; kTimeout; kOutOfMemory; kIo.
TANDEM_API bool share_parameters(const NamedTensors& tensors, const SharedParametersOptions& options = {});

// Parameters and buffers of a module.
inline bool share_parameters(torch::nn::Module& module, const SharedParametersOptions& options = {}) {
  NamedTensors tensors;
  for (const auto& item : module.named_parameters()) tensors.emplace_back(item.key(), item.value());
  for (const auto& item : module.named_buffers()) tensors.emplace_back(item.key(), item.value());
  return share_parameters(tensors, options);
}

}  // namespace tandem
