// Any text either fails or becomes an absolute, normal path that survives the way out and back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/file_uri.h"

namespace {

bool IsNormal(std::string_view path) {
  if (path == "/") return true;
  if (!path.starts_with('/') || path.contains('\0')) return false;
  const std::string closed = std::string(path) + '/';
  return !closed.contains("//") && !closed.contains("/./") && !closed.contains("/../");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const auto path = holdfast::ParsePath({reinterpret_cast<const char*>(bytes), size});
  if (!path.has_value()) return 0;
  CHECK(IsNormal(*path));
  CHECK(holdfast::ParsePath(*path) == *path);
  CHECK(holdfast::ParsePath(holdfast::FileUri(*path)) == *path);
  return 0;
}
