// A policy as text, so that a test reads, and fails, in words: `:root read, /a write, pattern *.env deny; network`.
#pragma once

#include <string>

#include <fmt/format.h>

#include "sandbox/policy.h"

namespace holdfast::profile {

inline std::string Text(const sandbox::AbsolutePath& path) { return path.text; }

inline std::string Text(const sandbox::Pattern& pattern) { return fmt::format("pattern {}", pattern.text); }

inline std::string Text(const sandbox::Place& place) {
  switch (place.kind) {
    case sandbox::PlaceKind::kRoot:
      return ":root";
    case sandbox::PlaceKind::kMinimal:
      return ":minimal";
    case sandbox::PlaceKind::kProjectRoots:
      return ":project" + (place.subpath.empty() ? "" : "/" + place.subpath);
    case sandbox::PlaceKind::kTmpDir:
      return ":tmpdir";
    case sandbox::PlaceKind::kSlashTmp:
      return ":slash_tmp";
    case sandbox::PlaceKind::kUnknown:
      return ":unknown";
  }
  return "no place";
}

inline std::string Text(const sandbox::Entry& entry) {
  const auto* access = entry.access == sandbox::Access::kRead    ? "read"
                       : entry.access == sandbox::Access::kWrite ? "write"
                                                                 : "deny";
  const auto* if_missing = entry.if_missing == sandbox::IfMissing::kSkip ? " if there" : "";
  return fmt::format("{} {}{}", std::visit([](const auto& where) { return Text(where); }, entry.where), access,
                     if_missing);
}

inline std::string Text(const sandbox::Policy& policy) {
  std::string text = policy.files ? "" : "all files";
  if (policy.files) {
    for (const sandbox::Entry& entry : policy.files->entries) text += (text.empty() ? "" : ", ") + Text(entry);
    if (policy.files->entries.empty()) text += "no files";
    if (policy.files->glob_scan_max_depth) text += fmt::format(", depth {}", *policy.files->glob_scan_max_depth);
  }
  return text + (policy.network == sandbox::Network::kEnabled ? "; network" : "");
}

}  // namespace holdfast::profile
