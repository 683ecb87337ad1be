#include "comm/schedulers/mpi.h"

#include <charconv>
#include <limits>

#include "base/invalid.h"
#include "comm/environment_variable.h"
#include "comm/session_port.h"

namespace tandem {
namespace {

constexpr int kMostProcesses = std::numeric_limits<int>::max();

std::optional<int> process_number(const char* name, int low) {
  const auto number = environment_number(name, low, kMostProcesses);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

void fill_from(JobPlace* place, const char* rank, const char* size, const char* local_rank, const char* local_size) {
  place->world_size = *process_number(size, 1);
  place->rank = static_cast<int>(environment_number(rank, 0, place->world_size - 1).value());
  place->local_rank = process_number(local_rank, 0).value_or(-1);
  place->local_world_size = process_number(local_size, 1).value_or(-1);
  if (place->local_world_size == place->world_size) {
    place->node_rank = 0;
    place->address = "127.0.0.1";
  }
}

// Different for jobs that run at the same time; Open MPI 4 numbers them, 5 names them.
std::uint64_t number_of(const std::string& job) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(job.data(), job.data() + job.size(), number);
  if (failure == std::errc() && end == job.data() + job.size()) return number;
  number = 14695981039346656037u;  // FNV-1a
  for (const char c : job) number = (number ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return number;
}

// The folder that mpirun makes for a job on each host, and removes.
std::string session_folder() {
  for (const char* name : {"PMIX_SERVER_TMPDIR", "OMPI_MCA_orte_jobfam_session_dir"}) {
    const auto folder = environment_variable(name);
    if (folder && is_private_folder(*folder)) return *folder;
  }
  return "";
}

}  // namespace

std::string address_of_uri(const std::string& uri) {
  const std::string scheme = ";tcp://";
  const auto begin = (";" + uri).find(scheme);
  if (begin == std::string::npos) return "";
  const std::string rest = (";" + uri).substr(begin + scheme.size());
  const std::string address = rest.substr(0, rest.find_first_of(",:;"));
  const bool is_ipv4 = !address.empty() && address.find_first_not_of("0123456789.") == std::string::npos;
  return is_ipv4 ? address : "";
}

std::optional<JobPlace> open_mpi_place() {
  if (!environment_variable("OMPI_COMM_WORLD_RANK") || !environment_variable("OMPI_COMM_WORLD_SIZE")) {
    return std::nullopt;
  }
  JobPlace place;
  place.launcher = "Open MPI";
  fill_from(&place, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_SIZE");
  const std::string job = environment_variable("PMIX_NAMESPACE")
                              .value_or(environment_variable("OMPI_MCA_ess_base_jobid").value_or(""));
  place.job = "openmpi-" + job;
  place.how_to_say = "say where rank 0 runs: mpirun -x MASTER_ADDR=host -x MASTER_PORT=" +
                     std::to_string(kDefaultMasterPort) + " -n " + std::to_string(place.world_size) + " program";
  if (!place.address.empty()) {
    place.session_folder = session_folder();
    return place;
  }
  place.address = address_of_uri(environment_variable("OMPI_MCA_orte_hnp_uri").value_or(""));
  if (place.address.empty()) return place;
  place.port = port_of_job(number_of(job));
  place.note = "; rank 0 is looked for at " + place.address + ", where mpirun itself runs, and port " +
               std::to_string(place.port) + " follows from the job's number: if it is elsewhere, " + place.how_to_say;
  return place;
}

std::optional<JobPlace> pmix_place() {
  const auto name = environment_variable("PMIX_NAMESPACE");
  if (!name || !environment_variable("PMIX_RANK") || name->rfind("slurm.pmix.", 0) == 0) return std::nullopt;
  const std::string port = std::to_string(kDefaultMasterPort);
  JobPlace place;
  place.launcher = "PMIx";
  place.job = "pmix-" + *name;
  place.how_to_say = "say where rank 0 runs: prterun -x WORLD_SIZE=4 -x MASTER_ADDR=host -x MASTER_PORT=" + port +
                     " -n 4 program";
  const auto world_size = process_number("WORLD_SIZE", 1);
  if (!world_size) {
    invalid("PMIX_RANK is " + *environment_variable("PMIX_RANK") +
            ", but PMIx has no variable for the number of processes; set WORLD_SIZE and " + place.how_to_say);
  }
  place.world_size = *world_size;
  place.rank = static_cast<int>(environment_number("PMIX_RANK", 0, place.world_size - 1).value());
  return place;
}

std::optional<JobPlace> pmi_place() {
  if (!environment_variable("PMI_RANK") || !environment_variable("PMI_SIZE")) return std::nullopt;
  // srun --mpi=pmi2 sets them beside its own, and names the step.
  const auto job = environment_variable("SLURM_JOB_ID"), step = environment_variable("SLURM_STEP_ID");
  if (job && step && environment_variable("PMI_JOBID") == *job + "." + *step) return std::nullopt;
  JobPlace place;
  place.launcher = "PMI";
  fill_from(&place, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS");
  place.job = "pmi-" + environment_variable("PMI_JOBID").value_or("");
  place.how_to_say = "say where rank 0 runs: mpiexec -genv MASTER_ADDR host -genv MASTER_PORT " +
                     std::to_string(kDefaultMasterPort) + " -n " + std::to_string(place.world_size) + " program";
  return place;
}

}  // namespace tandem
