#include "sandbox/own_image.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sandbox/flags.h"
#include "sandbox/jail/stage_image.h"
#include "sandbox/policy/permission_profile.h"
#include "sys/argv.h"
#include "sys/executable_image.h"
#include "sys/file_identity.h"
#include "sys/inherit.h"
#include "sys/io.h"
#include "sys/memory_file.h"

extern char** environ;

namespace holdfast::sandbox {
namespace {

constexpr const char* kOwnImage = "/proc/self/exe";

// The effective user is the one that counts: it is the only one that has a number inside of the sandbox.
bool MayChange(const struct stat& file) {
  return file.st_uid == ::geteuid() || ::faccessat(AT_FDCWD, kOwnImage, W_OK, AT_EACCESS) == 0;
}

// Returns whether `program` is on a read-only mount, and is the file that this process runs from on the same mount.
bool RunsFromReadOnlyMount(int program) {
  struct statx own, given;
  struct statvfs mount;
  return ::statx(AT_FDCWD, kOwnImage, 0, STATX_MNT_ID, &own) == 0 &&
         ::statx(program, "", AT_EMPTY_PATH, STATX_MNT_ID, &given) == 0 && own.stx_mnt_id == given.stx_mnt_id &&
         ::fstatvfs(program, &mount) == 0 && (mount.f_flag & ST_RDONLY) != 0;
}

Result<> CheckGiven(const struct stat& own, int program) {
  struct stat given;
  if (::fstat(program, &given) < 0) return FailErrno("fstat", fmt::format("descriptor {}", program));
  const bool is_safe = sys::IsSealed(program) || RunsFromReadOnlyMount(program);
  if (is_safe && sys::IsSameFile(own, given)) return {};
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("descriptor {} is not the program of this process, or a command could change it", program));
}

// Returns this program on a read-only mount that is attached nowhere.
Result<OwnedFd> OnReadOnlyMount() {
  OwnedFd mount(static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, kOwnImage, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)));
  if (!mount.is_open()) return FailErrno("open_tree", kOwnImage);
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  const long set = ::syscall(SYS_mount_setattr, mount.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes);
  if (set < 0) return FailErrno("mount_setattr", kOwnImage);
  return mount;
}

Result<OwnedFd> SealedCopy() {
  TRY(StageImage image, StageImage::Create(std::nullopt));
  TRY_VOID(image.Complete());
  return sys::Duplicate(image.fd());
}

// The descriptors of the program and of its profile, which it inherits.
struct Passed {
  OwnedFd program, profile;
};

Result<Passed> Prepare(const std::string& profile) {
  Passed passed;
  auto mount = OnReadOnlyMount();
  TRY(passed.program, mount ? std::move(mount) : SealedCopy());
  TRY(passed.profile, sys::MakeMemoryFile("profile", profile));
  TRY_VOID(sys::LetInherit(passed.program.get()));
  TRY_VOID(sys::LetInherit(passed.profile.get()));
  return passed;
}

// The descriptors of the command line became close-on-exec when they were read.
Result<> LetInheritAll(const SandboxedCommand& command) {
  for (const auto fd : {command.bubblewrap_fd, command.port_ruleset_fd, command.exec_supervisor_fd, command.kept_fd,
                        command.guarded.given_roots_fd}) {
    if (fd) TRY_VOID(sys::LetInherit(*fd));
  }
  return {};
}

}  // namespace

Result<> CheckOwnImage(std::optional<int> program) {
  struct stat own;
  if (::stat(kOwnImage, &own) < 0) return FailErrno("stat", kOwnImage);
  if (program) return CheckGiven(own, *program);
  if (!MayChange(own)) return {};
  return Fail(ErrorKind::kInvalidRequest, "the command could change the program of the helper");
}

Error ExecuteOutOfReach(SandboxedCommand command, std::string_view called_as) {
  const auto passed = Prepare(ProfileText(command.sandbox.profile));
  if (!passed) return passed.error();
  if (const auto inherited = LetInheritAll(command); !inherited) return inherited.error();
  command.guarded.program_directory = ProgramDirectory(command.guarded);
  command.profile.reset();
  command.profile_fd = passed->profile.get();
  command.program_fd = passed->program.get();
  std::vector<std::string> words = BuildFlags(command);
  words.insert(words.begin(), std::string(called_as));
  ::execveat(passed->program.get(), "", sys::Argv(words).data(), environ, AT_EMPTY_PATH);
  return ErrnoError("execveat", "the helper", errno);
}

}  // namespace holdfast::sandbox
