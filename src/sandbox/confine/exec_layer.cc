#include "sandbox/confine/exec_layer.h"

#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "sandbox/confine/bpf_assembler.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

constexpr unsigned kWaitKillable = 1u << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
constexpr uint32_t kFirstX32 = 0x4000'0000, kFirstNegative = 0x8000'0000;

// A caller that a signal could interrupt would repeat its execve while the supervisor already acts on the first one.
// Hence there is no fallback without kWaitKillable.
Result<OwnedFd> InstallExecLayer() {
  const BpfProgram layer = MakeExecLayer();
  const sock_fprog image = {.len = static_cast<unsigned short>(layer.size()),
                            .filter = const_cast<sock_filter*>(layer.data())};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return FailErrno("prctl", "no_new_privs");
  constexpr unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | kWaitKillable;
  OwnedFd listener(static_cast<int>(::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &image)));
  if (!listener.is_open()) return Fail(ErrorKind::kSystem, WhyNoExecLayer(errno));
  return listener;
}

std::unexpected<Error> SupervisorHasEnded() {
  return Fail(ErrorKind::kSystem, "execve supervision: the supervisor has ended before it took the command over");
}

}  // namespace

BpfProgram MakeExecLayer() {
  using Test = BpfAssembler::Test;
  constexpr auto next = BpfAssembler::kNext;
  BpfAssembler code;
  const auto foreign = code.NewLabel(), unknown = code.NewLabel(), ask = code.NewLabel(), allow = code.NewLabel();
  code.Load(offsetof(seccomp_data, arch));
  code.Jump(Test::kEqual, AUDIT_ARCH_X86_64, next, foreign);
  code.Load(offsetof(seccomp_data, nr));
  code.JumpIfOneOf({__NR_execve, __NR_execveat}, ask, next);
  code.Jump(Test::kAtLeast, kFirstNegative, allow, next);
  code.Jump(Test::kAtLeast, kFirstX32, unknown, allow);
  code.Bind(ask);
  code.Return(SECCOMP_RET_USER_NOTIF);
  code.Bind(allow);
  code.Return(SECCOMP_RET_ALLOW);
  code.Bind(unknown);
  code.Return(SECCOMP_RET_ERRNO | ENOSYS);
  code.Bind(foreign);
  code.Return(SECCOMP_RET_KILL_PROCESS);
  return code.Finish();
}

std::string WhyNoExecLayer(int error) {
  switch (error) {
    case EBUSY:
      return "execve supervision: another program has a seccomp listener for this process already, and a process can "
             "have only one";
    case EINVAL:
      return "execve supervision: this kernel is too old; Linux 5.19 or later is needed";
    default:
      return ErrnoError("seccomp", "execve supervision", error).message;
  }
}

Result<> SubmitToSupervisor(OwnedFd supervisor) {
  TRY(OwnedFd listener, InstallExecLayer());
  if (!sys::SendDescriptors(supervisor.get(), std::array{listener.get()})) return SupervisorHasEnded();
  listener.Reset();
  char answer = 0;
  if (sys::Read(supervisor.get(), &answer, 1) != 1) return SupervisorHasEnded();
  supervisor.Reset();
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) return FailErrno("prctl", "dumpable");
  return {};
}

}  // namespace holdfast::sandbox
