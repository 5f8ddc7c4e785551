// The system calls that are refused as a whole, by what they are about and with the reason. Calls that depend on their
// arguments are rules of seccomp_filter.cc.
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
// In addition, but not to our own code.
std::span<const SyscallSet> RefusedToCommands();
// In addition, where there is no network.
std::span<const SyscallSet> RefusedWithoutNetwork();
// In addition, where a network of proxies must not be listened on.
std::span<const SyscallSet> RefusedWithoutListening();
// In addition, where nothing but Landlock and the filter is around the command: see StandsFor.
std::span<const SyscallSet> RefusedWithoutNamespaces();
std::span<const SyscallSet> RefusedWithoutMounts();

// From here on the numbers belong to kernels newer than these tables. They are answered as by an older kernel, ENOSYS,
// which programs are prepared for.
inline constexpr uint32_t kFirstUnknownSyscall = 470;

inline constexpr uint32_t kFchmodat2 = 452;  // which the headers of older systems do not name

}  // namespace holdfast::sandbox
