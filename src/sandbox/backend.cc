#include "sandbox/backend.h"

namespace holdfast::sandbox {

std::optional<Backend> BackendOf(std::string_view name) {
  for (const Backend backend : {Backend::kAuto, Backend::kNative, Backend::kBubblewrap, Backend::kLandlock}) {
    if (NameOf(backend) == name) return backend;
  }
  return std::nullopt;
}

}  // namespace holdfast::sandbox
