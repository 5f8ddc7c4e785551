#include "sandbox/policy/location_key.h"

#include <string>

#include "sandbox/policy/glob_parse.h"
#include "sandbox/policy/location.h"
#include "sandbox/policy/profile_spelling.h"

namespace holdfast::sandbox {
namespace {

std::unexpected<Error> Refuse(std::string_view reason) { return Fail(ErrorKind::kInvalidParams, std::string(reason)); }

// Removes `/**` from the end of a key that is otherwise a plain path. An entry about a directory holds for everything
// below it, also for files that are created later, so that PATH/** means the same as PATH.
std::string_view WithoutSubtreeMark(std::string_view key) {
  if (key == "**") return ".";
  if (key == "/**") return "/";
  const std::string_view path = key.ends_with("/**") ? key.substr(0, key.size() - 3) : key;
  return HasGlobCharacters(path) ? key : path;
}

Result<Where> PlaceNamed(std::string_view name) {
  for (const PlaceName& place : kPlaceNames) {
    if (place.format != ProfileFormat::kJson && name == place.name) return Place{place.kind};
  }
  return Refuse("is not a known place");
}

constexpr std::string_view kNotRooted = "is neither absolute nor below \"~/\"";

bool IsRooted(std::string_view path) { return path.starts_with('/') || path.starts_with('~'); }

Result<std::string> ExpandHome(std::string_view path, std::string_view home) {
  if (!path.starts_with('~')) return std::string(path);
  if (path != "~" && !path.starts_with("~/")) return Refuse("only \"~\" and \"~/...\" stand for a home directory");
  if (!home.starts_with('/')) return Refuse("HOME is not an absolute path");
  return std::string(home).append(path.substr(1));
}

}  // namespace

Result<Where> ParseKey(std::string_view key, std::string_view home) {
  if (key.starts_with(':')) return PlaceNamed(key.substr(1));
  if (!IsRooted(key)) return Refuse(kNotRooted);
  const std::string_view unmarked = WithoutSubtreeMark(key);
  TRY(const std::string path, ExpandHome(unmarked, home));
  if (!HasGlobCharacters(unmarked)) return ParseAbsolutePath(path);
  if (unmarked.starts_with('~') && HasGlobCharacters(home))
    return Refuse("HOME has characters that would be wildcards in the pattern");
  return ParsePattern(path);
}

Result<AbsolutePath> ParseHomePath(std::string_view text, std::string_view home) {
  if (!IsRooted(text)) return Refuse(kNotRooted);
  TRY(const std::string path, ExpandHome(text, home));
  return ParseAbsolutePath(path);
}

Result<Where> ParseProjectKey(std::string_view key) {
  const std::string_view unmarked = WithoutSubtreeMark(key);
  if (!HasGlobCharacters(unmarked)) return ParseProjectPlace(unmarked);
  if (unmarked.starts_with('/')) return Refuse("is not a relative path");
  return ParsePattern(unmarked);
}

}  // namespace holdfast::sandbox
