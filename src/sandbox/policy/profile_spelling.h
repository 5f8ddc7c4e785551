// The words of a profile for kinds, places, access and network, in JSON and in TOML.
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

// Where a word for a place may stand: as a kind in JSON, as a key behind a colon in TOML.
enum class Writing { kBoth, kJson, kToml };

struct PlaceWord {
  const char* word;
  PlaceKind kind;
  Writing writing = Writing::kBoth;
};

// Of several for one place, the first is the one that we write.
inline constexpr std::array<PlaceWord, 8> kPlaceWords{
    {{"root", PlaceKind::kRoot},
     {"minimal", PlaceKind::kMinimal},
     {"project_roots", PlaceKind::kProjectRoots},
     {"current_working_directory", PlaceKind::kProjectRoots, Writing::kJson},
     {"workspace_roots", PlaceKind::kProjectRoots, Writing::kToml},
     {"tmpdir", PlaceKind::kTmpDir},
     {"slash_tmp", PlaceKind::kSlashTmp},
     {"unknown", PlaceKind::kUnknown, Writing::kJson}}};

consteval auto PlacesInJson() {
  constexpr auto in_json = [](const PlaceWord& place) { return place.writing != Writing::kToml; };
  std::array<std::pair<const char*, PlaceKind>, std::ranges::count_if(kPlaceWords, in_json)> names{};
  size_t i = 0;
  for (const PlaceWord& place : kPlaceWords) {
    if (in_json(place)) names[i++] = {place.word, place.kind};
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
       {"none", sandbox::Access::kDeny}}};  // as clients before 0.142 spell it
};

template <>
struct EnumNames<sandbox::PlaceKind> {
  static constexpr auto kNames = sandbox::PlacesInJson();
};

// What is not skipped is protected, without a word for it.
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
std::optional<T> FromWord(std::string_view word) {
  for (const auto& [name, value] : wire::EnumNames<T>::kNames) {
    if (word == name) return value;
  }
  return std::nullopt;
}

// The first word for it.
template <wire::NamedEnum T>
std::string_view WordFor(T value) {
  for (const auto& [name, alternative] : wire::EnumNames<T>::kNames) {
    if (alternative == value) return name;
  }
  return {};
}

constexpr Network NetworkIf(bool enabled) { return enabled ? Network::kEnabled : Network::kRestricted; }

}  // namespace holdfast::sandbox
