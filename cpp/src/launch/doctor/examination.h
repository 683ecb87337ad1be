// All that the doctor looks at on one machine.
#pragma once

#include <functional>
#include <string>

#include "launch/doctor/finding.h"
#include "launch/doctor/process.h"

namespace tandem::doctor {

struct ExaminationOptions {
  std::string release;    // the tool's own
  std::string libtandem;  // a file; "": the one that belongs to the tool
  double seconds = 60;    // for each of the checks that start processes
  bool is_quick = false;  // without ranks
  std::string folder;     // that launches work in, which has to be there; "": any
};

// `found` is called for findings as they are made.
Report examine_machine(const ExaminationOptions& options, Interruption& interruption,
                       const std::function<void(const std::vector<Finding>&)>& found);

}  // namespace tandem::doctor
