// The doctor's agent on one of several machines: it does what it is told on stdin, a JSON object a line, answers each
// on stdout, and ends when its stdin does, or when nothing comes
// for minutes: of a network that was cut it hears nothing.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor/examination.h"

namespace tandem::doctor {

// | order | has | is answered by |
// |---|---|---|
// | examine | folder, seconds, quick | report |
// | clock | | now: seconds since 1970 |
// | resolve | names | names: of each its addresses, or the error |
// | listen | meet, port, towards, token | gloo, listeners, ports |
// | connect | targets (address, port), token, seconds | outcomes |
// An error is answered by "error". `meet`: on the first machine addresses, of which agents meet at the first that can be
// had; else none, and `towards` says where that is. Returns the exit code.
int be_agent(const ExaminationOptions& options);

// `tandem doctor --resolve NAME`, for a resolver may take long: answers for each name.
int resolve_names(const std::vector<std::string>& names);

}  // namespace tandem::doctor
