#include "skills/plugin_manifest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/paths.h"
#include "wire/json.h"
#include "wire/json_text.h"

namespace holdfast::skills {
namespace {

std::unexpected<Error> WrongKind(std::string_view key) {
  return Fail(ErrorKind::kInvalidParams, std::string(key) + ": is of the wrong kind");
}

std::string WithoutBlanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

}  // namespace

Result<PluginManifest> ReadPluginManifest(std::string_view text) {
  wire::Document document;
  TRY(const wire::Json json, document.Parse(text));
  if (!json.is_object()) return WrongKind("manifest");
  PluginManifest manifest;
  const wire::Json name = json.Find("name");
  if (!name.is_absent() && !name.string()) return WrongKind("name");
  if (!WithoutBlanks(name.string().value_or("")).empty()) manifest.name = *name.string();
  const wire::Json apps = json.Find("apps");
  if (!apps.is_null() && !apps.string() && !apps.is_object() && !apps.is_array()) return WrongKind("apps");
  const wire::Json interface = json.Find("interface");
  if (!interface.is_null() && !interface.is_object()) return WrongKind("interface");
  const wire::Json display_name = interface.Find("displayName");
  if (!display_name.is_null() && !display_name.string()) return WrongKind("displayName");
  std::string shown = WithoutBlanks(display_name.string().value_or(""));
  if (!shown.empty()) manifest.display_name = std::move(shown);
  if (const wire::Json servers = json.Find("mcpServers"); servers.is_object()) {
    wire::AppendJson(manifest.inline_servers.emplace(), servers);
  }
  return manifest;
}

ManifestFile FileNamedBy(std::string_view manifest_text, std::string_view key, std::string_view default_path) {
  const auto standard = [&](std::string complaint) {
    return ManifestFile{std::string(default_path), std::move(complaint)};
  };
  wire::Document document;
  const auto json = document.Parse(manifest_text);
  if (!json) return standard("");
  const wire::Json member = json->Find(key);
  if (member.is_object() && key == "mcpServers") return {};
  const auto path = member.string();
  if (!path) return standard("");
  if (!path->starts_with("./")) return standard("the path has to begin with ./");
  const std::vector<std::string_view> names = NamesIn(*path);
  if (names.empty() || std::ranges::count(names, "..") > 0) return standard("the path has to stay below the plugin");
  std::string relative;
  for (const std::string_view name : names) (relative += relative.empty() ? "" : "/") += name;
  return {std::move(relative), ""};
}

}  // namespace holdfast::skills
