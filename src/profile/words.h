// The words of a profile for access and network, the same in JSON and in TOML.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "sandbox/policy.h"
#include "wire/field_types.h"

namespace holdfast::wire {

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
