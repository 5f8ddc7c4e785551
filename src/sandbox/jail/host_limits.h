// What this machine does not let a sandbox do, and why: facts that the kernel shows, and what bubblewrap's words mean
// in their light.
//
// Facts are hints. They explain a failure that has happened; whether a sandbox works is only known by starting one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::sandbox {

// Windows Subsystem for Linux: 1 imitates system calls and has no namespaces, 2 is a Linux kernel like any other.
enum class Wsl { kNone, kWsl1, kWsl2 };

inline constexpr int kSeccompFilterMode = 2;  // of /proc/PID/status

struct HostFacts {
  std::string kernel_release;  // as uname has it
  Wsl wsl = Wsl::kNone;
  std::string container;  // "docker", "podman", "kubernetes", "lxc" or what systemd calls it; empty: none is seen

  bool has_user_namespaces = true;                     // the kernel is built with them
  std::optional<uint64_t> max_user_namespaces = {};    // user.max_user_namespaces
  std::optional<bool> unprivileged_userns_clone = {};  // a switch of Debian's kernels
  bool apparmor = false;                               // the kernel asks it
  std::optional<bool> apparmor_restricts_userns = {};  // a switch of newer AppArmor
  std::string apparmor_profile = {};                   // of this process; empty: unconfined
  bool chrooted = false;                               // the kernel gives no user namespace in a chroot
  bool proc_is_covered = false;                        // mounts hide parts of /proc

  uint64_t effective_capabilities = 0;
  bool no_new_privs = false;
  int seccomp_mode = 0;         // kSeccompFilterMode: a filter holds for this process
  bool in_our_sandbox = false;  // or one that is made like it

  // CAP_SYS_ADMIN, for which most of the switches above do not hold.
  bool has_sys_admin() const { return ((effective_capabilities >> 21) & 1) != 0; }
};

// By the kernel's release, or the text of /proc/version.
Wsl WslOf(std::string_view kernel_text);

// A dozen small files, below a millisecond. `root` is for tests; what is missing there is as on a machine without it.
HostFacts GatherHostFacts(const std::string& root = "/");

// Whether it makes sense to start bubblewrap at all: not under WSL 1. Costs one uname.
Result<> CheckHost();
Result<> CheckHost(Wsl wsl);

// Cause and remedy, in a sentence or two, of what bubblewrap said on standard error. Empty when its words are not
// known.
std::string Explain(const HostFacts& facts, std::string_view bubblewrap_text);
std::string Explain(std::string_view bubblewrap_text);

}  // namespace holdfast::sandbox
