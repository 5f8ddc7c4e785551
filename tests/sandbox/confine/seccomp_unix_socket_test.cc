// A command without a network can use pairs of unix sockets, and reaches no socket outside.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/confine/filtered_child.h"
#include "sandbox/confine/seccomp_filter.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

struct Pair {
  OwnedFd ours, theirs;
};

// Returns closed ends when the call is refused.
Pair MakePair(int type) {
  int fds[2] = {-1, -1};
  (void)::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

struct Address {
  // An abstract name begins with '@'.
  explicit Address(const std::string& name)
      : size(static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())) {
    std::memcpy(value.sun_path, name.data(), name.size());
    if (name.starts_with('@')) value.sun_path[0] = '\0';
  }

  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&value); }

  sockaddr_un value = {.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t size;
};

using Act = std::function<int(const Address&)>;  // 0, or the errno

// HostSocket is a socket of the host. It is bound, and listens if its type can.
class HostSocket {
 public:
  HostSocket(int type, const Address& address) : type_(type), fd_(::socket(AF_UNIX, type | SOCK_NONBLOCK, 0)) {
    EXPECT_EQ(::bind(fd_.get(), address.generic(), address.size), 0) << std::strerror(errno);
    if (type != SOCK_DGRAM) EXPECT_EQ(::listen(fd_.get(), 5), 0);
  }

  bool WasReached() {
    char byte;
    if (type_ == SOCK_DGRAM) return ::recv(fd_.get(), &byte, 1, 0) >= 0;
    const OwnedFd connection(::accept(fd_.get(), nullptr, nullptr));
    return connection.is_open();
  }

 private:
  int type_;
  OwnedFd fd_;
};

msghdr Message(const Address* address, iovec* data) {
  msghdr message = {};
  message.msg_iov = data;
  message.msg_iovlen = 1;
  if (address != nullptr) {
    message.msg_name = const_cast<sockaddr_un*>(&address->value);
    message.msg_namelen = address->size;
  }
  return message;
}

int SendMsg(int fd, const Address& to) {
  if (fd < 0) return errno;
  char byte = 'x';
  iovec data = {&byte, 1};
  const msghdr message = Message(&to, &data);
  return ErrnoOf(::sendmsg(fd, &message, MSG_NOSIGNAL));
}

int SendMmsg(int fd, const Address& to) {
  if (fd < 0) return errno;
  char byte = 'x';
  iovec data = {&byte, 1};
  mmsghdr message = {.msg_hdr = Message(&to, &data), .msg_len = 0};
  return ErrnoOf(::sendmmsg(fd, &message, 1, MSG_NOSIGNAL));
}

int SendTo(int fd, const Address& to) {
  if (fd < 0) return errno;
  return ErrnoOf(::sendto(fd, "x", 1, MSG_NOSIGNAL, to.generic(), to.size));
}

int ConnectAndSend(int fd, const Address& to) {
  if (fd < 0) return errno;
  if (::connect(fd, to.generic(), to.size) < 0) return errno;
  return ErrnoOf(::send(fd, "x", 1, MSG_NOSIGNAL));
}

struct Attempt {
  const char* name;
  int host_type;
  Act act;
};

void PrintTo(const Attempt& attempt, std::ostream* out) { *out << attempt.name; }

Act OnSocket(int type, int (*act)(int, const Address&)) {
  return [=](const Address& to) { return act(OwnedFd(::socket(AF_UNIX, type, 0)).get(), to); };
}

Act OnPair(int type, int (*act)(int, const Address&)) {
  return [=](const Address& to) {
    const Pair pair = MakePair(type);
    return act(pair.ours.get(), to);
  };
}

const Attempt kAttempts[] = {
    {"StreamConnect", SOCK_STREAM, OnSocket(SOCK_STREAM, ConnectAndSend)},
    {"PacketConnect", SOCK_SEQPACKET, OnSocket(SOCK_SEQPACKET, ConnectAndSend)},
    {"DatagramConnect", SOCK_DGRAM, OnSocket(SOCK_DGRAM, ConnectAndSend)},
    {"DatagramSendTo", SOCK_DGRAM, OnSocket(SOCK_DGRAM, SendTo)},
    {"DatagramSendMsg", SOCK_DGRAM, OnSocket(SOCK_DGRAM, SendMsg)},
    {"DatagramSendMmsg", SOCK_DGRAM, OnSocket(SOCK_DGRAM, SendMmsg)},
    {"RawSendTo", SOCK_DGRAM, OnSocket(SOCK_RAW, SendTo)},
    {"RawSendMsg", SOCK_DGRAM, OnSocket(SOCK_RAW, SendMsg)},
    {"DatagramPairConnect", SOCK_DGRAM, OnPair(SOCK_DGRAM, ConnectAndSend)},
    {"DatagramPairSendTo", SOCK_DGRAM, OnPair(SOCK_DGRAM, SendTo)},
    {"DatagramPairSendMsg", SOCK_DGRAM, OnPair(SOCK_DGRAM, SendMsg)},
    {"RawPairSendMsg", SOCK_DGRAM, OnPair(SOCK_RAW, SendMsg)},
};

