#include "sandbox/confine/exec_layer.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/confine/set_group_id.h"
#include "support/bpf_evaluator.h"
#include "support/exec_supervisor.h"

namespace holdfast::sandbox {
namespace {

using support::ExecSupervisor;
using testing::HasSubstr;

constexpr uint32_t kX32 = 0x4000'0000;

std::string ActionFor(uint32_t arch, uint32_t number) {
  const seccomp_data call = {.nr = static_cast<int>(number), .arch = arch, .instruction_pointer = 0, .args = {}};
  return support::ActionText(support::Evaluate(MakeExecLayer(), call).value_or(0));
}

TEST(ExecLayerTest, AsksAboutEveryExecveAndNothingElse) {
  const uint32_t ask =
      support::Evaluate(MakeExecLayer(),
                        {.nr = __NR_execve, .arch = AUDIT_ARCH_X86_64, .instruction_pointer = 0, .args = {}})
          .value_or(0);
  EXPECT_EQ(ask, SECCOMP_RET_USER_NOTIF);
  for (uint32_t number = 0; number < 600; ++number) {
    const bool executes = number == __NR_execve || number == __NR_execveat;
    EXPECT_EQ(ActionFor(AUDIT_ARCH_X86_64, number) == "allow", !executes) << number;
  }
  EXPECT_EQ(ActionFor(AUDIT_ARCH_X86_64, UINT32_MAX), "allow");  // a tracer skips a call by the number -1
}

// Both have an execve under another number, which would pass the filter.
TEST(ExecLayerTest, LeavesNoOtherAbi) {
  EXPECT_EQ(ActionFor(AUDIT_ARCH_I386, 11), "kill process");
  EXPECT_EQ(ActionFor(AUDIT_ARCH_X86_64, kX32 | 520), "ENOSYS");
  EXPECT_EQ(ActionFor(AUDIT_ARCH_X86_64, kX32 | __NR_execve), "ENOSYS");
}

TEST(ExecLayerTest, SaysWhyTheKernelRefuses) {
  EXPECT_THAT(WhyNoExecLayer(EINVAL), HasSubstr("Linux 5.19 or later is needed"));
  EXPECT_THAT(WhyNoExecLayer(EBUSY), HasSubstr("a process can have only one"));
  EXPECT_EQ(WhyNoExecLayer(EPERM), "seccomp execve supervision: Operation not permitted");
}

// A child that submits itself to the supervisor, and then acts.
class Submitted {
 public:
  Submitted(ExecSupervisor& supervisor, const std::function<void()>& prepare, const std::function<int()>& act)
      : child_(::fork()) {
    if (child_ == 0) RunInChild(supervisor, prepare, act);
    supervisor.helper_end().Reset();
  }
  Submitted(ExecSupervisor& supervisor, const std::function<int()>& act) : Submitted(supervisor, [] {}, act) {}

  int Status() const {
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  bool HasEnded() const { return ::waitpid(child_, nullptr, WNOHANG) == child_; }

  static constexpr int kRefused = 200;

 private:
  [[noreturn]] static void RunInChild(ExecSupervisor& supervisor, const std::function<void()>& prepare,
                                      const std::function<int()>& act) noexcept {
    supervisor.HangUp();
    prepare();
    ::_exit(SubmitToSupervisor(std::move(supervisor.helper_end())) ? act() : kRefused);
  }

  const pid_t child_;
};

int ExecuteTrue() {
  ::execl("/bin/true", "true", nullptr);
  return errno;
}

TEST(SubmitToSupervisorTest, TheSupervisorDecides) {
  ExecSupervisor supervisor;
  const Submitted child(supervisor, [] {
    if (ExecuteTrue() != EACCES) return 1;
    return ExecuteTrue();
  });
  ASSERT_TRUE(supervisor.ReceiveListener());
  supervisor.Confirm();
  EXPECT_EQ(supervisor.Refuse(EACCES), "/bin/true");
  EXPECT_EQ(supervisor.Continue(), "/bin/true");
  EXPECT_EQ(child.Status(), 0);
}

TEST(SubmitToSupervisorTest, NothingGoesOnWithoutAnAnswer) {
  ExecSupervisor supervisor;
  const Submitted child(supervisor, [] { return 0; });
  ASSERT_TRUE(supervisor.ReceiveListener());
  EXPECT_FALSE(child.HasEnded());
  supervisor.HangUp();
  EXPECT_EQ(child.Status(), Submitted::kRefused);
}

TEST(SubmitToSupervisorTest, FailsWithoutASupervisor) {
  ExecSupervisor supervisor;
  supervisor.HangUp();
  EXPECT_EQ(Submitted(supervisor, [] { return 0; }).Status(), Submitted::kRefused);
}

// The kernel gives a process one listener at most.
TEST(SubmitToSupervisorTest, FailsWhereAnotherListenerIs) {
  ExecSupervisor supervisor;
  const auto install_another = [] {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    auto listener = InstallCommandLayer();
    if (!listener || !listener->is_open()) ::_exit(1);
    (void)listener->Release();
  };
  const Submitted child(supervisor, install_another, [] { return 0; });
  EXPECT_FALSE(supervisor.ReceiveListener());
  EXPECT_EQ(child.Status(), Submitted::kRefused);
}

TEST(SubmitToSupervisorTest, LeavesTheProcessReadableAndWithoutNewPrivileges) {
  ExecSupervisor supervisor;
  const Submitted child(
      supervisor, [] { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); },
      [] {
        return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1 && ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 1;
      });
  ASSERT_TRUE(supervisor.ReceiveListener());
  supervisor.Confirm();
  EXPECT_EQ(child.Status(), 0);
}

}  // namespace
}  // namespace holdfast::sandbox
