/* Written by capi/generator from tandem.h; do not edit. */
#ifndef TANDEM_GO_FORWARD_H
#define TANDEM_GO_FORWARD_H

#define TDM_API __attribute__((visibility("hidden")))
#define TDM_DEPRECATED(since, instead)
#include "tandem.h"

#define TANDEM_GO_FUNCTION_COUNT 537

extern TDM_API const char* const tandem_go_names[TANDEM_GO_FUNCTION_COUNT];
extern TDM_API char tandem_go_missing[TANDEM_GO_FUNCTION_COUNT];

/* Finds every function in an opened libtandem; returns how many it lacks. Call once, before any other function. */
TDM_API int tandem_go_bind(void* library);

#endif
