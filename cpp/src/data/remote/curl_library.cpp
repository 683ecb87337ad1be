#include "data/remote/curl_library.h"

#include <dlfcn.h>

#include <string>

#include "tandem/error.h"

namespace tandem::remote {
namespace {

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (!function) throw Error(ErrorCode::kLibrary, std::string("libcurl.so.4 has no ") + name + ": it is too old");
}

CurlLibrary load() {
  void* const library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    throw Error(ErrorCode::kLibrary, std::string("files on http and s3 need libcurl, which cannot be loaded: ") +
                                         ::dlerror() + "; install Debian's libcurl4, or copy the files here first");
  }
  decltype(&::curl_global_init) global_init;
  find(library, "curl_global_init", global_init);
  CurlLibrary curl;
  find(library, "curl_easy_init", curl.easy_init);
  find(library, "curl_easy_cleanup", curl.easy_cleanup);
  find(library, "curl_easy_reset", curl.easy_reset);
  find(library, "curl_easy_setopt", curl.easy_setopt);
  find(library, "curl_easy_perform", curl.easy_perform);
  find(library, "curl_easy_getinfo", curl.easy_getinfo);
  find(library, "curl_easy_strerror", curl.easy_strerror);
  find(library, "curl_slist_append", curl.slist_append);
  find(library, "curl_slist_free_all", curl.slist_free_all);
  find(library, "curl_url", curl.url);
  find(library, "curl_url_set", curl.url_set);
  find(library, "curl_url_get", curl.url_get);
  find(library, "curl_url_cleanup", curl.url_cleanup);
  find(library, "curl_free", curl.free);
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) throw Error(ErrorCode::kLibrary, "libcurl cannot be initialised");
  return curl;
}

}  // namespace

const CurlLibrary& curl_library() {
  static const CurlLibrary curl = load();  // stays: threads may be in it when the process ends
  return curl;
}

}  // namespace tandem::remote
