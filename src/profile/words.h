// The words of a profile for kinds, access and network, the same in JSON and in TOML.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "sandbox/policy.h"
#include "wire/field_types.h"

namespace holdfast::profile {

enum class ProfileType { kManaged, kDisabled, kExternal };
enum class FileSystemType { kRestricted, kUnrestricted };

}  // namespace holdfast::profile

namespace holdfast::wire {

template <>
struct EnumNames<profile::ProfileType> {
  static constexpr std::array<std::pair<const char*, profile::ProfileType>, 3> kNames{
      {{"managed", profile::ProfileType::kManaged},
       {"disabled", profile::ProfileType::kDisabled},
       {"external", profile::ProfileType::kExternal}}};
};

template <>
struct EnumNames<profile::FileSystemType> {
  static constexpr std::array<std::pair<const char*, profile::FileSystemType>, 2> kNames{
      {{"restricted", profile::FileSystemType::kRestricted}, {"unrestricted", profile::FileSystemType::kUnrestricted}}};
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
struct EnumNames<sandbox::Network> {
  static constexpr std::array<std::pair<const char*, sandbox::Network>, 2> kNames{
      {{"restricted", sandbox::Network::kRestricted}, {"enabled", sandbox::Network::kEnabled}}};
};

}  // namespace holdfast::wire

namespace holdfast::profile {

template <wire::NamedEnum T>
std::optional<T> FromWord(std::string_view word) {
  for (const auto& [name, value] : wire::EnumNames<T>::kNames) {
    if (word == name) return value;
  }
  return std::nullopt;
}

constexpr sandbox::Network NetworkIf(bool enabled) {
  return enabled ? sandbox::Network::kEnabled : sandbox::Network::kRestricted;
}

}  // namespace holdfast::profile
