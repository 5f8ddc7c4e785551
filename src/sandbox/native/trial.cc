#include "sandbox/native/trial.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/native/mount_calls.h"
#include "sandbox/native/namespaces.h"
#include "sandbox/plan/program_names.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

// Does all steps inside of the namespaces. Returns the first that failed.
std::optional<NativeFailure> TryInside(const NativeNeeds& needs, const User& user) {
  constexpr uint64_t kAttributes = kReadOnly | kNoPrivileges | kNoDevices;
  int error = 0;
  const auto failed = [&error](const auto& result) { return (error = result ? 0 : result.error().errno_value) != 0; };
  if (failed(SettleIn(user))) return NativeFailure{NativeStep::kIdMaps, error};
  const OwnedFd root(::open("/", O_PATH | O_CLOEXEC));
  if (!root.is_open()) return NativeFailure{NativeStep::kCopyOfMounts, errno};
  if (failed(CloneMount(root.get(), Extent::kWhole, "/"))) return NativeFailure{NativeStep::kCopyOfMounts, error};
  if (failed(SetAttributes(root.get(), Extent::kWhole, kAttributes, "/"))) {
    return NativeFailure{NativeStep::kReadOnlyRoot, error};
  }
  const auto tmpfs = NewTmpfs(0700);
  if (failed(tmpfs)) return NativeFailure{NativeStep::kTmpfs, error};
  if (failed(NewFileSystem("devpts", {}, kAttributes))) return NativeFailure{NativeStep::kDevpts, error};
  if (needs.fresh_proc && failed(NewFileSystem("proc", {}, kAttributes))) {
    return NativeFailure{NativeStep::kProc, error};
  }
  if (failed(Attach(tmpfs->get(), root.get(), "/"))) return NativeFailure{NativeStep::kAttachment, error};
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
  const auto child = CloneInto(CLONE_NEWUSER | kOwnNamespaces | (needs.own_network ? CLONE_NEWNET : 0));
  if (!child) return WhyNotCloned(child.error().errno_value);
  if (child->pid == 0) AnswerInChild(needs, user, pipe->write_end.get());
  pipe->write_end.Reset();
  (void)sys::AwaitStatus(child->pid);
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
