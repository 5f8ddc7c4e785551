// The system calls that are refused whatever their arguments are, in sets with a name and a reason. The calls that are
// refused only with certain arguments have rules in seccomp_filter.cc.
#pragma once

#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::sandbox {

struct Syscall {
  std::string_view name;
  uint32_t number;
};

struct SyscallSet {
  std::string_view name;    // "io_uring", "keyrings", ...
  std::string_view reason;  // what the calls do that a command is not to do
  std::span<const Syscall> calls;
  int answer = EPERM;
};

std::span<const SyscallSet> RefusedAlways();
// These are refused in addition to commands, but not to our own code.
std::span<const SyscallSet> RefusedToCommands();
// These are refused in addition where the command has no network.
std::span<const SyscallSet> RefusedWithoutNetwork();
// These are refused in addition where the command reaches proxies but must not listen itself.
std::span<const SyscallSet> RefusedWithoutListening();
// These are refused in addition where namespaces, or also mounts, are missing around the command (StandsFor).
std::span<const SyscallSet> RefusedWithoutNamespaces();
std::span<const SyscallSet> RefusedWithoutMounts();

// The first number that belongs to kernels newer than these tables. Such calls fail with ENOSYS as on an older kernel,
// which programs are prepared for.
inline constexpr uint32_t kFirstUnknownSyscall = 470;

inline constexpr uint32_t kFchmodat2 = 452;  // the headers of older systems do not name this call

}  // namespace holdfast::sandbox
