#include "files/capabilities/scan_root.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "base/paths.h"
#include "files/disk/metadata.h"
#include "files/disk/walk.h"
#include "skills/plugin.h"

namespace holdfast::files {
namespace {

using LastName = CapabilityReader::LastName;
using Part = CapabilityReader::Part;

constexpr size_t kMaxDepth = 6;
constexpr size_t kMaxPathBytes = 4u << 20;
constexpr std::string_view kInstructions = "SKILL.md";
constexpr std::string_view kMetadata = "agents/openai.yaml";

// The directories that may have the manifest of a plugin. The first one that has it counts.
constexpr std::array<std::string_view, 3> kManifestDirectories{".codex-plugin", ".claude-plugin", ".cursor-plugin"};
constexpr std::string_view kManifest = "plugin.json";

std::string Join(std::string_view directory, std::string_view name) {
  return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

class RootScan {
 public:
  RootScan(wire::DiscoveredRoot& found, const std::string& root, ScanRoom& room)
      : found_(found), root_(root), room_(room), reader_(room.bytes, found.warnings) {}

  void Run(Part part_of_instructions) {
    Result<WalkResult> walked = List();
    if (!walked) return reader_.Warn(std::move(walked).error().message);
    std::ranges::sort(walked->entries, {}, &WalkEntry::path);
    ReadPlugin();
    ReadNamespaces(walked->entries);
    for (const WalkEntry& entry : walked->entries) {
      if (!entry.is_directory && NameOf(entry.path) == kInstructions) ReadSkill(entry.path, part_of_instructions);
    }
  }

 private:
  Result<WalkResult> List() {
    const WalkOptions options{.max_depth = kMaxDepth,
                              .max_directories = room_.directories,
                              .max_entries = room_.entries,
                              .max_path_bytes = kMaxPathBytes,
                              .follow_directory_links = true};
    TRY(WalkResult walked, Walk(root_, options));
    room_.entries -= std::min(room_.entries, walked.entries.size());
    const auto directories = std::ranges::count_if(walked.entries, &WalkEntry::is_directory);
    room_.directories -= std::min(room_.directories, static_cast<size_t>(directories));
    for (WalkError& error : walked.errors) reader_.Warn(std::move(error.message));
    if (walked.truncated) reader_.Warn(fmt::format("search {}: there are too many files to look at all", root_));
    return walked;
  }

  std::optional<wire::CapabilityFile> ReadManifest(std::string_view directory) {
    for (const std::string_view name : kManifestDirectories) {
      if (auto manifest = reader_.Read(Join(Join(directory, name), kManifest))) return manifest;
    }
    return std::nullopt;
  }

  void ReadPlugin() {
    auto manifest = ReadManifest(root_);
    if (!manifest) return;
    found_.namespace_manifests.push_back(*manifest);
    wire::PluginFiles plugin;
    plugin.manifest = *std::move(manifest);
    plugin.mcp_config = ReadConfig(plugin.manifest, "mcpServers", ".mcp.json");
    plugin.apps_config = ReadConfig(plugin.manifest, "apps", ".app.json");
    found_.plugin = std::move(plugin);
  }

  std::optional<wire::CapabilityFile> ReadConfig(const wire::CapabilityFile& manifest, std::string_view key,
                                                 std::string_view default_path) {
    const skills::ManifestFile file = skills::FileNamedBy(manifest.contents, key, default_path);
    if (!file.complaint.empty()) reader_.Warn(fmt::format("{} in {}: {}", key, manifest.path, file.complaint));
    if (file.relative_path.empty()) return std::nullopt;
    return reader_.Read(Join(root_, file.relative_path));
  }

  // Reads the manifests that give skills of this root their namespaces: that of the root itself or, if it has none, of
  // the nearest directory above it, and those of the directories below it.
  void ReadNamespaces(const std::vector<WalkEntry>& entries) {
    std::string_view above = root_;
    while (found_.namespace_manifests.empty() && above != "/") {
      above = ParentOf(above);
      if (auto manifest = ReadManifest(above)) found_.namespace_manifests.push_back(*std::move(manifest));
    }
    std::set<std::string_view> plugins;
    for (const WalkEntry& entry : entries) {
      const bool has_manifest = entry.is_directory && std::ranges::count(kManifestDirectories, NameOf(entry.path)) > 0;
      if (has_manifest && ParentOf(entry.path) != root_) plugins.insert(ParentOf(entry.path));
    }
    for (const std::string_view plugin : plugins) {
      if (auto manifest = ReadManifest(plugin)) found_.namespace_manifests.push_back(*std::move(manifest));
    }
  }

  void ReadSkill(const std::string& path, Part part) {
    auto instructions = reader_.Read(path, LastName::kIsNoLink, part);
    if (!instructions) return;
    auto metadata = reader_.Read(Join(ParentOf(path), kMetadata));
    found_.skills.push_back({.instructions = *std::move(instructions), .metadata = std::move(metadata)});
  }

  wire::DiscoveredRoot& found_;
  const std::string& root_;
  ScanRoom& room_;
  CapabilityReader reader_;
};

}  // namespace

wire::DiscoveredRoot ScanCapabilityRoot(std::string id, const std::string& path, ScanRoom& room,
                                        Part part_of_instructions) {
  wire::DiscoveredRoot found;
  found.id = std::move(id);
  found.path = FileUri(path);
  const auto metadata = GetMetadata(path, Symlinks::kFollow);
  if (!metadata) {
    found.error = metadata.error().message;
  } else if (!metadata->is_directory) {
    found.error = fmt::format("path {}: is not a directory", path);
  } else {
    RootScan(found, path, room).Run(part_of_instructions);
  }
  return found;
}

}  // namespace holdfast::files
