// Optimizers whose parameters are on several workers.
//
//   std::vector<tandem::rpc::RRef> parameters = ...;   // from the workers that have them
//   tandem::rpc::DistributedOptimizer optimizer("SGD", parameters, {{"lr", 0.1}});
//   ...
//   optimizer.step(context.id());
//
// Source: torch.distributed.optim.DistributedOptimizer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/option.h"
#include "tandem/rpc.h"

namespace tandem::rpc {

struct DistributedOptimizerOptions {
  // One step at a time on each worker, whoever asks for it: parameters are never read half-written by another locked step.
  // false: steps of several workers may update the same parameters at a time (Hogwild!).
  bool locked = true;
  // Names of functions that each owner has registered, called there with the context's id around its step: "" none.
  std::string before_step = "", after_step = "";
};

// An optimizer on each owner of parameters, with state of its own; several DistributedOptimizers may have the same
// parameters. Thread-safe.
class TANDEM_API DistributedOptimizer {
 public:
  // `type` and `options` as make_optimizer() takes them (tandem/optim.h); `parameters` are references to tensors without
  // history that require gradients, each on its owner. Blocks. Errors: kInvalidArgument for no parameters; those of
  // make_optimizer(), naming the worker; those of calls.
  DistributedOptimizer(const std::string& type, std::vector<RRef> parameters, const std::vector<Option>& options,
                       const DistributedOptimizerOptions& distributed = {});
  // The owners drop theirs, as far as they are there.
  ~DistributedOptimizer();
  DistributedOptimizer(const DistributedOptimizer&) = delete;
  DistributedOptimizer& operator=(const DistributedOptimizer&) = delete;

  // Applies the gradients of a context, on all owners at a time; parameters without one are left alone. Blocks. Errors:
  // kNotFound where none of them had part in the context, as after its end; kUnsupported from LBFGS, which needs a closure;
  // those of calls. Others may have made their step then.
  void step(std::int64_t context);
  // On all owners, for schedules of learning rates. Errors: those of Optimizer::set_option().
  void set_option(const Option& option);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tandem::rpc
