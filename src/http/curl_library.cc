#include "http/curl_library.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/dynamic_library.h"

namespace holdfast::http {
namespace {

constexpr unsigned kOldestVersion = 0x075700;  // 7.87.0, the first with CURLOPT_QUICK_EXIT

std::unexpected<Error> Unusable(const std::string& name, std::string_view reason) {
  return Fail(ErrorKind::kSystem, fmt::format("http/request needs {}: {}", name, reason));
}

void FindAll(DynamicLibrary& file, CurlLibrary& library) {
  file.Find("curl_easy_init", library.easy_init);
  file.Find("curl_easy_cleanup", library.easy_cleanup);
  file.Find("curl_easy_setopt", library.easy_setopt);
  file.Find("curl_easy_pause", library.easy_pause);
  file.Find("curl_easy_strerror", library.easy_strerror);
  file.Find("curl_multi_init", library.multi_init);
  file.Find("curl_multi_cleanup", library.multi_cleanup);
  file.Find("curl_multi_setopt", library.multi_setopt);
  file.Find("curl_multi_add_handle", library.multi_add_handle);
  file.Find("curl_multi_remove_handle", library.multi_remove_handle);
  file.Find("curl_multi_socket_action", library.multi_socket_action);
  file.Find("curl_multi_socket_all", library.multi_socket_all);
  file.Find("curl_multi_info_read", library.multi_info_read);
  file.Find("curl_multi_strerror", library.multi_strerror);
  file.Find("curl_slist_append", library.slist_append);
  file.Find("curl_slist_free_all", library.slist_free_all);
}

}  // namespace

Result<CurlLibrary> CurlLibrary::Load(const std::string& name) {
  auto file = DynamicLibrary::Open(name);
  if (!file) return Unusable(name, file.error().message);
  CurlLibrary library{};
  FindAll(*file, library);
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_version_info) version_info = nullptr;
  file->Find("curl_global_init", global_init);
  file->Find("curl_version_info", version_info);
  if (file->missing() != nullptr) return Unusable(name, fmt::format("it has no {}", file->missing()));
  const curl_version_info_data* version = version_info(CURLVERSION_NOW);
  if (version->version_num < kOldestVersion) {
    return Unusable(name, fmt::format("it is version {}, but 7.87 or later is needed", version->version));
  }
  file->LeaveOpenSslAtExit();
  if (const CURLcode code = global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return Unusable(name, library.easy_strerror(code));
  }
  library.has_bundle = version->cainfo != nullptr && ::access(version->cainfo, R_OK) == 0;
  return library;
}

}  // namespace holdfast::http
