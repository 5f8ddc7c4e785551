#include "http/curl_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>

#include <fmt/format.h>

namespace holdfast::http {
namespace {

constexpr unsigned kOldestVersion = 0x075700;  // 7.87.0, the first with CURLOPT_QUICK_EXIT

std::unexpected<Error> Unusable(const std::string& name, std::string_view reason) {
  return Fail(ErrorKind::kSystem, fmt::format("http/request needs {}: {}", name, reason));
}

// A Finder looks functions up and remembers the first that is missing.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <typename Function>
  void Find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }

  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

void FindAll(Finder& finder, CurlLibrary& library) {
  finder.Find("curl_easy_init", library.easy_init);
  finder.Find("curl_easy_cleanup", library.easy_cleanup);
  finder.Find("curl_easy_setopt", library.easy_setopt);
  finder.Find("curl_easy_pause", library.easy_pause);
  finder.Find("curl_easy_strerror", library.easy_strerror);
  finder.Find("curl_multi_init", library.multi_init);
  finder.Find("curl_multi_cleanup", library.multi_cleanup);
  finder.Find("curl_multi_setopt", library.multi_setopt);
  finder.Find("curl_multi_add_handle", library.multi_add_handle);
  finder.Find("curl_multi_remove_handle", library.multi_remove_handle);
  finder.Find("curl_multi_socket_action", library.multi_socket_action);
  finder.Find("curl_multi_info_read", library.multi_info_read);
  finder.Find("curl_multi_strerror", library.multi_strerror);
  finder.Find("curl_slist_append", library.slist_append);
  finder.Find("curl_slist_free_all", library.slist_free_all);
}

// Keeps OpenSSL, if the library uses it, from freeing its data at exit. It would free the data of each thread, also
// that of a worker which is about to end and frees its data itself.
void LeaveOpenSslAtExit(void* handle) {
  constexpr uint64_t kNoAtExit = 0x00080000;  // OPENSSL_INIT_NO_ATEXIT
  using Init = int (*)(uint64_t options, const void* settings);
  if (const auto init = reinterpret_cast<Init>(::dlsym(handle, "OPENSSL_init_crypto"))) (void)init(kNoAtExit, nullptr);
}

}  // namespace

Result<CurlLibrary> CurlLibrary::Load(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return Unusable(name, ::dlerror());
  Finder finder(handle);
  CurlLibrary library{};
  FindAll(finder, library);
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_version_info) version_info = nullptr;
  finder.Find("curl_global_init", global_init);
  finder.Find("curl_version_info", version_info);
  if (finder.missing() != nullptr) return Unusable(name, fmt::format("it has no {}", finder.missing()));
  const curl_version_info_data* version = version_info(CURLVERSION_NOW);
  if (version->version_num < kOldestVersion) {
    return Unusable(name, fmt::format("it is version {}, but 7.87 or later is needed", version->version));
  }
  LeaveOpenSslAtExit(handle);
  if (const CURLcode code = global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return Unusable(name, library.easy_strerror(code));
  }
  library.has_bundle = version->cainfo != nullptr && ::access(version->cainfo, R_OK) == 0;
  return library;
}

}  // namespace holdfast::http
