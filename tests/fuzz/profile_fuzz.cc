// The first byte picks a reader: `p` a permission profile, `l` a legacy policy, anything else a TOML file with the
// profile `p`. Nothing crashes, every refusal says why, and what is accepted can be enforced as it stands: paths are
// absolute and normal, the rest stays below a project root, only denials are patterns.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "sandbox/policy/legacy_policy.h"
#include "sandbox/policy/location.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/profile_file.h"
#include "wire/json.h"

namespace {

using namespace holdfast;

// Names joined by single slashes; none of them leads elsewhere.
bool IsNormal(std::string_view names) {
  const std::string closed = "/" + std::string(names) + "/";
  return !closed.contains("//") && !closed.contains("/./") && !closed.contains("/../") && !closed.contains('\0') &&
         names.size() <= sandbox::kMaxPathBytes;
}

bool IsNormalPath(std::string_view path) { return path == "/" || (path.starts_with('/') && IsNormal(path.substr(1))); }

void Use(const sandbox::Entry& entry) {
  if (const auto* path = std::get_if<sandbox::AbsolutePath>(&entry.where)) {
    CHECK(IsNormalPath(path->text));
  } else if (const auto* place = std::get_if<sandbox::Place>(&entry.where)) {
    CHECK(place->subpath.empty() || place->kind == sandbox::PlaceKind::kProjectRoots);
    CHECK(place->subpath.empty() || IsNormal(place->subpath));
  } else {
    const std::string& pattern = std::get<sandbox::Pattern>(entry.where).text;
    CHECK(!pattern.empty() && !pattern.contains('\0') && pattern.size() <= sandbox::kMaxPathBytes);
    CHECK(pattern.starts_with('/') || !("/" + pattern + "/").contains("/../"));
    CHECK(entry.access == sandbox::Access::kDeny);
  }
}

void Use(const sandbox::Policy& policy) {
  if (!policy.files) return;
  std::ranges::for_each(policy.files->entries, [](const sandbox::Entry& entry) { Use(entry); });
  CHECK(policy.files->glob_scan_max_depth != 0u);
}

void Use(const sandbox::Profile& decoded) {
  Use(decoded.policy);
  CHECK(decoded.type == sandbox::ProfileType::kManaged || !decoded.policy.files);
  CHECK(decoded.type != sandbox::ProfileType::kDisabled || decoded.policy.network == sandbox::Network::kEnabled);
}

void Use(const sandbox::ProfileFile& file) {
  if (file.chosen) Use(*file.chosen);
  CHECK(!file.chosen || file.undecided.empty());
  Use(file.workspace_write);
}

template <typename T>
void Try(const Result<T>& result) {
  if (result) return Use(*result);
  CHECK(!result.error().message.empty());
}

void TryLegacy(std::string_view text) {
  wire::Document document;
  if (const auto json = document.Parse(text)) Try(sandbox::DecodeLegacyPolicy(*json));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes + 1), size - 1);
  if (bytes[0] == 'p') {
    Try(sandbox::ParseProfile(text));
  } else if (bytes[0] == 'l') {
    TryLegacy(text);
  } else {
    Try(sandbox::ParseProfileFile({text, "f", "/home/me"}, "p"));
    Try(sandbox::ParseProfileFile({text, "f", "/home/me"}, ""));
  }
  return 0;
}
