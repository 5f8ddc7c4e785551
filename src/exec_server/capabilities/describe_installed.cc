#include "exec_server/capabilities/describe_installed.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "base/paths.h"
#include "skills/front_matter.h"
#include "skills/plugin.h"
#include "skills/skill_metadata.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kMaxCapabilities = 2048;
constexpr size_t kMaxResultBytes = 4u << 20;
constexpr size_t kMaxNameCharacters = 64;

constexpr const char* kIncomplete = "some skills or plugins could not be read, so that this list may be incomplete";
constexpr const char* kTooMany = "there are more skills and plugins than a server lists";

size_t Characters(std::string_view utf8) {
  size_t count = 0;
  for (const char c : utf8) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

// A directory whose skills have the name of a plugin before their own.
struct Namespace {
  std::string directory;  // a URI, as the other paths here
  std::string name;
};

// Returns the namespaces of a root. A manifest that is not understood gives none.
std::vector<Namespace> NamespacesOf(const wire::DiscoveredRoot& root) {
  std::vector<Namespace> namespaces;
  for (const wire::CapabilityFile& file : root.namespace_manifests) {
    const auto manifest = skills::ReadPluginManifest(file.contents);
    if (!manifest) continue;
    std::string directory(ParentOf(ParentOf(file.path)));
    std::string name = manifest->name.empty() ? std::string(NameOf(directory)) : manifest->name;
    namespaces.push_back({.directory = std::move(directory), .name = std::move(name)});
  }
  return namespaces;
}

const Namespace* NearestTo(std::string_view path, const std::vector<Namespace>& namespaces) {
  const Namespace* nearest = nullptr;
  for (const Namespace& candidate : namespaces) {
    const bool is_nearer = nearest == nullptr || candidate.directory.size() > nearest->directory.size();
    if (is_nearer && IsBelow(path, candidate.directory)) nearest = &candidate;
  }
  return nearest;
}

// Returns nothing if the skill is left out.
std::optional<wire::Skill> DescribeSkill(const wire::SkillFiles& files, const std::vector<Namespace>& namespaces) {
  auto head = skills::ReadFrontMatter(files.instructions.contents);
  if (!head) return std::nullopt;
  wire::Skill skill;
  skill.name = std::move(head->name);
  if (skill.name.empty()) {
    const auto directory = ParsePath(ParentOf(files.instructions.path));
    skill.name = directory ? std::string(NameOf(*directory)) : "";
  }
  if (skill.name.empty() || Characters(skill.name) > kMaxNameCharacters) return std::nullopt;
  if (const Namespace* const plugin = NearestTo(files.instructions.path, namespaces)) {
    skill.name = fmt::format("{}:{}", plugin->name, skill.name);
  }
  skill.description = std::move(head->description);
  skill.short_description = std::move(head->short_description);
  skill.path = files.instructions.path;
  if (files.metadata) {
    skills::SkillMetadata metadata = skills::ReadSkillMetadata(files.metadata->contents);
    skill.dependencies = std::move(metadata.dependencies);
    skill.policy = std::move(metadata.policy);
  }
  return skill;
}

// Returns nothing if the plugin is left out. Its skills are not described yet.
std::optional<wire::Plugin> DescribePlugin(files::InstalledPlugin& installed) {
  if (!installed.files.plugin) return std::nullopt;
  wire::PluginFiles files = *std::move(installed.files.plugin);
  auto manifest = skills::ReadPluginManifest(files.manifest.contents);
  if (!manifest) return std::nullopt;
  if (manifest->inline_servers) files.mcp_config = {files.manifest.path, *std::move(manifest->inline_servers)};
  std::string name = manifest->name.empty() ? installed.version : std::move(manifest->name);
  return wire::Plugin{.id = std::move(installed.id),
                      .display_name = std::move(manifest->display_name).value_or(std::move(name)),
                      .remote_plugin_id = std::nullopt,
                      .version = std::move(installed.version),
                      .root = installed.files.path,
                      .files = std::move(files),
                      .skills = {}};
}

class Description {
 public:
  wire::DiscoverCapabilitiesResult Make(files::Installed installed) {
    for (const wire::DiscoveredRoot& root : installed.skill_roots) AddSkillRoot(root);
    for (files::InstalledPlugin& plugin : installed.plugins) AddPlugin(plugin);
    if (!installed.has_all_plugins) result_.warnings.emplace_back(kIncomplete);
    if (is_full_) result_.warnings.emplace_back(kTooMany);
    return std::move(result_);
  }

 private:
  bool HasRoomFor(size_t bytes) {
    if (is_full_ || count_ == kMaxCapabilities || bytes > kMaxResultBytes - bytes_) {
      is_full_ = true;
      return false;
    }
    ++count_;
    bytes_ += bytes;
    return true;
  }

  void AddSkills(const wire::DiscoveredRoot& root, std::vector<wire::Skill>& skills, bool& is_complete) {
    const auto namespaces = NamespacesOf(root);
    for (const wire::SkillFiles& files : root.skills) {
      auto skill = DescribeSkill(files, namespaces);
      if (!skill) is_complete = false;
      if (!skill || !HasRoomFor(skill->name.size() + skill->description.size() + skill->path.size())) continue;
      skills.push_back(*std::move(skill));
    }
  }

  void AddSkillRoot(const wire::DiscoveredRoot& root) {
    bool is_complete = root.warnings.empty();
    const size_t before = result_.skills.size();
    AddSkills(root, result_.skills, is_complete);
    for (size_t i = before; i < result_.skills.size(); ++i) {
      result_.skills[i].discovery_root = wire::CapabilityRoot{root.id, root.path};
    }
    if (!is_complete) result_.warnings.emplace_back(kIncomplete);
  }

  void AddPlugin(files::InstalledPlugin& installed) {
    const wire::DiscoveredRoot root = installed.files;
    bool is_complete = root.warnings.empty();
    auto plugin = DescribePlugin(installed);
    if (!plugin) {
      result_.warnings.emplace_back(kIncomplete);
      return;
    }
    size_t bytes = plugin->files.manifest.contents.size();
    for (const auto* config : {&plugin->files.mcp_config, &plugin->files.apps_config}) {
      if (*config) bytes += (*config)->contents.size();
    }
    if (!HasRoomFor(bytes)) return;
    AddSkills(root, plugin->skills, is_complete);
    result_.plugins.push_back(*std::move(plugin));
    if (!is_complete) result_.warnings.emplace_back(kIncomplete);
  }

  wire::DiscoverCapabilitiesResult result_;
  size_t count_ = 0, bytes_ = 0;
  bool is_full_ = false;
};

}  // namespace

wire::DiscoverCapabilitiesResult DescribeInstalled(files::Installed installed) {
  return Description().Make(std::move(installed));
}

}  // namespace holdfast::exec_server
