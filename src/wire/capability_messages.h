// Params and result of capabilityRoots/discoverV1. All paths are file URIs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/sandbox_messages.h"

namespace holdfast::wire {

// A text file of a skill or a plugin.
struct CapabilityFile {
  std::string path, contents;

  void Fields(auto& f) {
    f.Required("path", path);
    f.Required("contents", contents);
  }
};

struct PluginFiles {
  CapabilityFile manifest;
  std::optional<CapabilityFile> mcp_config, apps_config;

  void Fields(auto& f) {
    f.Required("manifest", manifest);
    f.Nullable("mcpConfig", mcp_config);
    f.Nullable("appsConfig", apps_config);
  }
};

struct SkillFiles {
  CapabilityFile instructions;  // SKILL.md
  std::optional<CapabilityFile> metadata;

  void Fields(auto& f) {
    f.Required("instructions", instructions);
    f.Nullable("metadata", metadata);
  }
};

struct CapabilityRoot {
  std::string id, path;

  void Fields(auto& f) {
    f.Required("id", id);
    f.Required("path", path);
  }
};

struct DiscoverRootsParams {
  std::vector<Sandboxed<CapabilityRoot>> roots;

  void Fields(auto& f) { f.Required("roots", roots); }
};

struct DiscoveredRoot : CapabilityRoot {
  std::optional<PluginFiles> plugin;
  std::vector<SkillFiles> skills;
  std::vector<CapabilityFile> namespace_manifests;
  std::vector<std::string> warnings;
  std::optional<std::string> error;

  void Fields(auto& f) {
    CapabilityRoot::Fields(f);
    f.Nullable("plugin", plugin);
    f.Required("skills", skills);
    f.Required("namespaceManifests", namespace_manifests);
    f.Required("warnings", warnings);
    f.Nullable("error", error);
  }
};

struct DiscoverRootsResult {
  std::vector<DiscoveredRoot> roots;

  void Fields(auto& f) { f.Required("roots", roots); }
};

}  // namespace holdfast::wire
