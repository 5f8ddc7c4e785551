#include "sandbox/helper_command/server_access.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::sandbox {
namespace {

// Makes the Landlock calls of this process fail as on a kernel without Landlock.
bool TakeLandlockAway() {
  sock_filter lines[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {.len = 4, .filter = lines};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// A machine that cannot shut the port does not run the command with the port open.
TEST(ServerAccessTest, SaysWhatToDoWhereThePortCannotBeShut) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!TakeLandlockAway()) ::_exit(2);
    const auto ruleset = ServerAccess::OfOpenPort(4711).PortRuleset();
    ::_exit(!ruleset && ruleset.error().message.contains("--ws-auth url-secret") ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ServerAccessTest, HaveNoPortToShutUnlessOneIsOpen) {
  for (const ServerAccess& access : {ServerAccess(), ServerAccess::OfSecret("s"), ServerAccess::OfSocket("/run/s")}) {
    const auto ruleset = access.PortRuleset();
    ASSERT_TRUE(ruleset);
    EXPECT_EQ(*ruleset, nullptr);
  }
}

}  // namespace
}  // namespace holdfast::sandbox
