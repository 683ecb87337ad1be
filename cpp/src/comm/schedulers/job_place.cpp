#include "comm/schedulers/job_place.h"

#include "comm/schedulers/kubernetes.h"
#include "comm/schedulers/mpi.h"
#include "comm/schedulers/slurm.h"

namespace tandem {

std::optional<JobPlace> find_job_place() {
  // mpirun and mpiexec start their daemons with srun in an allocation of Slurm's, and any of them may run in a pod.
  for (const auto find :
       {open_mpi_place, pmix_place, pmi_place, slurm_place, launcher_of_pods_place, indexed_job_place}) {
    if (std::optional<JobPlace> place = find()) return place;
  }
  return std::nullopt;
}

std::uint16_t port_of_job(std::uint64_t number) {
  constexpr std::uint64_t kFirst = 20000, kCount = 12000;
  return static_cast<std::uint16_t>(kFirst + number % kCount);
}

}  // namespace tandem
