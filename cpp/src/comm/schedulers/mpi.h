// What the launchers of MPI tell processes.
#pragma once

#include <optional>
#include <string>

#include "comm/schedulers/job_place.h"

namespace tandem {

// OMPI_COMM_WORLD_RANK and others, of mpirun.
std::optional<JobPlace> open_mpi_place();

// PMIX_RANK, of launchers over PMIx that are neither mpirun nor srun. PMIx has no variable for the number of processes:
// WORLD_SIZE says it.
std::optional<JobPlace> pmix_place();

// PMI_RANK and PMI_SIZE, of MPICH's mpiexec and its relatives, but not of srun.
std::optional<JobPlace> pmi_place();

// The IPv4 address in a URI of Open MPI's: "640.0;tcp://10.0.0.7,192.168.1.7:4321;tcp6://[fd00::7]:60599" → 10.0.0.7.
// "" where it has none.
std::string address_of_uri(const std::string& uri);

}  // namespace tandem
