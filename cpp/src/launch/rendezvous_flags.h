// The flags that say how the agents of several machines meet: torchrun's --nnodes MIN:MAX, --rdzv-*.
#pragma once

#include "launch/run_flags.h"

namespace tandem::launch {

// What agents that another `tandem run` starts are told of etcd's user beside ETCDCTL_USER and ETCDCTL_PASSWORD, and
// take out of their environment.
inline constexpr const char* kEtcdUserVariable = "TANDEM_ETCD_USER";
inline constexpr const char* kEtcdPasswordVariable = "TANDEM_ETCD_PASSWORD";

// Whether they are to meet (--rdzv-backend c10d), and not to be told by --node-rank and --master-addr what they are.
bool agents_meet(const RunFlags& flags);
// Into flags.launch. Throws Failure.
void resolve_meeting(RunFlags& flags);

}  // namespace tandem::launch
