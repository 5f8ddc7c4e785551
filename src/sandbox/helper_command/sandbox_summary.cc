#include "sandbox/helper_command/sandbox_summary.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sandbox {
namespace {

constexpr size_t kMaxBytes = 4096;

std::string Joined(const std::string& root, const std::string& below) {
  if (below.empty()) return root;
  return root.ends_with('/') ? root + below : root + "/" + below;
}

std::vector<std::string> TextsOf(const Place& place, const SandboxSpec& spec) {
  switch (place.kind) {
    case PlaceKind::kRoot:
      return {"/"};
    case PlaceKind::kSlashTmp:
      return {"/tmp"};
    case PlaceKind::kTmpDir:
      return {"$TMPDIR"};
    case PlaceKind::kProjectRoots: {
      if (spec.project_roots.empty()) return {Joined(spec.policy_cwd, place.subpath)};
      std::vector<std::string> texts;
      texts.reserve(spec.project_roots.size());
      for (const std::string& root : spec.project_roots) texts.push_back(Joined(root, place.subpath));
      return texts;
    }
    case PlaceKind::kMinimal:
    case PlaceKind::kUnknown:
      return {};
  }
  return {};
}

std::vector<std::string> TextsOf(const Entry& entry, const SandboxSpec& spec) {
  if (const auto* path = std::get_if<AbsolutePath>(&entry.where)) return {path->text};
  if (const auto* pattern = std::get_if<Pattern>(&entry.where)) return {pattern->text};
  return TextsOf(std::get<Place>(entry.where), spec);
}

bool IsWorkspace(const Entry& entry) {
  const auto* place = std::get_if<Place>(&entry.where);
  return place != nullptr && (place->kind == PlaceKind::kProjectRoots || place->kind == PlaceKind::kRoot) &&
         place->subpath.empty() && entry.access == Access::kWrite;
}

std::string FilesText(const SandboxSpec& spec) {
  if (spec.profile.type == ProfileType::kExternal) return "external";
  const auto& files = spec.profile.policy.files;
  if (!files) return "unrestricted";
  if (std::ranges::find(files->entries, Access::kWrite, &Entry::access) == files->entries.end()) return "read-only";
  return std::ranges::any_of(files->entries, IsWorkspace) ? "workspace-write" : "restricted";
}

}  // namespace

std::optional<wire::ListedSandbox> SummaryOf(const SandboxSpec& spec) {
  if (!spec.restricts()) return std::nullopt;
  const Policy& policy = spec.profile.policy;
  wire::ListedSandbox summary{.files = FilesText(spec),
                              .network = spec.proxies || policy.network == Network::kEnabled,
                              .write = {},
                              .deny = {}};
  if (!policy.files) return summary;
  size_t left = kMaxBytes;
  for (const Entry& entry : policy.files->entries) {
    if (entry.access == Access::kRead) continue;
    for (std::string& text : TextsOf(entry, spec)) {
      if (text.size() >= left) return summary;
      left -= text.size() + 1;
      (entry.access == Access::kWrite ? summary.write : summary.deny).push_back(std::move(text));
    }
  }
  return summary;
}

}  // namespace holdfast::sandbox
