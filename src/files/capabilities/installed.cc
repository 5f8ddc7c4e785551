#include "files/capabilities/installed.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "files/capabilities/capability_reader.h"
#include "files/capabilities/scan_root.h"
#include "files/disk/directory.h"
#include "files/disk/metadata.h"
#include "skills/plugin.h"

namespace holdfast::files {
namespace {

constexpr size_t kMaxPlugins = 512;
constexpr size_t kMaxNames = 20'000;  // in a directory of the cache
constexpr size_t kMaxEntries = 200'000;
constexpr size_t kMaxDirectories = 20'000;

// Returns the names of the directories in a directory that `wanted` accepts, in order. They may be links.
std::vector<std::string> Directories(const std::string& path, bool (*wanted)(std::string_view)) {
  std::vector<std::string> names;
  const auto entries = ReadDirectory(path, kMaxNames);
  if (!entries) return names;  // a directory that is missing has no plugins
  for (const DirectoryEntry& entry : *entries) {
    if (entry.is_directory && wanted(entry.name)) names.push_back(entry.name);
  }
  std::ranges::sort(names);
  return names;
}

bool IsLink(const std::string& path) {
  const auto metadata = GetMetadata(path, Symlinks::kFollow);
  return !metadata || metadata->is_symlink;
}

// Returns the version of a plugin that is used.
std::optional<std::string> BestVersion(const std::string& plugin) {
  std::optional<std::string> best;
  for (std::string& version : Directories(plugin, skills::IsVersion)) {
    if (IsLink(fmt::format("{}/{}", plugin, version))) continue;
    if (!best || skills::IsPreferred(version, *best)) best = std::move(version);
  }
  return best;
}

class Search {
 public:
  Installed Run(const InstalledPlaces& places) {
    AddSkills("codex-home-skills", places.codex_home + "/skills");
    AddSkills("user-agent-skills", places.user_home + "/.agents/skills");
    AddSkills("system-skills", places.system + "/skills");
    const std::string cache = places.codex_home + "/plugins/cache";
    std::map<std::string, std::string> directories;  // by the id, which is their order
    for (const std::string& marketplace : Directories(cache, skills::IsMarketplace)) {
      const std::string directory = fmt::format("{}/{}", cache, marketplace);
      for (const std::string& plugin : Directories(directory, skills::IsPlugin)) {
        directories.emplace(fmt::format("{}@{}", plugin, marketplace), fmt::format("{}/{}", directory, plugin));
      }
    }
    for (const auto& [id, directory] : directories) AddPlugin(id, directory);
    return std::move(found_);
  }

 private:
  wire::DiscoveredRoot Scan(std::string id, const std::string& path) {
    const ScanRoom one;
    ScanRoom room{.bytes = left_.bytes,
                  .directories = std::min(left_.directories, one.directories),
                  .entries = std::min(left_.entries, one.entries)};
    const ScanRoom before = room;
    auto scanned = ScanCapabilityRoot(std::move(id), path, room, CapabilityReader::Part::kFrontMatter);
    left_.bytes = room.bytes;
    left_.directories -= before.directories - room.directories;
    left_.entries -= before.entries - room.entries;
    return scanned;
  }

  void AddSkills(std::string id, const std::string& path) {
    auto scanned = Scan(std::move(id), path);
    if (!scanned.error) found_.skill_roots.push_back(std::move(scanned));
  }

  void AddPlugin(std::string id, const std::string& directory) {
    auto version = BestVersion(directory);
    if (!version) return;
    if (found_.plugins.size() == kMaxPlugins) {
      found_.has_all_plugins = false;
      return;
    }
    auto scanned = Scan("", fmt::format("{}/{}", directory, *version));
    if (scanned.error) return;
    found_.plugins.push_back({.id = std::move(id), .version = *std::move(version), .files = std::move(scanned)});
  }

  Installed found_;
  ScanRoom left_{.bytes = ScanRoom{}.bytes, .directories = kMaxDirectories, .entries = kMaxEntries};
};

}  // namespace

Installed FindInstalled(const InstalledPlaces& places) { return Search().Run(places); }

}  // namespace holdfast::files
