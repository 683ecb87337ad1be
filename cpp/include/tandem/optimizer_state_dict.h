// What Python's optimizer.state_dict() is, of an optimizer here: for files that both read.
#pragma once

#include "tandem/export.h"
#include "tandem/optim.h"
#include "tandem/pt_file.h"

namespace tandem {

// {'state': {0: {'momentum_buffer': …}}, 'param_groups': [{'lr': 0.1, …, 'params': [0, 1]}]}, with numbers of schedules
// ('initial_lr') in their groups. Tensors share storage with the optimizer. What belongs to no parameter, as
// "averager.step" of post_local_sgd_optimizer(), stands beside 'state'. Of a ZeroRedundancyOptimizer the state is what
// its state() gives. Tensors that state() numbers, as LBFGS's "0.old_dirs.3", are a list. What torch.optim has of how
// it computes ('foreach', 'fused', 'capturable', 'differentiable') is left out: it fills those in.
TANDEM_API PtValue optimizer_state_dict(const optim::Optimizer& optimizer);

// Takes over options, numbers of schedules and copies of the state, all or nothing. Throws Error(kInvalidArgument)
// where it is no such dict, groups have other numbers of parameters, or it has what this optimizer does not; and what
// set_option() and load_state() throw. How to compute, and names of parameters, are passed over.
TANDEM_API void load_optimizer_state_dict(optim::Optimizer& optimizer, const PtValue& state_dict);

}  // namespace tandem
