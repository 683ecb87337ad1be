#include "base/curl_library.h"

#include <dlfcn.h>

#include <string>

#include "tandem/error.h"

namespace tandem {
namespace {

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (!function) throw Error(ErrorCode::kLibrary, std::string("libcurl.so.4 has no ") + name + ": it is too old");
}

void* open_libcurl(const char* what) {
  void* const library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    throw Error(ErrorCode::kLibrary, what + std::string(" need libcurl, which cannot be loaded: ") + ::dlerror() +
                                         "; install Debian's libcurl4");
  }
  return library;
}

CurlLibrary load(const char* what) {
  void* const library = open_libcurl(what);
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

CurlMultiLibrary load_multi(const char* what) {
  void* const library = open_libcurl(what);
  CurlMultiLibrary curl;
  find(library, "curl_multi_init", curl.init);
  find(library, "curl_multi_cleanup", curl.cleanup);
  find(library, "curl_multi_setopt", curl.setopt);
  find(library, "curl_multi_add_handle", curl.add_handle);
  find(library, "curl_multi_remove_handle", curl.remove_handle);
  find(library, "curl_multi_socket_action", curl.socket_action);
  find(library, "curl_multi_info_read", curl.info_read);
  return curl;
}

}  // namespace

const CurlLibrary& curl_library(const char* what) {
  static const CurlLibrary curl = load(what);  // stays: threads may be in it when the process ends
  return curl;
}

const CurlMultiLibrary& curl_multi_library(const char* what) {
  static const CurlMultiLibrary curl = load_multi(what);
  return curl;
}

}  // namespace tandem
