#include "sandbox/native/trial.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/native/namespaces.h"
#include "sandbox/plan/program_names.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

int ErrorOf(long result) { return result < 0 ? errno : 0; }

int WriteFile(const char* path, std::string_view text) {
  const OwnedFd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return errno;
  return ErrorOf(::write(file.get(), text.data(), text.size()));
}

// The ids are those of the parent. A process that is not dumpable does not own the files of its maps: a helper that was
// executed from a file which the user cannot read is such a process.
int MapIds(const User& user) {
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  if (const int error = WriteFile("/proc/self/setgroups", "deny"); error != 0) return error;
  if (const int error = WriteFile("/proc/self/uid_map", fmt::format("{0} {0} 1", user.uid)); error != 0) return error;
  return WriteFile("/proc/self/gid_map", fmt::format("{0} {0} 1", user.gid));
}

int MakeRootReadOnly() {
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  attributes.propagation = MS_PRIVATE;
  return ErrorOf(::syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof attributes));
}

int CopyMounts() {
  const OwnedFd copy(
      static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)));
  return copy.is_open() ? 0 : errno;
}

// Makes a file system, and the mount of it in `mount`.
int MakeMount(const char* type, OwnedFd& mount) {
  const OwnedFd context(static_cast<int>(::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC)));
  if (!context.is_open()) return errno;
  if (::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) < 0) return errno;
  mount = OwnedFd(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC,
                                             MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)));
  return mount.is_open() ? 0 : errno;
}

int MakeMount(const char* type) {
  OwnedFd mount;
  return MakeMount(type, mount);
}

int Attach(const OwnedFd& mount) {
  return ErrorOf(::syscall(SYS_move_mount, mount.get(), "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH));
}

// Does all steps inside of the namespaces. Returns the first that failed.
std::optional<NativeFailure> TryInside(const NativeNeeds& needs, const User& user) {
  OwnedFd tmpfs;
  int error = 0;
  const auto failed = [&error](int result) { return (error = result) != 0; };
  if (failed(MapIds(user))) return NativeFailure{NativeStep::kIdMaps, error};
  if (failed(CopyMounts())) return NativeFailure{NativeStep::kCopyOfMounts, error};
  if (failed(MakeRootReadOnly())) return NativeFailure{NativeStep::kReadOnlyRoot, error};
  if (failed(MakeMount("tmpfs", tmpfs))) return NativeFailure{NativeStep::kTmpfs, error};
  if (failed(MakeMount("devpts"))) return NativeFailure{NativeStep::kDevpts, error};
  if (needs.fresh_proc && failed(MakeMount("proc"))) return NativeFailure{NativeStep::kProc, error};
  if (failed(Attach(tmpfs))) return NativeFailure{NativeStep::kAttachment, error};
  return std::nullopt;
}

// The answer of the child: the step and its errno, or an errno of 0 when every step has worked.
struct Answer {
  NativeStep step = NativeStep::kNamespaces;
  int error = 0;
};

[[noreturn]] void AnswerInChild(const NativeNeeds& needs, const User& user, int answer_to) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Answer answer;
  if (const auto failure = TryInside(needs, user)) answer = {failure->step, failure->error};
  (void)sys::Write(answer_to, &answer, sizeof answer);  // a parent that has ended needs no answer
  ::_exit(0);
}

// A shortage passes, and a hostile process can cause it. It shows nothing about the machine.
bool IsShortage(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE || error == EINTR;
}

// Asks by another call whether user namespaces are refused. A filter that allows no namespaces often answers ENOSYS to
// clone3, because it cannot see the flags of that call.
bool UnshareIsRefused() {
  auto in_child = [] { return ::unshare(CLONE_NEWUSER) < 0 && errno == EPERM ? 1 : 0; };
  const auto child = sys::Spawn(sys::Sharing::kNothing, in_child);
  return child && sys::ExitStatusOf(sys::AwaitStatus(*child)) == 1;
}

std::optional<NativeFailure> WhyNotCloned(int error) {
  if (IsShortage(error)) return std::nullopt;
  return NativeFailure{
      .step = NativeStep::kNamespaces, .error = error, .refused_by_unshare = error == ENOSYS && UnshareIsRefused()};
}

std::string_view CallOf(NativeStep step) {
  switch (step) {
    case NativeStep::kNamespaces:
      return "clone3";
    case NativeStep::kIdMaps:
      return "write the maps of ids in /proc/self";
    case NativeStep::kReadOnlyRoot:
      return "mount_setattr /";
    case NativeStep::kCopyOfMounts:
      return "open_tree /";
    case NativeStep::kTmpfs:
      return "mount a tmpfs";
    case NativeStep::kDevpts:
      return "mount a devpts";
    case NativeStep::kProc:
      return "mount a fresh /proc";
    case NativeStep::kAttachment:
      return "move_mount /";
  }
  return "";
}

RefusedStep RefusalOf(const NativeFailure& failure) {
  if (failure.refused_by_unshare) return RefusedStep::kNewNamespace;
  if (failure.error == ENOSYS) return RefusedStep::kUnknownCall;
  switch (failure.step) {
    case NativeStep::kNamespaces:
      return failure.error == ENOSPC ? RefusedStep::kNamespaceLimit : RefusedStep::kNewNamespace;
    case NativeStep::kIdMaps:
      if (failure.error == EROFS) return RefusedStep::kWriteProc;
      return failure.error == ENOENT ? RefusedStep::kSeeProc : RefusedStep::kIdMap;
    case NativeStep::kProc:
      return RefusedStep::kMountProc;
    default:
      return RefusedStep::kMount;
  }
}

}  // namespace

NativeNeeds NeedsOf(const NamespacePlan& plan) {
  const auto is_proc = [](const Mount& mount) { return std::holds_alternative<FreshProc>(mount); };
  return {.own_network = plan.own_network, .fresh_proc = std::ranges::any_of(plan.mounts, is_proc)};
}

std::optional<NativeFailure> TryNative(const NativeNeeds& needs) {
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  if (!pipe) return std::nullopt;
  const User user = User::OfThisProcess();
  clone_args arguments = {};
  arguments.flags = CLONE_NEWUSER | kOwnNamespaces | (needs.own_network ? CLONE_NEWNET : 0);
  arguments.exit_signal = SIGCHLD;
  const long child = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child < 0) return WhyNotCloned(errno);
  if (child == 0) AnswerInChild(needs, user, pipe->write_end.get());
  pipe->write_end.Reset();
  (void)sys::AwaitStatus(static_cast<pid_t>(child));
  Answer answer;
  const bool answered = sys::Read(pipe->read_end.get(), &answer, sizeof answer) == sizeof answer;
  if (!answered || answer.error == 0 || IsShortage(answer.error)) return std::nullopt;
  return NativeFailure{.step = answer.step, .error = answer.error};
}

std::string Text(const NativeFailure& failure) {
  return fmt::format("{}: {}", CallOf(failure.step), ErrnoText(failure.error));
}

std::string Explain(const HostFacts& facts, const NativeFailure& failure) {
  return ExplainRefusal(facts, RefusalOf(failure), kProgramName);
}

}  // namespace holdfast::sandbox
