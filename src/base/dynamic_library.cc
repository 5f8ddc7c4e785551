#include "base/dynamic_library.h"

#include <dlfcn.h>

#include <cstdint>

namespace holdfast {

Result<DynamicLibrary> DynamicLibrary::Open(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return Fail(ErrorKind::kSystem, ::dlerror());
  return DynamicLibrary(handle);
}

void* DynamicLibrary::Symbol(const char* name) const { return ::dlsym(handle_, name); }

void DynamicLibrary::LeaveOpenSslAtExit() const {
  constexpr uint64_t kNoAtExit = 0x00080000;  // OPENSSL_INIT_NO_ATEXIT
  using Init = int (*)(uint64_t options, const void* settings);
  if (const auto init = reinterpret_cast<Init>(Symbol("OPENSSL_init_crypto"))) (void)init(kNoAtExit, nullptr);
}

}  // namespace holdfast
