// What a group is like for tensors of the CPU.
#pragma once

#include "comm/backend_control.h"
#include "tandem/export.h"
#include "tandem/process_group.h"

namespace tandem {

// Of the group's backend for them, which it must have.
TANDEM_API BackendTraits traits_for_cpu(const ProcessGroup& group);

}  // namespace tandem
