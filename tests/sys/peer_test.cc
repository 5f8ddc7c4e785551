#include "sys/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/eventually.h"

namespace holdfast::sys {
namespace {

constexpr uid_t kNobody = 65534;

struct Listening {
  OwnedFd fd;
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&address); }
};

Listening Listen(int family) {
  Listening listening{.fd = OwnedFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_storage any{};
  any.ss_family = static_cast<sa_family_t>(family);
  socklen_t size = sizeof(sa_family_t);  // with this size the kernel chooses an abstract name for a unix socket
  if (family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(any).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof(sockaddr_in);
  } else if (family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(any).sin6_addr = in6addr_loopback;
    size = sizeof(sockaddr_in6);
  }
  EXPECT_EQ(::bind(listening.fd.get(), reinterpret_cast<sockaddr*>(&any), size), 0);
  EXPECT_EQ(::listen(listening.fd.get(), 8), 0);
  EXPECT_EQ(::getsockname(listening.fd.get(), listening.get(), &listening.size), 0);
  return listening;
}

OwnedFd ConnectTo(Listening& listening) {
  OwnedFd fd(::socket(listening.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), listening.get(), listening.size) == 0 ? std::move(fd) : OwnedFd();
}

OwnedFd Accept(const Listening& listening) { return OwnedFd(::accept(listening.fd.get(), nullptr, nullptr)); }

// A process that connects and stays until it is killed.
class Neighbour {
 public:
  Neighbour(Listening& listening, const std::function<bool()>& prepare) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    if (!prepare()) ::_exit(1);
    // After unshare only a child is in the other pid namespace.
    if (const pid_t inner = ::fork(); inner != 0) {
      ::waitpid(inner, nullptr, 0);
      ::_exit(0);
    }
    const OwnedFd connected = ConnectTo(listening);
    ::pause();
  }
  ~Neighbour() {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  pid_t pid_;
};

bool LeadGroup() { return ::setpgid(0, 0) == 0; }

TEST(PeerTest, WorksOnThisMachine) {
  const auto works = TryUserOfTcpPeer();
  EXPECT_TRUE(works) << works.error().message;
}

TEST(PeerTest, KnowsTheUserOfATcpPeer) {
  for (const int family : {AF_INET, AF_INET6}) {
    Listening listening = Listen(family);
    const OwnedFd client = ConnectTo(listening), accepted = Accept(listening);
    EXPECT_EQ(UserOfTcpPeer(accepted.get()), ::geteuid()) << family;
  }
}

TEST(PeerTest, KnowsATcpPeerOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  Listening listening = Listen(AF_INET);
  const Neighbour other(listening, [] { return LeadGroup() && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0; });
  const OwnedFd accepted = Accept(listening);
  EXPECT_EQ(UserOfTcpPeer(accepted.get()), kNobody);
}

TEST(PeerTest, KnowsNoUserOfATcpPeerThatIsGone) {
  Listening listening = Listen(AF_INET);
  OwnedFd client = ConnectTo(listening);
  const OwnedFd accepted = Accept(listening);
  const linger reset{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  client.Reset();
  EXPECT_FALSE(UserOfTcpPeer(accepted.get()));
}

TEST(PeerTest, SeesAUnixPeerInTheSameNamespace) {
  Listening listening = Listen(AF_UNIX);
  const OwnedFd client = ConnectTo(listening), accepted = Accept(listening);
  EXPECT_EQ(NamespaceOfUnixPeer(accepted.get()), PidNamespace::kOurs);
  EXPECT_EQ(NamespaceOfUnixPeer(client.get()), PidNamespace::kOurs);
}

TEST(PeerTest, SeesAUnixPeerInANamespaceBelow) {
  Listening listening = Listen(AF_UNIX);
  const Neighbour below(listening, [] { return LeadGroup() && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0; });
  const OwnedFd accepted = Accept(listening);
  EXPECT_EQ(NamespaceOfUnixPeer(accepted.get()), PidNamespace::kBelow);
}

// A sandboxed command could connect, pass the socket to another process, and end.
TEST(PeerTest, DoesNotTellOfAUnixPeerThatHasEnded) {
  Listening listening = Listen(AF_UNIX);
  OwnedFd accepted;
  {
    const Neighbour ended(listening, LeadGroup);
    accepted = Accept(listening);
  }
  EXPECT_TRUE(support::Eventually([&] { return !NamespaceOfUnixPeer(accepted.get()); }));
}

}  // namespace
}  // namespace holdfast::sys
