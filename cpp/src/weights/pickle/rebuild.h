// What the allowed names make of their arguments, instead of calls.
#pragma once

#include "weights/pickle/machine.h"

namespace tandem::pickle {

// REDUCE and NEWOBJ: `callable` of the tuple `arguments`.
Ref call(Machine& machine, Ref callable, Ref arguments);
// BUILD: `state` for `target`.
void build(Machine& machine, Ref target, Ref state);
// BINPERSID: a storage.
Ref persistent(Machine& machine, Ref id);

}  // namespace tandem::pickle
