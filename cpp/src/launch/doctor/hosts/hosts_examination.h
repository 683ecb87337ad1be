// `tandem doctor -H`: each of several machines, and whether they reach each other.
#pragma once

#include "launch/doctor/examination.h"
#include "launch/run_flags.h"

namespace tandem::doctor {

bool hosts_are_named(const launch::RunFlags& flags);

// Starts an agent on each, as `tandem run -H` would, has all look at their machine and connect to each other, and then
// launches ranks over all of them. Prints what it finds and a table of the hosts. Returns the exit code: 1 where there
// is a problem. Throws launch::Failure for flags that make no sense.
int examine_hosts(const launch::RunFlags& flags, const ExaminationOptions& options, bool as_json);

}  // namespace tandem::doctor
