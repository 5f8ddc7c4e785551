// Params and result of capabilities/discoverV2. All paths are file URIs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/capability_messages.h"

namespace holdfast::wire {

struct DiscoverCapabilitiesParams {
  std::string cwd;

  void Fields(auto& f) { f.Required("cwd", cwd); }
};

// A tool that a skill needs.
struct ToolDependency {
  std::string type, value;
  std::optional<std::string> description, transport, command, url;
  std::optional<uint16_t> oauth_callback_port;

  void Fields(auto& f) {
    f.Required("type", type);
    f.Required("value", value);
    f.Nullable("description", description);
    f.Nullable("transport", transport);
    f.Nullable("command", command);
    f.Nullable("url", url);
    f.Nullable("oauthCallbackPort", oauth_callback_port);
  }
};

struct SkillDependencies {
  std::vector<ToolDependency> tools;

  void Fields(auto& f) { f.Required("tools", tools); }
};

struct SkillPolicy {
  std::optional<bool> allow_implicit_invocation;
  std::vector<std::string> products;

  void Fields(auto& f) {
    f.Nullable("allowImplicitInvocation", allow_implicit_invocation);
    f.Required("products", products);
  }
};

struct Skill {
  std::string name, description;
  std::optional<std::string> short_description;
  std::string path;
  std::optional<CapabilityRoot> discovery_root;  // absent in a plugin
  std::optional<SkillDependencies> dependencies;
  std::optional<SkillPolicy> policy;

  void Fields(auto& f) {
    f.Required("name", name);
    f.Required("description", description);
    f.Nullable("shortDescription", short_description);
    f.Required("path", path);
    f.Optional("discoveryRoot", discovery_root);
    f.Nullable("dependencies", dependencies);
    f.Nullable("policy", policy);
  }
};

struct Plugin {
  std::string id, display_name;
  std::optional<std::string> remote_plugin_id;
  std::string version, root;
  PluginFiles files;
  std::vector<Skill> skills;

  void Fields(auto& f) {
    f.Required("id", id);
    f.Required("displayName", display_name);
    f.Nullable("remotePluginId", remote_plugin_id);
    f.Required("version", version);
    f.Required("root", root);
    f.Required("files", files);
    f.Required("skills", skills);
  }
};

struct DiscoverCapabilitiesResult {
  std::vector<Plugin> plugins;
  std::vector<Skill> skills;
  std::vector<std::string> warnings;

  void Fields(auto& f) {
    f.Required("plugins", plugins);
    f.Required("skills", skills);
    f.Required("warnings", warnings);
  }
};

}  // namespace holdfast::wire
