// Entry points of the core for the loader: its table, its start, its end.
#include "core/call/guard.h"
#include "core/call/table.h"
#include "core/call/timeout.h"
#include "core/handles/handles.h"
#include "core/operators/intra_op.h"
#include "tandem/resident.h"
#include "tandem/runtime.h"

extern "C" {

extern const tandem_entry tandem_core_entries[];
extern const size_t tandem_core_entry_count;

#define TANDEM_TEXT_(x) #x
#define TANDEM_TEXT(x) TANDEM_TEXT_(x)

const char* tandem_core_release(void) {
  return TANDEM_TEXT(TDM_VERSION_MAJOR) "." TANDEM_TEXT(TDM_VERSION_MINOR) "." TANDEM_TEXT(TDM_VERSION_PATCH);
}

const tandem_entry* tandem_core_table(size_t* count) {
  *count = tandem_core_entry_count;
  return tandem_core_entries;
}

static std::int64_t own_live_errors = 0;
std::int64_t* tandem_live_errors = &own_live_errors;

void tandem_core_start(const char* libtorch_version, int has_cuda, const char* no_cuda_reason,
                       std::int64_t* live_errors) {
  tandem_live_errors = live_errors;
  tandem::start_runtime(libtorch_version, has_cuda != 0, no_cuda_reason);
  tandem::capi::start_handles();
  tandem::capi::start_intra_op();
  tandem::keep_freed_memory();
  tandem::cache_tensors();
  tandem::drop_startup_pages();
}

tdm_error* tandem_core_stop(long long timeout_ms) {
  try {
    tandem::shutdown(tandem::capi::to_wait(timeout_ms));
    return nullptr;
  } catch (...) {
    return tandem::capi::current_error("tdm_shutdown");
  }
}
}
