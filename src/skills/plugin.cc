#include "skills/plugin.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/paths.h"
#include "wire/json.h"
#include "wire/json_text.h"

namespace holdfast::skills {
namespace {

constexpr std::string_view kLocal = "local";

bool IsLetterOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool HasOnly(std::string_view name, std::string_view marks) {
  return !name.empty() && std::ranges::all_of(name, [&](char c) { return IsLetterOrDigit(c) || marks.contains(c); });
}

std::vector<std::string_view> Split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(mark);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A number without leading zeros.
std::optional<uint64_t> Number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return number;
}

struct SemanticVersion {
  std::array<uint64_t, 3> numbers{};
  std::vector<std::string_view> pre_release;
};

std::optional<SemanticVersion> Parse(std::string_view text) {
  text = text.substr(0, text.find('+'));
  SemanticVersion version;
  const size_t dash = text.find('-');
  if (dash != std::string_view::npos) version.pre_release = Split(text.substr(dash + 1), '.');
  if (std::ranges::count(version.pre_release, std::string_view()) > 0) return std::nullopt;
  const auto numbers = Split(text.substr(0, dash), '.');
  if (numbers.size() != version.numbers.size()) return std::nullopt;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = Number(numbers[i]);
    if (!number) return std::nullopt;
    version.numbers[i] = *number;
  }
  return version;
}

// Numbers come before words.
std::strong_ordering CompareWords(std::string_view a, std::string_view b) {
  const auto x = Number(a), y = Number(b);
  if (x && y) return *x <=> *y;
  if (x.has_value() != y.has_value()) return x ? std::strong_ordering::less : std::strong_ordering::greater;
  return a <=> b;
}

std::strong_ordering Compare(const SemanticVersion& a, const SemanticVersion& b) {
  if (const auto order = a.numbers <=> b.numbers; order != 0) return order;
  // A version without a pre-release comes after all its pre-releases.
  if (a.pre_release.empty() || b.pre_release.empty()) return a.pre_release.empty() <=> b.pre_release.empty();
  return std::lexicographical_compare_three_way(a.pre_release.begin(), a.pre_release.end(), b.pre_release.begin(),
                                                b.pre_release.end(), CompareWords);
}

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

bool IsMarketplace(std::string_view name) { return HasOnly(name, "-_"); }

bool IsPlugin(std::string_view name) { return HasOnly(name, "-_.") && !name.starts_with('.'); }

bool IsVersion(std::string_view name) { return HasOnly(name, "-_.+") && name != "." && name != ".."; }

bool IsPreferred(std::string_view a, std::string_view b) {
  if (a == kLocal || b == kLocal) return a == kLocal && b != kLocal;
  const auto x = Parse(a), y = Parse(b);
  return x && y ? Compare(*x, *y) > 0 : a > b;
}

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
