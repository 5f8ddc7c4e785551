#include "sandbox/helper_command/server_access.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "support/restricted_child.h"

namespace holdfast::sandbox {
namespace {

// A machine that cannot shut the port, such as one whose kernel has no Landlock, does not run the command with the port
// open.
TEST(ServerAccessTest, SaysWhatToDoWhereThePortCannotBeShut) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!support::RefuseCalls({{SYS_landlock_create_ruleset, ENOSYS}})) ::_exit(2);
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
