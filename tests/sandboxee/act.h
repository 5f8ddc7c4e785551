// Acts as rows of tables: which program of acts/ does it, under which policy, and how it is refused there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::sandboxee {

enum class Policy {
  kReadOnly,
  kWorkspace,       // everything may be read, the workspace written
  kNetwork,         // the same, with a network
  kWide,            // the directory above the workspace may be written too
  kNested,          // the project lies in the workspace, two levels down; all of the workspace may be written
  kPointer,         // the project's .git is a file; what it points at lies in another root that may be written
  kLinked,          // the project's .git is a link to a directory outside
  kLocked,          // a directory below the workspace may only be read
  kDenied,          // files and directories outside and inside that may not be read
  kDeniedMissing,   // the same, of what does not exist
  kDeniedPatterns,  // the same, by pattern
  kReopened,        // a directory that may be written below one that may not be read
  kMinimal,         // what programs need, and the workspace
  kAnyFile,         // every file may be written, but there is no network
  kRootWrite,       // the same by a rule about /, and other rules deny files and directories
  kProxy,           // no network but a proxy
  kProxyNoBinding,  // the same, and the command may not listen in it
};

// Whether the act can be shown to work outside.
enum class Outside {
  kWorks,
  kNeedsRoot,          // the kernel refuses it to anybody else
  kIfThere,            // not every kernel and machine has it
  kNeedsRootIfThere,   // both
  kNeedsWholeMachine,  // root of a container may not have it either
  kNeedsOrdinaryUser,  // root has it already, inside and outside: the whole act is left out
  kNothingThere,       // what is attacked exists inside only
};

// A descriptor of {out} that the act inherits.
enum class Passed { kNothing, kFileAs0, kFileAs3, kDirectoryAs0, kDirectoryAs3, kWritableFileAs3 };

// A call as the filter sees it.
struct FilteredCall {
  uint32_t number;
  std::array<uint64_t, 4> arguments = {};
  std::string_view answer = "EPERM";
};

struct Act {
  std::string_view name;
  std::string_view words;  // the program and its arguments; {places} are filled in
  Policy policy = Policy::kWorkspace;
  std::string_view refusal = "EPERM EACCES EROFS";  // any; a signal that ends it; or HELPER, which runs nothing
  Outside outside = Outside::kWorks;
  Passed passed = Passed::kNothing;
  std::optional<FilteredCall> call = {};  // what every filter refuses
};

// Forbidden.
std::span<const Act> FileActs();
std::span<const Act> ProtectedPathActs();
std::span<const Act> DescriptorActs();
std::span<const Act> StandardInputActs();
std::span<const Act> DeviceActs();
std::span<const Act> SetIdActs();
std::span<const Act> ReadActs();
std::span<const Act> NetworkActs();
std::span<const Act> ProcessActs();
std::span<const Act> MountActs();
std::span<const Act> NamespaceActs();
std::span<const Act> KernelActs();
std::span<const Act> PrivilegeActs();
std::span<const Act> RootWriteActs();

// What must work inside as it does outside, lest the others pass because nothing works.
std::span<const Act> AllowedActs();
std::span<const Act> AllowedRootWriteActs();

}  // namespace holdfast::sandboxee
