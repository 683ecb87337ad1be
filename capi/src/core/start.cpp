// Entry points of the core for the loader: its table, its start, its end.
#include "core/guard.h"
#include "core/table.h"
#include "tandem/runtime.h"

extern "C" {

extern const tandem_entry tandem_core_entries[];
extern const size_t tandem_core_entry_count;

const tandem_entry* tandem_core_table(size_t* count) {
  *count = tandem_core_entry_count;
  return tandem_core_entries;
}

void tandem_core_start(const char* libtorch_version, int has_cuda, const char* no_cuda_reason) {
  tandem::start_runtime(libtorch_version, has_cuda != 0, no_cuda_reason);
}

tdm_error* tandem_core_stop(long long timeout_ms) {
  return tandem::capi::guard("tdm_shutdown", [&] { tandem::shutdown(std::chrono::milliseconds(timeout_ms)); });
}
}
