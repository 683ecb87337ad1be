// libcurl, loaded when it is first needed: who reads no remote file, and has no etcd, needs none.
#pragma once

#include <curl/curl.h>

namespace tandem {

struct CurlLibrary {
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_url) url;
  decltype(&::curl_url_set) url_set;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_free) free;
};

// For several transfers at once, beside other work.
struct CurlMultiLibrary {
  decltype(&::curl_multi_init) init;
  decltype(&::curl_multi_cleanup) cleanup;
  decltype(&::curl_multi_setopt) setopt;
  decltype(&::curl_multi_add_handle) add_handle;
  decltype(&::curl_multi_remove_handle) remove_handle;
  decltype(&::curl_multi_socket_action) socket_action;
  decltype(&::curl_multi_info_read) info_read;
};

// Throws Error(kLibrary) that says what to install. `what`, as in "files on http and s3", needs it.
const CurlLibrary& curl_library(const char* what);
const CurlMultiLibrary& curl_multi_library(const char* what);

}  // namespace tandem
