// What schedulers tell a process that they start without a launcher: docs/schedulers.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tandem {

// The port where ranks meet unless something else is said, as torchrun has it.
inline constexpr std::uint16_t kDefaultMasterPort = 29500;

struct JobPlace {
  std::string launcher;  // "Slurm", as messages name it
  int rank = -1;
  int world_size = -1;
  // -1 where it does not say.
  int local_rank = -1;
  int local_world_size = -1;
  int node_rank = -1;
  std::string job;  // tells this start of the program from others at one port or in one folder

  // Where the ranks meet unless MASTER_ADDR and MASTER_PORT say.
  std::string address;         // "": not known
  std::uint16_t port = 0;      // 0: not known
  std::string session_folder;  // of this job on its only host, where rank 0 can leave a port; "": there is none
  std::string note;            // how they were found, for errors
  std::string how_to_say;      // what to do where they are not known, for errors
};

// The innermost scheduler's: one that starts processes inside of what another one started is asked first, since what
// the outer one says holds for the inner one's daemons. Nothing where there is none. Throws Error (kInvalidArgument)
// for variables that make no sense.
std::optional<JobPlace> find_job_place();

// A port of 20000 to 31999, which Linux gives to nobody by itself, that follows from a job's number. Numbers beside
// each other have different ports.
std::uint16_t port_of_job(std::uint64_t number);

}  // namespace tandem
