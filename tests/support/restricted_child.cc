#include "support/restricted_child.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/owned_fd.h"

namespace holdfast::support {
namespace {

bool WriteTo(const std::string& path, std::string_view text) {
  const OwnedFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.is_open() && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

bool EnterOwnNamespaces() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && WriteTo("/proc/self/setgroups", "deny") &&
         WriteTo("/proc/self/uid_map", fmt::format("0 {} 1", uid)) &&
         WriteTo("/proc/self/gid_map", fmt::format("0 {} 1", gid)) &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool SetNamespaceLimit(std::string_view name, std::string_view value) {
  return WriteTo(fmt::format("/proc/sys/user/{}", name), value);
}

bool RefuseCalls(const std::vector<std::pair<int, int>>& calls) {
  std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const auto& [call, error] : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog given = {.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &given) == 0;
}

bool CoverProc() { return ::mount("none", "/proc/fs", "tmpfs", 0, nullptr) == 0; }

bool MakeProcReadOnly() {
  return ::mount("/proc", "/proc", nullptr, MS_BIND, nullptr) == 0 &&
         ::mount(nullptr, "/proc", nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0;
}

bool EnterChroot(const char* directory) {
  const std::string root(directory);
  for (const std::string name : {"/proc", "/dev", "/usr"}) {
    (void)::mkdir((root + name).c_str(), 0755);  // it may be there from an earlier call
    if (::mount(name.c_str(), (root + name).c_str(), nullptr, MS_BIND | MS_REC, nullptr) < 0) return false;
  }
  for (const std::string name : {"/lib", "/lib64"}) (void)::symlink(("usr" + name).c_str(), (root + name).c_str());
  return ::chroot(directory) == 0 && ::chdir("/") == 0;
}

}  // namespace holdfast::support
