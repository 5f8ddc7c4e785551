#include "sandbox/confine/port_ruleset.h"

#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "sandbox/confine/landlock.h"

namespace holdfast::sandbox {
namespace {

class Listening {
 public:
  Listening() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address_), size), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
    EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address_), &size), 0);
  }

  uint16_t port() const { return ntohs(address_.sin_port); }

  // Returns 0 or the errno.
  int Connect() const {
    const OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_) == 0 ? 0 : errno;
  }

 private:
  OwnedFd fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address_{};
};

// Returns the result of connecting in a process under the ruleset: 0 or the errno.
int ConnectUnder(int ruleset, const Listening& listening) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::_exit(EnterPortRuleset(ruleset) ? listening.Connect() : 255);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(PortRulesetTest, ShutsOnePortAndNoOther) {
  if (LandlockAbi() < 4) GTEST_SKIP() << "this kernel's Landlock knows no ports";
  const Listening server, other;
  const auto ruleset = MakePortRuleset(server.port());
  ASSERT_TRUE(ruleset) << ruleset.error().message;
  EXPECT_EQ(ConnectUnder(ruleset->get(), server), EACCES);
  EXPECT_EQ(ConnectUnder(ruleset->get(), other), 0);
  EXPECT_EQ(server.Connect(), 0);
}

}  // namespace
}  // namespace holdfast::sandbox
