// A real all-reduce, by ranks that the launcher starts.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launch/doctor/finding.h"
#include "launch/doctor/process.h"

namespace tandem::doctor {

// A rank's program, `tandem doctor --rank BACKEND`: returns the exit code.
int be_rank(const std::string& backend, const std::string& library, double seconds);

// What `run` (words of a `tandem run`, up to the program) makes of it, with `world` ranks. `topic`: of the finding.
// `patience`: for the launch to end once it is told to.
Finding all_reduce(const std::string& topic, std::vector<std::string> run, int world, const std::string& backend,
                   const std::string& library, double seconds, Interruption& interruption,
                   std::chrono::seconds patience = kToEnd);

// On this machine, by two ranks.
Finding all_reduce_here(const std::string& backend, const std::string& library, double seconds,
                        Interruption& interruption);

}  // namespace tandem::doctor
