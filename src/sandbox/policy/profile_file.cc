#include "sandbox/policy/profile_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/toml_file.h"
#include "sandbox/policy/location.h"
#include "sandbox/policy/location_key.h"
#include "sandbox/policy/profile_spelling.h"

namespace holdfast::sandbox {
namespace {

std::unexpected<Error> Refuse(std::string_view reason) { return Fail(ErrorKind::kInvalidParams, std::string(reason)); }

// Returns the key as TOML spells it: in quotes unless it is a bare key.
std::string Quoted(const toml::key& key) {
  constexpr std::string_view bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const std::string_view name = key.str();
  const bool is_bare = !name.empty() && name.find_first_not_of(bare) == std::string_view::npos;
  return fmt::format("{}{}{}", is_bare ? "" : "\"", name, is_bare ? "" : "\"");
}

// A table of the file, with the names of the tables that it lies in.
struct Section {
  std::string_view file_name;
  std::string path;
  const toml::table& table;

  std::unexpected<Error> BadKey(const toml::key& key, std::string_view reason) const {
    const auto line = key.source().begin.line;
    return Refuse(fmt::format("profile {}:{}: {}.{}: {}", file_name, line, path, Quoted(key), reason));
  }

  Result<Section> Below(const toml::key& key, const toml::node& node) const {
    const toml::table* below = node.as_table();
    if (below == nullptr) return BadKey(key, "expected a table");
    return Section{file_name, fmt::format("{}.{}", path, Quoted(key)), *below};
  }
};

Result<Entry> MakeEntry(Result<Where> where, const toml::node& node) {
  if (!where) return std::unexpected(std::move(where).error());
  const toml::value<std::string>* name = node.as_string();
  const auto access = name != nullptr ? FromName<Access>(name->get()) : std::nullopt;
  if (!access) return Refuse("expected \"read\", \"write\", \"deny\" or \"none\"");
  Entry entry{*std::move(where), *access};
  TRY_VOID(CheckEnforceable(entry));
  return entry;
}

// Reads the table `filesystem` of a profile.
class FilesReader {
 public:
  explicit FilesReader(std::string_view home) : home_(home) {}

  Result<Policy::Files> Read(const Section& section) {
    for (const auto& [key, node] : section.table) TRY_VOID(ReadKey(section, key, node));
    return std::move(files_);
  }

 private:
  Result<> ReadKey(const Section& section, const toml::key& key, const toml::node& node) {
    if (key.str() == "glob_scan_max_depth") return ReadDepth(section, key, node);
    if (node.is_table()) return ReadProject(section, key, node);
    return Add(section, key, MakeEntry(ParseKey(key.str(), home_), node));
  }

  Result<> ReadProject(const Section& section, const toml::key& key, const toml::node& node) {
    if (ParseKey(key.str(), home_) != Where(Place{PlaceKind::kProjectRoots})) {
      return section.BadKey(key, "only \":project_roots\" can be a table");
    }
    TRY(const Section project, section.Below(key, node));
    for (const auto& [subkey, value] : project.table) {
      TRY_VOID(Add(project, subkey, MakeEntry(ParseProjectKey(subkey.str()), value)));
    }
    return {};
  }

  Result<> ReadDepth(const Section& section, const toml::key& key, const toml::node& node) {
    const toml::value<int64_t>* depth = node.as_integer();
    if (depth == nullptr || depth->get() < 1) return section.BadKey(key, "expected a whole number of at least 1");
    files_.glob_scan_max_depth = static_cast<size_t>(depth->get());
    return {};
  }

  Result<> Add(const Section& section, const toml::key& key, Result<Entry> entry) {
    if (!entry) return section.BadKey(key, entry.error().message);
    if (files_.entries.size() == kMaxEntries) return section.BadKey(key, "too many entries in this profile");
    files_.entries.push_back(*std::move(entry));
    return {};
  }

  std::string_view home_;
  Policy::Files files_;
};

Result<Network> ReadNetwork(const Section& section) {
  Network network = Network::kRestricted;
  for (const auto& [key, node] : section.table) {
    if (key.str() != "enabled") return section.BadKey(key, "is not a known key");
    const toml::value<bool>* enabled = node.as_boolean();
    if (enabled == nullptr) return section.BadKey(key, "expected true or false");
    network = NetworkIf(enabled->get());
  }
  return network;
}

Result<Policy> ReadPolicy(const Section& section, std::string_view home) {
  Policy policy;
  for (const auto& [key, node] : section.table) {
    if (key.str() == "description") {
      if (!node.is_string()) return section.BadKey(key, "expected a string");
    } else if (key.str() == "filesystem") {
      TRY(const Section files, section.Below(key, node));
      TRY(policy.files, FilesReader(home).Read(files));
    } else if (key.str() == "network") {
      TRY(const Section network, section.Below(key, node));
      TRY(policy.network, ReadNetwork(network));
    } else {
      return section.BadKey(key, "is not a known key");
    }
  }
  return policy;
}

// Returns the member `name` of a table together with its key, because the key knows the line that it is in.
std::optional<std::pair<toml::key, const toml::node*>> Find(const toml::table& table, std::string_view name) {
  const auto found = table.find(name);
  if (found == table.end()) return std::nullopt;
  return std::pair(found->first, &found->second);
}

std::unexpected<Error> NoSuchProfile(std::string_view file_name, std::string_view name, const toml::table* profiles) {
  std::string others;
  if (profiles != nullptr) {
    for (const auto& [key, node] : *profiles)
      others.append(others.empty() ? "; its profiles are " : ", ").append(key.str());
  }
  return Refuse(fmt::format("profile {}: has no table permissions.{}{}", file_name, name, others));
}

}  // namespace

Result<Policy> ParseFileProfile(const TomlText& text, std::string_view name) {
  TRY(const toml::table file, ParseToml(text.toml, "profile", text.file_name));
  const toml::table* profiles = file["permissions"].as_table();
  const auto found = profiles != nullptr ? Find(*profiles, name) : std::nullopt;
  if (!found) return NoSuchProfile(text.file_name, name, profiles);
  const auto& [key, node] = *found;
  const Section permissions{text.file_name, "permissions", *profiles};
  TRY(const Section section, permissions.Below(key, *node));
  TRY(Policy policy, ReadPolicy(section, text.home));
  if (!policy.files) return permissions.BadKey(key, "has no table filesystem, so the command could not read any file");
  return policy;
}

Result<Policy> LoadProfile(const std::string& path, std::string_view name) {
  TRY(const std::string toml, ReadTomlFile(path));
  return ParseFileProfile({toml, path, EnvironmentVariable("HOME").value_or("")}, name);
}

Result<Features> ParseFeatures(std::string_view toml, std::string_view file_name) {
  TRY(const toml::table file, ParseToml(toml, "profile", file_name));
  Features features;
  const auto table = Find(file, "features");
  if (!table) return features;
  if (!table->second->is_table()) {
    return Refuse(
        fmt::format("profile {}:{}: features: expected a table", file_name, table->first.source().begin.line));
  }
  const Section section{file_name, "features", *table->second->as_table()};
  const auto found = Find(section.table, "use_legacy_landlock");
  if (!found) return features;
  const auto& [key, node] = *found;
  const toml::value<bool>* flag = node->as_boolean();
  if (flag == nullptr) return section.BadKey(key, "expected true or false");
  features.use_legacy_landlock = flag->get();
  return features;
}

Result<Features> LoadFeatures(const std::string& path) {
  TRY(const std::string toml, ReadTomlFile(path));
  return ParseFeatures(toml, path);
}

}  // namespace holdfast::sandbox
