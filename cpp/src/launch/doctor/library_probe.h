// libtandem, the core and LibTorch, tried in a process of their own.
#pragma once

#include <string>

#include "launch/doctor/finding.h"
#include "launch/doctor/process.h"

namespace tandem::doctor {

// The child's side, `tandem doctor --probe`: opens the library, has it load LibTorch, makes a group of each backend,
// and answers after each step. Returns the exit code.
int probe_library(const std::string& library);

// What a probe has told.
struct Probed {
  bool works = false;  // LibTorch and its core are loaded
  int gpus = 0;        // that LibTorch can use
  bool has_nccl = false;
};

// Adds the findings of libtandem, core, LibTorch and backends. `release`: the tool's own version, which libtandem has
// to have. `seconds`: for all of it.
Probed examine_library(const std::string& library, const std::string& release, double seconds,
                       Interruption& interruption, Report* report);

}  // namespace tandem::doctor
