// What Kubernetes and its operators tell the processes of pods. Kubeflow's PyTorchJob sets RANK, WORLD_SIZE,
// MASTER_ADDR and MASTER_PORT, as launchers do.
#pragma once

#include <optional>

#include "comm/schedulers/job_place.h"

namespace tandem {

// PET_NODE_RANK and PET_NNODES, which are meant for a launcher, where each pod has one process (Kubeflow's TrainJob).
std::optional<JobPlace> launcher_of_pods_place();

// JOB_COMPLETION_INDEX of an indexed Job whose manifest sets WORLD_SIZE; without that its pods have nothing to do with
// each other.
std::optional<JobPlace> indexed_job_place();

}  // namespace tandem
