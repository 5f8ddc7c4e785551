#include "sandbox/policy/permissions_table.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/toml.h"
#include "sandbox/policy/location.h"
#include "sandbox/policy/location_key.h"
#include "sandbox/policy/profile_spelling.h"

namespace holdfast::sandbox {
namespace {

std::unexpected<Error> Refuse(std::string_view reason) { return Fail(ErrorKind::kInvalidParams, std::string(reason)); }

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

  Result<Policy::Files> Read(const TomlSection& section) {
    for (const auto& [key, node] : section.table) TRY_VOID(ReadKey(section, key, node));
    return std::move(files_);
  }

 private:
  Result<> ReadKey(const TomlSection& section, const toml::key& key, const toml::node& node) {
    if (key.str() == "glob_scan_max_depth") return ReadDepth(section, key, node);
    if (node.is_table()) return ReadProject(section, key, node);
    return Add(section, key, MakeEntry(ParseKey(key.str(), home_), node));
  }

  Result<> ReadProject(const TomlSection& section, const toml::key& key, const toml::node& node) {
    if (ParseKey(key.str(), home_) != Where(Place{PlaceKind::kProjectRoots})) {
      return section.BadKey(key, "only \":project_roots\" can be a table");
    }
    TRY(const TomlSection project, section.Below(key, node));
    for (const auto& [subkey, value] : project.table) {
      TRY_VOID(Add(project, subkey, MakeEntry(ParseProjectKey(subkey.str()), value)));
    }
    return {};
  }

  Result<> ReadDepth(const TomlSection& section, const toml::key& key, const toml::node& node) {
    const toml::value<int64_t>* depth = node.as_integer();
    if (depth == nullptr || depth->get() < 1) return section.BadKey(key, "expected a whole number of at least 1");
    files_.glob_scan_max_depth = static_cast<size_t>(depth->get());
    return {};
  }

  Result<> Add(const TomlSection& section, const toml::key& key, Result<Entry> entry) {
    if (!entry) return section.BadKey(key, entry.error().message);
    if (files_.entries.size() == kMaxEntries) return section.BadKey(key, "too many entries in this profile");
    files_.entries.push_back(*std::move(entry));
    return {};
  }

  std::string_view home_;
  Policy::Files files_;
};

Result<Network> ReadNetwork(const TomlSection& section) {
  Network network = Network::kRestricted;
  for (const auto& [key, node] : section.table) {
    if (key.str() != "enabled") return section.BadKey(key, "is not a known key");
    const auto enabled = FlagIn(node);
    if (!enabled) return section.BadKey(key, enabled.error().message);
    network = NetworkIf(*enabled);
  }
  return network;
}

}  // namespace

Result<Policy> ReadPermissions(const TomlSection& section, std::string_view home) {
  Policy policy;
  for (const auto& [key, node] : section.table) {
    if (key.str() == "description") {
      if (!node.is_string()) return section.BadKey(key, "expected a string");
    } else if (key.str() == "filesystem") {
      TRY(const TomlSection files, section.Below(key, node));
      TRY(policy.files, FilesReader(home).Read(files));
    } else if (key.str() == "network") {
      TRY(const TomlSection network, section.Below(key, node));
      TRY(policy.network, ReadNetwork(network));
    } else {
      return section.BadKey(key, "is not a known key");
    }
  }
  return policy;
}

}  // namespace holdfast::sandbox
