// The names that profiles use, in JSON and in TOML, for types, places, access and network.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "sandbox/policy/policy.h"
#include "wire/field_types.h"

namespace holdfast::sandbox {

enum class ProfileType { kManaged, kDisabled, kExternal };
enum class FileSystemType { kRestricted, kUnrestricted };

// The format in which the name of a place may be used: JSON has it as a `kind`, TOML as a key behind a colon.
enum class ProfileFormat { kBoth, kJson, kToml };

struct PlaceName {
  const char* name;
  PlaceKind kind;
  ProfileFormat format = ProfileFormat::kBoth;
};

// A place with several names can be read by each of them, and is written by the first.
inline constexpr std::array<PlaceName, 8> kPlaceNames{
    {{"root", PlaceKind::kRoot},
     {"minimal", PlaceKind::kMinimal},
     {"project_roots", PlaceKind::kProjectRoots},
     {"current_working_directory", PlaceKind::kProjectRoots, ProfileFormat::kJson},
     {"workspace_roots", PlaceKind::kProjectRoots, ProfileFormat::kToml},
     {"tmpdir", PlaceKind::kTmpDir},
     {"slash_tmp", PlaceKind::kSlashTmp},
     {"unknown", PlaceKind::kUnknown, ProfileFormat::kJson}}};

consteval auto PlacesInJson() {
  constexpr auto in_json = [](const PlaceName& place) { return place.format != ProfileFormat::kToml; };
  std::array<std::pair<const char*, PlaceKind>, std::ranges::count_if(kPlaceNames, in_json)> names{};
  size_t i = 0;
  for (const PlaceName& place : kPlaceNames) {
    if (in_json(place)) names[i++] = {place.name, place.kind};
  }
  return names;
}

}  // namespace holdfast::sandbox

namespace holdfast::wire {

template <>
struct EnumNames<sandbox::ProfileType> {
  static constexpr std::array<std::pair<const char*, sandbox::ProfileType>, 3> kNames{
      {{"managed", sandbox::ProfileType::kManaged},
       {"disabled", sandbox::ProfileType::kDisabled},
       {"external", sandbox::ProfileType::kExternal}}};
};

template <>
struct EnumNames<sandbox::FileSystemType> {
  static constexpr std::array<std::pair<const char*, sandbox::FileSystemType>, 2> kNames{
      {{"restricted", sandbox::FileSystemType::kRestricted}, {"unrestricted", sandbox::FileSystemType::kUnrestricted}}};
};

template <>
struct EnumNames<sandbox::Access> {
  static constexpr std::array<std::pair<const char*, sandbox::Access>, 4> kNames{
      {{"read", sandbox::Access::kRead},
       {"write", sandbox::Access::kWrite},
       {"deny", sandbox::Access::kDeny},
       {"none", sandbox::Access::kDeny}}};  // the spelling of clients before 0.142
};

template <>
struct EnumNames<sandbox::PlaceKind> {
  static constexpr auto kNames = sandbox::PlacesInJson();
};

// kProtect has no name: it is what an entry without `missing_path_behavior` means.
template <>
struct EnumNames<sandbox::IfMissing> {
  static constexpr std::array<std::pair<const char*, sandbox::IfMissing>, 1> kNames{
      {{"skip", sandbox::IfMissing::kSkip}}};
};

template <>
struct EnumNames<sandbox::Network> {
  static constexpr std::array<std::pair<const char*, sandbox::Network>, 2> kNames{
      {{"restricted", sandbox::Network::kRestricted}, {"enabled", sandbox::Network::kEnabled}}};
};

}  // namespace holdfast::wire

namespace holdfast::sandbox {

template <wire::NamedEnum T>
std::optional<T> FromName(std::string_view text) {
  for (const auto& [name, value] : wire::EnumNames<T>::kNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

// Returns the first name of the value, or an empty text if it has none.
template <wire::NamedEnum T>
std::string_view NameFor(T value) {
  for (const auto& [name, alternative] : wire::EnumNames<T>::kNames) {
    if (alternative == value) return name;
  }
  return {};
}

constexpr Network NetworkIf(bool enabled) { return enabled ? Network::kEnabled : Network::kRestricted; }

}  // namespace holdfast::sandbox
