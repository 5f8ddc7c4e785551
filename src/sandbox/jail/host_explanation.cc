#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parse_number.h"
#include "sandbox/jail/host_limits.h"

namespace holdfast::sandbox {
namespace {

struct KnownMessage {
  std::string_view text;
  RefusedStep step;
};

// The first text that a message contains decides. The texts are those of bubblewrap 0.4 to 0.11, some of which write "a
// new" and others "new".
constexpr std::array kKnownMessages = {
    KnownMessage{"(ENOSPC)", RefusedStep::kNamespaceLimit},
    KnownMessage{"No permissions to creat", RefusedStep::kNewNamespace},
    KnownMessage{"Creating new namespace failed", RefusedStep::kNewNamespace},
    KnownMessage{"must be installed setuid", RefusedStep::kNewNamespace},
    KnownMessage{"setting up uid map", RefusedStep::kIdMap},
    KnownMessage{"setting up gid map", RefusedStep::kIdMap},
    KnownMessage{"error writing to setgroups", RefusedStep::kIdMap},
    KnownMessage{"loopback: Failed", RefusedStep::kLoopback},
    KnownMessage{"Can't mount proc", RefusedStep::kMountProc},
    KnownMessage{"Failed to make / slave", RefusedStep::kMount},
    KnownMessage{"Failed to mount tmpfs", RefusedStep::kMount},
    KnownMessage{"Can't mount tmpfs", RefusedStep::kMount},
    KnownMessage{"Can't mount devpts", RefusedStep::kMount},
    KnownMessage{"Can't bind mount", RefusedStep::kMount},
    KnownMessage{"pivot_root", RefusedStep::kPivot},
    KnownMessage{"PR_SET_SECCOMP", RefusedStep::kFilter},
    KnownMessage{"Unknown option", RefusedStep::kOptions},
    KnownMessage{"Can't open /proc", RefusedStep::kSeeProc},
    KnownMessage{"Can't read /proc/sys/kernel/overflow", RefusedStep::kSeeProc},
};

// The settings by which a user makes a kind of container allow more.
struct Remedy {
  std::string_view container, allow_namespaces, uncover_proc;
};

constexpr std::array kRemedies = {
    Remedy{"docker", "run it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
           "Run it with --security-opt systempaths=unconfined"},
    Remedy{"podman", "run it with --security-opt seccomp=unconfined", "Run it with --security-opt unmask=ALL"},
    Remedy{"kubernetes", "set securityContext.seccompProfile.type to Unconfined",
           "Set securityContext.procMount to Unmasked"},
    Remedy{"lxc", "set security.nesting (or lxc.include nesting.conf)",
           "Set security.nesting (or lxc.include nesting.conf)"},
};

constexpr Remedy kOtherRemedy = {"", "let its system call filter allow namespaces and mounts",
                                 "Let it leave /proc as it is"};

const Remedy& RemedyFor(std::string_view container) {
  for (const Remedy& remedy : kRemedies) {
    if (remedy.container == container) return remedy;
  }
  return kOtherRemedy;
}

// Reads the first two numbers of a release such as "5.10.0-28-amd64". An unknown release counts as a recent one.
bool IsOlderThan(std::string_view release, unsigned major, unsigned minor) {
  const std::string_view first = release.substr(0, release.find('.'));
  std::string_view second = release.substr(std::min(release.size(), first.size() + 1));
  second = second.substr(0, second.find_first_not_of("0123456789"));
  const auto of_first = ParseNumber<unsigned>(first), of_second = ParseNumber<unsigned>(second);
  return of_first && of_second && std::pair(*of_first, *of_second) < std::pair(major, minor);
}

std::string Nested() { return "This process is in a sandbox itself, which allows no further one. Run it outside."; }

std::string AppArmorRestricts(std::string_view program) {
  return fmt::format(
      "AppArmor takes all rights from user namespaces of programs without a profile. Load a profile that has "
      "`userns,` for {}, or set kernel.apparmor_restrict_unprivileged_userns=0.",
      program);
}

std::string ContainerForbids(const HostFacts& facts) {
  return fmt::format("The container ({}) does not allow new namespaces or mounts. To allow them, {}.", facts.container,
                     RemedyFor(facts.container).allow_namespaces);
}

std::string ProfileForbids(const HostFacts& facts) {
  return fmt::format("The AppArmor profile {} of this process may forbid it. Run it unconfined.",
                     facts.apparmor_profile);
}

bool AppArmorApplies(const HostFacts& facts) {
  return facts.apparmor_restricts_userns.value_or(false) && !facts.has_sys_admin();
}

// Returns the fact that prevents all user namespaces, and its remedy; empty when there is none.
std::string AgainstNamespaces(const HostFacts& facts) {
  if (facts.wsl == Wsl::kWsl1) return "WSL 1 has no namespaces. Convert the distribution to WSL 2.";
  if (!facts.has_user_namespaces) {
    return "This kernel is built without user namespaces (CONFIG_USER_NS). Use another kernel.";
  }
  if (facts.in_our_sandbox) return Nested();
  if (facts.max_user_namespaces == 0u) {
    return "User namespaces are switched off. Set user.max_user_namespaces to more than 0, such as 15000.";
  }
  if (facts.unprivileged_userns_clone == false && !facts.has_sys_admin()) {
    return "User namespaces are for root only here. Set kernel.unprivileged_userns_clone=1.";
  }
  if (facts.chrooted) return "The kernel makes no user namespaces in a chroot. Use pivot_root instead of chroot.";
  return "";
}

std::string NewNamespace(const HostFacts& facts, std::string_view program) {
  if (std::string cause = AgainstNamespaces(facts); !cause.empty()) return cause;
  if (!facts.container.empty()) return ContainerForbids(facts);
  if (facts.seccomp_mode != 0) {
    return "This process was started under a system call filter that refuses new namespaces. Start it without the "
           "filter.";
  }
  if (AppArmorApplies(facts)) return AppArmorRestricts(program);
  if (!facts.apparmor_profile.empty()) return ProfileForbids(facts);
  return "The kernel refuses new user namespaces, and shows no reason. A security module may forbid them.";
}

std::string NamespaceLimit(const HostFacts& facts) {
  if (facts.max_user_namespaces == 0u) return AgainstNamespaces(facts);
  if (!facts.limits_of_none.empty()) {
    return fmt::format("Namespaces are switched off. Set {} to more than 0, such as 15000.",
                       fmt::join(facts.limits_of_none, ", "));
  }
  return "Namespaces are nested too deep, or one of /proc/sys/user/max_*_namespaces is used up. Raise that limit.";
}

// Explains why a user namespace was made, but gives no rights inside.
std::string NoRightsInside(const HostFacts& facts, std::string_view program) {
  if (AppArmorApplies(facts)) return AppArmorRestricts(program);
  if (facts.in_our_sandbox) return Nested();
  if (!facts.container.empty()) return ContainerForbids(facts);
  if (!facts.apparmor_profile.empty()) return ProfileForbids(facts);
  return "The kernel gives no rights in a new user namespace. A security module (AppArmor, SELinux) may take them.";
}

std::string MountProc(const HostFacts& facts) {
  if (!facts.container.empty()) {
    return fmt::format(
        "The container ({}) covers parts of /proc, so the kernel gives no fresh one. {}, or use --no-proc.",
        facts.container, RemedyFor(facts.container).uncover_proc);
  }
  if (facts.proc_is_covered) {
    return "Mounts cover parts of /proc, so the kernel gives no fresh one. Unmount them, or use --no-proc.";
  }
  return "The kernel gives no fresh /proc here. With --no-proc the sandbox does without.";
}

std::string UnknownCall(const HostFacts& facts) {
  if (IsOlderThan(facts.kernel_release, 5, 12)) {
    return "This kernel is older than 5.12, which the native backend needs. Use another kernel, or bubblewrap.";
  }
  if (facts.in_our_sandbox) return Nested();
  return fmt::format(
      "A filter hides system calls of the native backend (clone3, fsopen, mount_setattr). To allow them, {}.",
      facts.container.empty() ? "start this process without the filter" : RemedyFor(facts.container).allow_namespaces);
}

// A mount can also fail because of its path. The kernel's error is then another one than these two.
bool IsLackOfRights(std::string_view text) {
  return text.contains("Permission denied") || text.contains("Operation not permitted");
}

}  // namespace

std::string ExplainRefusal(const HostFacts& facts, RefusedStep step, std::string_view program) {
  switch (step) {
    case RefusedStep::kNewNamespace:
      return NewNamespace(facts, program);
    case RefusedStep::kNamespaceLimit:
      return NamespaceLimit(facts);
    case RefusedStep::kIdMap:
    case RefusedStep::kLoopback:
    case RefusedStep::kMount:
      return NoRightsInside(facts, program);
    case RefusedStep::kMountProc:
      return MountProc(facts);
    case RefusedStep::kPivot:
      return "The root directory cannot be replaced: it is the initial RAM disk, or a chroot. Boot from a file system "
             "of its own, or pivot_root to one.";
    case RefusedStep::kFilter:
      return "This kernel is built without system call filters (CONFIG_SECCOMP_FILTER). Use another kernel.";
    case RefusedStep::kOptions:
      return "This bubblewrap is too old. Update it, or take it off PATH: then the bundled one is used.";
    case RefusedStep::kSeeProc:
      return "There is no usable /proc here. Mount one, with `mount -t proc proc /proc`.";
    case RefusedStep::kWriteProc:
      return "/proc is read-only, so that no ids can be mapped. Mount it writable, with `mount -o remount,rw /proc`.";
    case RefusedStep::kUnknownCall:
      return UnknownCall(facts);
  }
  return "";
}

std::string ExplainFailure(const HostFacts& facts, std::string_view bubblewrap_text) {
  for (const auto& [text, step] : kKnownMessages) {
    if (!bubblewrap_text.contains(text)) continue;
    if (step == RefusedStep::kMount && !IsLackOfRights(bubblewrap_text)) return "";
    return ExplainRefusal(facts, step, "bwrap");
  }
  return "";
}

std::string ExplainFailure(std::string_view bubblewrap_text) {
  return ExplainFailure(GatherHostFacts(), bubblewrap_text);
}

}  // namespace holdfast::sandbox
