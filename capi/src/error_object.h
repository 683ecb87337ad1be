/* The layout of tdm_error, shared by the loader and the core: both make errors, the loader reads and frees them. */
#pragma once

#include <stddef.h>

#include <stdlib.h>
#include <string.h>

#include "live_errors.h"
#include "tandem/tandem.h"
#include "utf8.h"

struct tdm_error {
  tdm_error_code code;
  char* operation;
  char* message;
  void* user_data;
  void (*destroy)(void* user_data);
};

/* A copy for people to read: of bounded length, with '?' for each byte that is no UTF-8, since messages quote names
 * that callers and files give. NULL without memory. */
static inline char* tandem_error_text(const char* text) {
  const size_t longest = 64 << 10;
  char* copy = strndup(text, longest);
  if (!copy) return NULL;
  if (strlen(copy) == longest) memcpy(copy + longest - 3, "...", 3);
  for (char* at = copy; *at;) {
    const int length = tandem_utf8_length(at);
    if (length == 0) *at = '?';
    at += length ? length : 1;
  }
  return copy;
}

/* An error that cannot fail to be made: out of memory, it is this static one, for whichever error there was to be. */
static inline tdm_error* tandem_error_new(tdm_error_code code, const char* operation, const char* message) {
  static struct tdm_error exhausted = {TDM_ERROR_OUT_OF_MEMORY, (char*)"",
                                       (char*)"out of memory, also for the error that was to be told", NULL, NULL};
  struct tdm_error* error = (struct tdm_error*)malloc(sizeof *error);
  if (!error) return &exhausted;
  error->code = code;
  error->user_data = NULL;
  error->destroy = NULL;
  error->operation = tandem_error_text(operation);
  error->message = tandem_error_text(message);
  if (error->operation && error->message) {
    __atomic_add_fetch(tandem_live_errors, 1, __ATOMIC_RELAXED);
    return error;
  }
  free(error->operation);
  free(error->message);
  free(error);
  return &exhausted;
}

/* Frees an error; accepts NULL. */
static inline void tandem_error_release(tdm_error* error) {
  /* The static error of an exhausted memory has an empty operation, which no other has. */
  if (!error || !*error->operation) return;
  /* What a C++ program's destroy function throws has nobody to go to. */
  try {
    if (error->destroy) error->destroy(error->user_data);
  } catch (...) {
  }
  free(error->operation);
  free(error->message);
  free(error);
  __atomic_sub_fetch(tandem_live_errors, 1, __ATOMIC_RELAXED);
}
