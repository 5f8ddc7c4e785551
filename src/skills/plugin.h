// Installed plugins: the names of their directories, MARKETPLACE/PLUGIN/VERSION, and their manifests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::skills {

// These functions return whether a directory of this name is looked at. Others may be there for another purpose.
bool IsMarketplace(std::string_view name);
bool IsPlugin(std::string_view name);
bool IsVersion(std::string_view name);

// Returns whether version `a` is used rather than version `b`: `local` before all others, then the higher one. Semantic
// versions are compared as such, and all others as text.
bool IsPreferred(std::string_view a, std::string_view b);

// The manifest of a plugin, plugin.json, as far as a server reads it. The client reads the rest.
struct PluginManifest {
  std::string name;                           // empty if the manifest has none
  std::optional<std::string> display_name;    // without blanks at its ends
  std::optional<std::string> inline_servers;  // the JSON of `mcpServers`, if it is an object and not the path of a file
};

Result<PluginManifest> ReadPluginManifest(std::string_view text);

// The file that a manifest names by `key`, or its default.
struct ManifestFile {
  std::string relative_path;  // empty: none, because the member is an object
  std::string complaint;      // why the manifest's own path was ignored; else empty
};

// A path has to begin with `./` and may have no `..`, so that it stays below the root of the plugin.
ManifestFile FileNamedBy(std::string_view manifest_text, std::string_view key, std::string_view default_path);

}  // namespace holdfast::skills
