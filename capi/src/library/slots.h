/* Where libtandem keeps the core's functions. forward.c, generated from tandem.h, defines the arrays. */
#pragma once

#include <stddef.h>

#include "tandem/tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*tandem_function)(void);

enum { TANDEM_NOT_LOADED, TANDEM_READY, TANDEM_CLOSED };

extern const char* const tandem_slot_names[];
extern const size_t tandem_slot_count;
extern tandem_function tandem_slots[];
extern int tandem_state; /* atomic */

static inline int tandem_is_ready(void) {
  return __atomic_load_n(&tandem_state, __ATOMIC_ACQUIRE) == TANDEM_READY;
}

/* Loads on first use. NULL when ready. */
tdm_error* tandem_make_ready(const char* operation);
/* The error for a function that the loaded core, of another release, does not have. */
tdm_error* tandem_missing(const char* operation);

#ifdef __cplusplus
}
#endif
