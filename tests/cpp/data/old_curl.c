/* A libcurl.so.4 that knows neither signatures nor CURLOPT_PROTOCOLS_STR, as old ones do not; all else is the real
 * one's, which REAL_LIBCURL names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>

enum { kUnknownOption = 48, kProtocolsStr = 10318, kAwsSigV4 = 10305 };

static void* real(const char* name) {
  static void* library;
  if (!library) library = dlopen(getenv("REAL_LIBCURL"), RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? dlsym(library, name) : NULL;
  if (!found) abort(); /* the test gave another library */
  return found;
}

int curl_easy_setopt(void* handle, int option, ...) {
  if (option == kProtocolsStr || option == kAwsSigV4) return kUnknownOption;
  va_list values;
  va_start(values, option);
  void* const value = va_arg(values, void*);
  va_end(values);
  return ((int (*)(void*, int, ...))real("curl_easy_setopt"))(handle, option, value);
}

int curl_easy_getinfo(void* handle, int what, ...) {
  va_list values;
  va_start(values, what);
  void* const value = va_arg(values, void*);
  va_end(values);
  return ((int (*)(void*, int, ...))real("curl_easy_getinfo"))(handle, what, value);
}

#define FORWARD_1(type, name) \
  type name(void* a) { return ((type(*)(void*))real(#name))(a); }
int curl_global_init(long flags) { return ((int (*)(long))real("curl_global_init"))(flags); }
void* curl_easy_init(void) { return ((void* (*)(void))real("curl_easy_init"))(); }
void* curl_url(void) { return ((void* (*)(void))real("curl_url"))(); }
FORWARD_1(void, curl_easy_cleanup)
FORWARD_1(void, curl_easy_reset)
FORWARD_1(int, curl_easy_perform)
FORWARD_1(void, curl_slist_free_all)
FORWARD_1(void, curl_url_cleanup)
FORWARD_1(void, curl_free)
const char* curl_easy_strerror(int code) { return ((const char* (*)(int))real("curl_easy_strerror"))(code); }
void* curl_slist_append(void* list, const char* line) {
  return ((void* (*)(void*, const char*))real("curl_slist_append"))(list, line);
}
int curl_url_set(void* url, int part, const char* text, unsigned flags) {
  return ((int (*)(void*, int, const char*, unsigned))real("curl_url_set"))(url, part, text, flags);
}
int curl_url_get(void* url, int part, char** text, unsigned flags) {
  return ((int (*)(void*, int, char**, unsigned))real("curl_url_get"))(url, part, text, flags);
}