class HostSocketTest : public testing::TestWithParam<Attempt> {
 protected:
  void ExpectOnlyReachedWithoutFilter(const std::string& name) {
    const Address address(name);
    HostSocket host(GetParam().host_type, address);
    const auto act = [&] { return GetParam().act(address); };
    EXPECT_EQ(InChild(Filter::kRestrictedNetwork, act), EPERM);
    EXPECT_EQ(InChild(Filter::kProxyOnly, act), EPERM);
    EXPECT_FALSE(host.WasReached());
    EXPECT_EQ(InChild(kNoFilter, act), 0);
    EXPECT_TRUE(host.WasReached());
    EXPECT_EQ(InChild(Filter::kOpenNetwork, act), 0);
    EXPECT_TRUE(host.WasReached());
  }

  support::ScratchDir dir_;
};

INSTANTIATE_TEST_SUITE_P(By, HostSocketTest, testing::ValuesIn(kAttempts),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(HostSocketTest, IsOutOfReachByPath) { ExpectOnlyReachedWithoutFilter(dir_.path() + "/host"); }

TEST_P(HostSocketTest, IsOutOfReachByAbstractName) {
  ExpectOnlyReachedWithoutFilter(fmt::format("@holdfast-test-{}-{}", ::getpid(), GetParam().name));
}

// The filter relies on what these tests show: it allows these types, and cannot see the address of a sendmsg.
class UnixStreamTest : public testing::TestWithParam<int> {
 protected:
  support::ScratchDir dir_;
  Address address_{dir_.path() + "/host"};
};

INSTANTIATE_TEST_SUITE_P(Types, UnixStreamTest, testing::Values(SOCK_STREAM, SOCK_SEQPACKET),
                         [](const auto& test) { return test.param == SOCK_STREAM ? "Stream" : "Packets"; });

TEST_P(UnixStreamTest, SendsToNobodyButItsPeer) {
  for (int host_type : {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM}) {
    const support::ScratchDir dir;
    const Address address(dir.path() + "/host");
    HostSocket host(host_type, address);
    for (auto* act : {SendMsg, SendMmsg}) {
      EXPECT_NE(InChild(Filter::kRestrictedNetwork, [&] { return OnSocket(GetParam(), act)(address); }), 0);
      (void)InChild(Filter::kRestrictedNetwork, [&] { return OnPair(GetParam(), act)(address); });
      EXPECT_FALSE(host.WasReached());
    }
  }
}

// A command behind a proxy may call connect, bind and listen, which are meant for inet sockets. The kernel refuses them
// for a socket of a pair, also when the other end is closed.
TEST_P(UnixStreamTest, OfAPairReachesNobodyElseBehindAProxy) {
  HostSocket host(GetParam(), address_);
  for (auto* act : {SendMsg, SendMmsg, SendTo, ConnectAndSend}) {
    (void)InChild(Filter::kProxyOnly, [&] { return OnPair(GetParam(), act)(address_); });
    (void)InChild(Filter::kProxyOnly, [&] {
      const OwnedFd alone = std::move(MakePair(GetParam()).ours);
      return act(alone.get(), address_);
    });
    EXPECT_FALSE(host.WasReached());
  }
  const auto connect = [](int fd, const Address& to) { return ErrnoOf(::connect(fd, to.generic(), to.size)); };
  EXPECT_EQ(InChild(Filter::kProxyOnly, [&] { return OnPair(GetParam(), connect)(address_); }), EISCONN);
}

TEST_P(UnixStreamTest, OfAPairCannotServeBehindAProxy) {
  const auto serve = [](int fd, const Address& at) {
    if (::bind(fd, at.generic(), at.size) < 0) return 100;
    return ErrnoOf(::listen(fd, 1));
  };
  EXPECT_EQ(InChild(Filter::kProxyOnly, [&] { return OnPair(GetParam(), serve)(address_); }), EINVAL);
}

int Serve(const Address& address, int type) {
  const OwnedFd fd(::socket(AF_UNIX, type, 0));
  if (!fd.is_open()) return 100;
  if (::bind(fd.get(), address.generic(), address.size) == 0 || errno != EPERM) return 101;
  if (::listen(fd.get(), 1) == 0 || errno != EPERM) return 102;
  if (::accept(fd.get(), nullptr, nullptr) == 0 || errno != EPERM) return 103;
  if (::accept4(fd.get(), nullptr, nullptr, 0) == 0 || errno != EPERM) return 104;
  return 0;
}

TEST_P(UnixStreamTest, CannotServe) {
  EXPECT_EQ(InChild(Filter::kRestrictedNetwork, [&] { return Serve(address_, GetParam()); }), 0);
}

// Sends the descriptor together with a byte.
int PassFd(int over, int fd) {
  char byte = 'x';
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = Message(nullptr, &data);
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  *header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
  return ErrnoOf(::sendmsg(over, &message, 0));
}

int UsePair(int type) {
  const Pair pair = MakePair(type);
  char bytes[4];
  iovec data = {bytes, sizeof(bytes)};
  msghdr message = Message(nullptr, &data);
  mmsghdr messages = {.msg_hdr = message, .msg_len = 0};
  sockaddr_un address;
  socklen_t size = sizeof(address);
  int value = 0;
  socklen_t value_size = sizeof(value);
  const auto generic = reinterpret_cast<sockaddr*>(&address);
  if (::send(pair.ours.get(), "a", 1, 0) != 1 || ::recv(pair.theirs.get(), bytes, 4, 0) != 1) return 1;
  if (PassFd(pair.ours.get(), 0) != 0 || ::recvmsg(pair.theirs.get(), &message, 0) != 1) return 2;
  if (::write(pair.theirs.get(), "b", 1) != 1 || ::recvfrom(pair.ours.get(), bytes, 4, 0, nullptr, nullptr) != 1)
    return 3;
  if (::write(pair.theirs.get(), "c", 1) != 1 || ::recvmmsg(pair.ours.get(), &messages, 1, 0, nullptr) != 1) return 4;
  if (::getsockopt(pair.ours.get(), SOL_SOCKET, SO_TYPE, &value, &value_size) != 0 || value != type) return 5;
  if (::setsockopt(pair.ours.get(), SOL_SOCKET, SO_SNDBUF, &value, value_size) != 0) return 6;
  if (::getpeername(pair.ours.get(), generic, &size) != 0 || address.sun_family != AF_UNIX) return 7;
  if (::getsockname(pair.ours.get(), generic, &size) != 0) return 8;
  if (::shutdown(pair.ours.get(), SHUT_WR) != 0 || ::read(pair.theirs.get(), bytes, 4) != 0) return 9;
  return 0;
}

TEST_P(UnixStreamTest, PairWorksFully) {
  EXPECT_EQ(InChild(Filter::kRestrictedNetwork, [&] { return UsePair(GetParam()); }), 0);
}

TEST_P(UnixStreamTest, CanBeAskedForItsOptions) {
  const auto ask = [&] {
    const OwnedFd fd(::socket(AF_UNIX, GetParam() | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int type = 0;
    socklen_t size = sizeof(type);
    return ErrnoOf(::getsockopt(fd.get(), SOL_SOCKET, SO_TYPE, &type, &size));
  };
  EXPECT_EQ(InChild(Filter::kRestrictedNetwork, ask), 0);
}

// On a socket that the command was given, the filter sees the address of sendto and the call of connect, but not the
// address of sendmsg.
TEST(GivenDatagramSocketTest, IsStoppedWhereTheFilterCanSee) {
  const support::ScratchDir dir;
  const Address address(dir.path() + "/host");
  HostSocket host(SOCK_DGRAM, address);
  const OwnedFd given(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (auto* act : {SendTo, ConnectAndSend}) {
    EXPECT_EQ(InChild(Filter::kRestrictedNetwork, [&] { return act(given.get(), address); }), EPERM);
    EXPECT_FALSE(host.WasReached());
    EXPECT_EQ(InChild(kNoFilter, [&] { return act(given.get(), address); }), 0);
    EXPECT_TRUE(host.WasReached());
  }
}

}  // namespace
}  // namespace holdfast::sandbox
