// FindInstalled finds the skills and plugins that are installed on this machine, outside of any project.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "wire/capability_messages.h"

namespace holdfast::files {

// The directories in which they are installed.
struct InstalledPlaces {
  std::string codex_home, user_home, system;

  void Fields(auto& f) {
    f.Required("codexHome", codex_home);
    f.Required("userHome", user_home);
    f.Required("system", system);
  }
};

struct InstalledPlugin {
  std::string id, version;  // PLUGIN@MARKETPLACE
  wire::DiscoveredRoot files;

  void Fields(auto& f) {
    f.Required("id", id);
    f.Required("version", version);
    f.Required("files", files);
  }
};

// A file helper sends this to the server. Of SKILL.md there is the front matter only.
struct Installed {
  std::vector<wire::DiscoveredRoot> skill_roots;
  std::vector<InstalledPlugin> plugins;
  bool has_all_plugins = true;

  void Fields(auto& f) {
    f.Required("skillRoots", skill_roots);
    f.Required("plugins", plugins);
    f.Required("hasAllPlugins", has_all_plugins);
  }
};

Installed FindInstalled(const InstalledPlaces& places);

}  // namespace holdfast::files
