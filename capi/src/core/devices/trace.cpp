// Traces of a process.
#include "tandem/trace.h"

#include "core/call/options.h"
#include "core/comm/groups.h"

using namespace tandem::capi;

tdm_error* tdm_trace_start(tdm_process_group* group, const tdm_trace_options* options) {
  return guard("tdm_trace_start", [&] {
    not_null(group, "group");
    const auto given = read_options<tdm_trace_options>(options, TDM_TRACE_OPTIONS_INIT, "tdm_trace_options");
    tandem::start_trace(*group->group, {given.most_events});
  });
}

tdm_error* tdm_trace_stop(const char* path) {
  return guard("tdm_trace_stop", [&] { tandem::stop_trace(not_null(path, "path")); });
}
