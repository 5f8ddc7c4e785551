#include "sandbox/policy/location.h"

#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "base/paths.h"

namespace holdfast::sandbox {
namespace {

std::unexpected<Error> Refuse(std::string reason) { return Fail(ErrorKind::kInvalidParams, std::move(reason)); }

Result<> CheckText(std::string_view text) {
  if (text.empty()) return Refuse("is empty");
  if (text.contains('\0')) return Refuse("contains a nul byte");
  if (text.size() > kMaxPathBytes) return Refuse(fmt::format("is longer than {} bytes", kMaxPathBytes));
  return {};
}

// Returns the names in `text` joined by single slashes, without `.`. A `..` is refused.
Result<std::string> JoinNames(std::string_view text) {
  std::string joined;
  for (const std::string_view name : NamesIn(text)) {
    if (name == "..") return Refuse("contains \"..\"");
    if (!joined.empty()) joined += '/';
    joined += name;
  }
  return joined;
}

Result<std::string> ParseRelative(std::string_view text) {
  TRY_VOID(CheckText(text));
  if (text.starts_with('/')) return Refuse("is not a relative path");
  return JoinNames(text);
}

}  // namespace

Result<AbsolutePath> ParseAbsolutePath(std::string_view text) {
  TRY(std::string path, ParsePath(text));
  TRY_VOID(CheckText(path));
  return AbsolutePath{std::move(path)};
}

Result<Pattern> ParsePattern(std::string_view text) {
  constexpr std::string_view project_roots = "codex-project-roots://";
  const bool is_marked = text.starts_with(project_roots);
  if (is_marked) text.remove_prefix(project_roots.size());
  TRY_VOID(CheckText(text));
  if (is_marked || !text.starts_with('/')) {
    if (text.contains("://")) return Refuse("is a URI, but a pattern must be a path");
    TRY_VOID(ParseRelative(text));
  }
  return Pattern{std::string(text)};
}

Result<Place> ParseProjectPlace(std::string_view subpath) {
  TRY(std::string names, ParseRelative(subpath));
  return Place{PlaceKind::kProjectRoots, std::move(names)};
}

Result<> CheckEnforceable(const Entry& entry) {
  if (std::holds_alternative<Pattern>(entry.where) && entry.access != Access::kDeny) {
    return Refuse("a pattern can only be denied");
  }
  const auto* place = std::get_if<Place>(&entry.where);
  if (place == nullptr) return {};
  if (place->kind == PlaceKind::kUnknown && entry.access == Access::kDeny) {
    return Refuse("an unknown place cannot be denied");
  }
  if (place->kind == PlaceKind::kMinimal && entry.access != Access::kRead) {
    return Refuse("the minimal system directories can only be read");
  }
  return {};
}

}  // namespace holdfast::sandbox
