// Host facts are what the kernel shows about the limits of this machine for sandboxes. Together with the step at which
// a backend failed, or with an error message of bubblewrap, they explain the failure.
//
// The facts are hints. They explain a failure that has happened; only starting a sandbox shows whether it works.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::sandbox {

// The Windows Subsystem for Linux. WSL 1 imitates system calls and has no namespaces; WSL 2 has a Linux kernel like any
// other.
enum class Wsl { kNone, kWsl1, kWsl2 };

inline constexpr int kSeccompFilterMode = 2;  // the value of "Seccomp" in /proc/PID/status

struct HostFacts {
  std::string kernel_release;  // as uname returns it
  Wsl wsl = Wsl::kNone;
  std::string container;  // "docker", "podman", "kubernetes", "lxc" or systemd's name of it; empty: none was found

  bool has_user_namespaces = true;                     // the kernel is built with them
  std::optional<uint64_t> max_user_namespaces = {};    // user.max_user_namespaces
  std::vector<std::string> limits_of_none = {};        // the settings user.max_*_namespaces that are 0
  std::optional<bool> unprivileged_userns_clone = {};  // a switch of Debian's kernels
  bool apparmor = false;                               // AppArmor is enabled
  std::optional<bool> apparmor_restricts_userns = {};  // a switch of newer AppArmor
  std::string apparmor_profile = {};                   // the profile of this process; empty: unconfined
  bool chrooted = false;                               // the kernel makes no user namespace in a chroot
  bool proc_is_covered = false;                        // mounts hide parts of /proc

  uint64_t effective_capabilities = 0;
  bool no_new_privs = false;
  int seccomp_mode = 0;         // kSeccompFilterMode: this process is under a filter
  bool in_our_sandbox = false;  // this process is in a sandbox of holdfast, or in one that looks like it

  // Returns whether this process has CAP_SYS_ADMIN, which exempts it from most of the switches above.
  bool has_sys_admin() const { return ((effective_capabilities >> 21) & 1) != 0; }
};

// Recognizes WSL by the kernel's release or by the text of /proc/version.
Wsl WslOf(std::string_view kernel_text);

// Reads a dozen small files, which takes less than a millisecond. Tests pass another `root`; a file that is missing
// there counts as missing on the machine.
HostFacts GatherHostFacts(const std::string& root = "/");

// Fails under WSL 1, where starting bubblewrap makes no sense. It costs one call of uname.
Result<> CheckHost();
Result<> CheckHost(Wsl wsl);

// The steps of making a sandbox that a machine can refuse.
enum class RefusedStep {
  kNewNamespace,
  kNamespaceLimit,
  kIdMap,
  kLoopback,
  kMountProc,
  kMount,  // refused for a lack of rights
  kPivot,
  kFilter,
  kOptions,
  kSeeProc,
  kWriteProc,    // the files of /proc by which ids are mapped cannot be written
  kUnknownCall,  // the kernel, or a filter of system calls, does not know a call of the native backend
};

// Returns the cause and the remedy, in a sentence or two. `program` is the one that a profile of AppArmor is needed
// for.
std::string ExplainRefusal(const HostFacts& facts, RefusedStep step, std::string_view program);

// Returns the cause and the remedy, in a sentence or two, of a failure that bubblewrap described by `bubblewrap_text`
// on its standard error. Returns an empty text when the message is not known.
std::string ExplainFailure(const HostFacts& facts, std::string_view bubblewrap_text);
std::string ExplainFailure(std::string_view bubblewrap_text);

}  // namespace holdfast::sandbox
