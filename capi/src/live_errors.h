/* Live tdm_error objects are counted by the loader, which frees them; the core counts into the same number. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where to count; each library has one of its own, and the core's is pointed to the loader's at the start. */
extern __attribute__((visibility("hidden"))) int64_t* tandem_live_errors;

#ifdef __cplusplus
}
#endif
