// The functions of libcurl that this folder uses, looked up at run time.
#pragma once

#include <string>

#include <curl/curl.h>

#include "base/result.h"

namespace holdfast::http {

struct CurlLibrary {
  // Loads the library, which blocks while some thirty files are mapped and initialized.
  static Result<CurlLibrary> Load(const std::string& name);

  // There is a file of certificate authorities at the path where the library looks for it.
  bool has_bundle;

  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_pause) easy_pause;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_socket_action) multi_socket_action;
  CURLMcode (*multi_socket_all)(CURLM*, int*);  // the library's header warns against it, because it takes long
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_strerror) multi_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
};

}  // namespace holdfast::http
