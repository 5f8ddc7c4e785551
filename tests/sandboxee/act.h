// Acts are rows of tables. A row names the program of acts/ that does the act, the policy, and the expected refusal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::sandboxee {

enum class Policy {
  kReadOnly,
  kWorkspace,       // everything may be read, the workspace may be written
  kNetwork,         // the same, with a network
  kWide,            // the directory above the workspace may be written too
  kNested,          // the project lies in the workspace, two levels down; all of the workspace may be written
  kPointer,         // the project's .git is a file; it points into another root that may be written
  kNamed,           // the workspace may be written, and rules name the protected names in it
  kLinked,          // the project's .git is a link to a directory outside
  kLocked,          // a directory below the workspace may only be read
  kDenied,          // some files and directories, outside and inside, may not be read
  kDeniedMissing,   // the same for files that do not exist
  kDeniedPatterns,  // the same, by pattern
  kReopened,        // a directory may be written, below one that may not be read
  kMinimal,         // only what programs need may be read, and the workspace
  kAnyFile,         // every file may be written, but there is no network
  kRootWrite,       // the same by a rule about /, and other rules deny files and directories
  kProxy,           // no network but a proxy
  kProxyNoBinding,  // the same, and the command may not listen
};

// The conditions under which the act can be shown to work outside.
enum class Outside {
  kWorks,
  kNeedsRoot,          // the kernel allows it only to root
  kIfThere,            // not every kernel or machine has what the act uses
  kNeedsRootIfThere,   // both of these conditions
  kNeedsWholeMachine,  // also root of a container may not be allowed to do it
  kNeedsOrdinaryUser,  // root has the right already, inside and outside; the act is not tried as root
  kNothingThere,       // the target of the act exists inside only
};

// The descriptor of a file or directory of {out} that the act inherits.
enum class Passed { kNothing, kFileAs0, kFileAs3, kDirectoryAs0, kDirectoryAs3, kWritableFileAs3 };

// A system call as the filter sees it.
struct FilteredCall {
  uint32_t number;
  std::array<uint64_t, 4> arguments = {};
  std::string_view answer = "EPERM";
};

struct Act {
  std::string_view name;
  std::string_view words;  // the program and its arguments; {places} are filled in
  Policy policy = Policy::kWorkspace;
  std::string_view refusal = "EPERM EACCES EROFS";  // errnos, one of which is expected; a signal that kills the act; or
                                                    // HELPER: the helper refuses to run it
  Outside outside = Outside::kWorks;
  Passed passed = Passed::kNothing;
  std::optional<FilteredCall> call = {};  // a call that every filter refuses
};

// These acts are forbidden.
std::span<const Act> FileActs();
std::span<const Act> ProtectedPathActs();
std::span<const Act> DescriptorActs();
std::span<const Act> StandardInputActs();
std::span<const Act> DeviceActs();
std::span<const Act> SetIdActs();
std::span<const Act> ReadActs();
std::span<const Act> NetworkActs();
std::span<const Act> ProcessActs();
std::span<const Act> FirstProcessActs();
std::span<const Act> MountActs();
std::span<const Act> NamespaceActs();
std::span<const Act> KernelActs();
std::span<const Act> PrivilegeActs();
std::span<const Act> RootWriteActs();

// These acts must work inside as they do outside. They show that the others are not refused because nothing works at
// all.
std::span<const Act> AllowedActs();
std::span<const Act> AllowedRootWriteActs();

}  // namespace holdfast::sandboxee
