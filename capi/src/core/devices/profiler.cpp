// LibTorch's profiler.
#include "tandem/profiler.h"

#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/comm/groups.h"

using namespace tandem::capi;

tdm_error* tdm_profiler_start(tdm_process_group* group, const tdm_profiler_options* options) {
  return guard("tdm_profiler_start", [&] {
    const auto given = read_options<tdm_profiler_options>(options, TDM_PROFILER_OPTIONS_INIT, "tdm_profiler_options");
    tandem::ProfilerOptions native;
    if (given.cpu_only != 0) native.cuda = false;
    native.record_shapes = given.record_shapes != 0;
    native.with_flops = given.with_flops != 0;
    tandem::start_profiler(native, group ? not_null(group, "group")->group.get() : nullptr);
  });
}

tdm_error* tdm_profiler_stop(const char* path, tdm_string** table) {
  return guard("tdm_profiler_stop", [&] {
    std::string text = tandem::stop_profiler(path ? path : "");
    if (table) *table = make_string(std::move(text));
  });
}
