// Any text either fails or becomes an absolute, normal path that survives the way out and back. Any bytes but NUL can
// be a path, and survive it too.
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
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto path = holdfast::ParsePath(text)) {
    CHECK(IsNormal(*path));
    CHECK(holdfast::ParsePath(*path) == *path);
    CHECK(holdfast::ParsePath(holdfast::FileUri(*path)) == *path);
  }
  const std::string raw = "/" + std::string(text);
  const auto normal = holdfast::ParsePath(raw);
  CHECK(normal.has_value() == !raw.contains('\0'));
  const auto back = holdfast::ParsePath(holdfast::FileUri(raw));
  CHECK(back.has_value() == normal.has_value());
  CHECK(!back || *back == *normal);
  return 0;
}
