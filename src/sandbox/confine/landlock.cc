#include "sandbox/confine/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sys/file_identity.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

// The newest ABI that is used. ABI 7 adds to ABI 6 only settings of the audit log. ABI 4 adds only TCP ports, which
// port_ruleset.h handles.
constexpr int kNewestAbi = 7;

// Rights and scopes that the headers of older systems do not name.
constexpr uint64_t kTruncate = 1ull << 14;            // ABI 3: truncate, ftruncate, and open with O_TRUNC
constexpr uint64_t kIoctlDevice = 1ull << 15;         // ABI 5: ioctl on a device that was opened under the rules
constexpr uint64_t kScopeAbstractSocket = 1ull << 0;  // ABI 6: abstract sockets of processes outside
constexpr uint64_t kScopeSignal = 1ull << 1;          // ABI 6: signals to processes outside

constexpr uint64_t kRights1 = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
constexpr uint64_t kReadRights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
// The rights that a rule about anything but a directory may have; the kernel refuses the others there.
constexpr uint64_t kFileRights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                 LANDLOCK_ACCESS_FS_READ_FILE | kTruncate | kIoctlDevice;

// This struct is the one of ABI 6. An older kernel knows fewer members, and accepts the others as long as they are
// zero.
struct RulesetAttributes {
  uint64_t handled_access_fs, handled_access_net, scoped;
};

uint64_t RightsOf(int abi) {
  uint64_t rights = kRights1;
  if (abi >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDevice;
  return rights;
}

uint64_t Meaning(LandlockRule::Rights rights) {
  switch (rights) {
    case LandlockRule::Rights::kRead:
      return kReadRights;
    case LandlockRule::Rights::kWrite:
      return ~uint64_t{0};
    case LandlockRule::Rights::kList:
      return LANDLOCK_ACCESS_FS_READ_DIR;
  }
  return 0;
}

uint64_t ScopesOf(int abi) { return abi < 6 ? 0 : kScopeAbstractSocket | kScopeSignal; }

// Returns 0 or an errno.
int AddRule(int ruleset, int fd, uint64_t rights) {
  const landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 ? 0 : errno;
}

Result<> AddPath(int ruleset, const LandlockRule& rule, uint64_t handled) {
  const sys::Links links = rule.identity ? sys::Links::kNone : sys::Links::kFollow;
  const int opened = sys::TryOpenAt(AT_FDCWD, rule.path, O_PATH, links);
  // A path that this process cannot reach needs no rule: the command has no more rights, and cannot reach it either.
  if (opened == -ENOENT || opened == -ENOTDIR || opened == -EACCES) return {};
  if (opened < 0) return FailErrno("open", rule.path, -opened);
  const OwnedFd fd(opened);
  struct stat status;
  if (::fstat(fd.get(), &status) < 0) return FailErrno("stat", rule.path);
  if (rule.identity && *rule.identity != sys::FileIdentity::Of(status)) {
    return Fail(ErrorKind::kNotFound, fmt::format("landlock {}: it has been replaced in the meantime", rule.path));
  }
  uint64_t rights = handled & Meaning(rule.rights);
  if (!S_ISDIR(status.st_mode)) rights &= kFileRights;
  const int error = rights == 0 ? 0 : AddRule(ruleset, fd.get(), rights);
  if (error != 0) return FailErrno("landlock_add_rule", rule.path, error);
  return {};
}

// Returns the rights to open the file behind a descriptor again; 0 for a kind of file that Landlock has no rules about.
uint64_t RightsBehind(int fd) {
  struct stat status;
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_PATH) != 0 || ::fstat(fd, &status) < 0) return 0;
  const bool device = S_ISCHR(status.st_mode);
  if (!device && !S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) return 0;
  uint64_t rights = device ? kIoctlDevice : 0;
  if ((flags & O_ACCMODE) != O_WRONLY) rights |= LANDLOCK_ACCESS_FS_READ_FILE;
  if ((flags & O_ACCMODE) != O_RDONLY) rights |= LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
  return rights;
}

Result<> AddDescriptor(int ruleset, int fd, uint64_t handled) {
  const uint64_t rights = RightsBehind(fd) & handled;
  const int error = rights == 0 ? 0 : AddRule(ruleset, fd, rights);
  // EBADFD means a pipe or a file in memory, which Landlock rules do not apply to.
  if (error == 0 || error == EBADFD) return {};
  return FailErrno("landlock_add_rule", fmt::format("descriptor {}", fd), error);
}

}  // namespace

int LandlockAbi() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return static_cast<int>(std::max(abi, 0l));
}

Result<int> Restrict(const LandlockOptions& options) {
  const int abi = std::min(LandlockAbi(), kNewestAbi);
  if (abi == 0) return 0;
  const RulesetAttributes attributes = {
      .handled_access_fs = options.rules.empty() ? 0 : RightsOf(abi), .handled_access_net = 0, .scoped = ScopesOf(abi)};
  if ((attributes.handled_access_fs | attributes.scoped) == 0) return abi;  // the kernel refuses an empty ruleset
  const OwnedFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!ruleset.is_open()) return FailErrno("landlock_create_ruleset");
  for (const LandlockRule& rule : options.rules) {
    TRY_VOID(AddPath(ruleset.get(), rule, attributes.handled_access_fs));
  }
  for (const int fd : options.passed_fds) {
    TRY_VOID(AddDescriptor(ruleset.get(), fd, attributes.handled_access_fs));
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return FailErrno("prctl", "no_new_privs");
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) < 0) return FailErrno("landlock_restrict_self");
  return abi;
}

}  // namespace holdfast::sandbox
