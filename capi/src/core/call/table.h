/* The core's side of the loader: its release, and a table of the C ABI's functions by name. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*tandem_function)(void);

typedef struct tandem_entry {
  const char* name;
  tandem_function function;
} tandem_entry;

/* tdm_version() of the release that the core belongs to, "0.1.0"; static. The loader asks this first, and goes on with
 * a core of its own release alone: all other functions here may differ between releases. Never changes. */
__attribute__((visibility("default"))) const char* tandem_core_release(void);

__attribute__((visibility("default"))) const tandem_entry* tandem_core_table(size_t* count);

/* Called once, after the loader decided on CPU or CUDA; no_cuda_reason is "" when CUDA is usable. live_errors is the
 * loader's count of tdm_error objects. */
__attribute__((visibility("default"))) void tandem_core_start(const char* libtorch_version, int has_cuda,
                                                              const char* no_cuda_reason, int64_t* live_errors);

/* Aborts groups, stops loaders, joins native threads. NULL, or an owned tdm_error. */
struct tdm_error;
__attribute__((visibility("default"))) struct tdm_error* tandem_core_stop(long long timeout_ms);

#ifdef __cplusplus
}
#endif
