// The launcher's front process.
#pragma once

#include "launch/options.h"

namespace tandem::launch {

// Launches and returns the exit code.
//
// Two processes do it, so that nobody is left behind whichever of them is killed: this one, whose pid the user knows,
// passes signals on to the supervisor and hands back its exit code. The supervisor starts the workers. When this
// process dies, the supervisor sees the end of a pipe and kills everything below it. When the supervisor dies, its
// workers do (PR_SET_PDEATHSIG), and what they started comes to this process, which kills it. Both are subreapers:
// no process below them escapes by leaving its group or session. Children that this process has already are left alone:
// it then launches from a new process (launch/relay.h).
int launch(const LaunchOptions& options);

}  // namespace tandem::launch
