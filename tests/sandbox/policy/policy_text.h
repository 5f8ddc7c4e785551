// A policy as text, so that a failed test shows what differs: `:root read, /a write, pattern *.env deny; network`.
#pragma once

#include <string>

#include <fmt/format.h>

#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

inline std::string Text(const AbsolutePath& path) { return path.text; }

inline std::string Text(const Pattern& pattern) { return fmt::format("pattern {}", pattern.text); }

inline std::string Text(const Place& place) {
  switch (place.kind) {
    case PlaceKind::kRoot:
      return ":root";
    case PlaceKind::kMinimal:
      return ":minimal";
    case PlaceKind::kProjectRoots:
      return ":project" + (place.subpath.empty() ? "" : "/" + place.subpath);
    case PlaceKind::kTmpDir:
      return ":tmpdir";
    case PlaceKind::kSlashTmp:
      return ":slash_tmp";
    case PlaceKind::kUnknown:
      return ":unknown";
  }
  return "no place";
}

inline std::string Text(const Entry& entry) {
  const auto* access = entry.access == Access::kRead ? "read" : entry.access == Access::kWrite ? "write" : "deny";
  const auto* if_missing = entry.if_missing == IfMissing::kSkip ? " if there" : "";
  return fmt::format("{} {}{}", std::visit([](const auto& where) { return Text(where); }, entry.where), access,
                     if_missing);
}

inline std::string Text(const Policy& policy) {
  std::string text = policy.files ? "" : "all files";
  if (policy.files) {
    for (const Entry& entry : policy.files->entries) text += (text.empty() ? "" : ", ") + Text(entry);
    if (policy.files->entries.empty()) text += "no files";
    if (policy.files->glob_scan_max_depth) text += fmt::format(", depth {}", *policy.files->glob_scan_max_depth);
  }
  return text + (policy.network == Network::kEnabled ? "; network" : "");
}

}  // namespace holdfast::sandbox
