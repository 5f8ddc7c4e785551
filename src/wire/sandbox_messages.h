// What a request says about its sandbox: enough of the permission profile to tell whether one is asked for.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "wire/decode.h"

namespace holdfast::wire {

enum class PermissionsType { kManaged, kDisabled, kExternal };
template <>
struct EnumNames<PermissionsType> {
  static constexpr std::array<std::pair<const char*, PermissionsType>, 3> kNames{
      {{"managed", PermissionsType::kManaged},
       {"disabled", PermissionsType::kDisabled},
       {"external", PermissionsType::kExternal}}};
};

enum class FileSystemType { kRestricted, kUnrestricted };
template <>
struct EnumNames<FileSystemType> {
  static constexpr std::array<std::pair<const char*, FileSystemType>, 2> kNames{
      {{"restricted", FileSystemType::kRestricted}, {"unrestricted", FileSystemType::kUnrestricted}}};
};

enum class WindowsSandboxLevel { kDisabled, kRestrictedToken, kElevated };
template <>
struct EnumNames<WindowsSandboxLevel> {
  static constexpr std::array<std::pair<const char*, WindowsSandboxLevel>, 3> kNames{
      {{"disabled", WindowsSandboxLevel::kDisabled},
       {"restricted-token", WindowsSandboxLevel::kRestrictedToken},
       {"elevated", WindowsSandboxLevel::kElevated}}};
};

struct FileSystemPermissions {
  FileSystemType type = FileSystemType::kRestricted;

  void Fields(auto& f) { f.Required("type", type); }
};

struct Permissions {
  PermissionsType type = PermissionsType::kManaged;
  std::optional<FileSystemPermissions> file_system;

  void Fields(auto& f) {
    f.Required("type", type);
    f.Optional("file_system", file_system);
    if (type == PermissionsType::kManaged && !file_system) f.Fault("file_system", "is missing");
  }
};

struct Sandbox {
  Permissions permissions;
  WindowsSandboxLevel windows_sandbox_level = WindowsSandboxLevel::kDisabled;  // clients of every system must send it

  void Fields(auto& f) {
    f.Required("permissions", permissions);
    f.Required("windowsSandboxLevel", windows_sandbox_level);
  }

  // Disabled, external and unrestricted profiles leave file access as it is.
  bool restricts_files() const {
    return permissions.type == PermissionsType::kManaged &&
           permissions.file_system->type == FileSystemType::kRestricted;
  }
};

}  // namespace holdfast::wire
