// ask_server PORT WAY: asks a server on a port of the loopback for a WebSocket, as a client does; or only reaches it,
// by ways that are not connect(2) on a TCP socket.
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string_view>

#include "addresses.h"
#include "sandboxee.h"

namespace {

constexpr std::string_view kUpgrade =
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

// A client expects status 101.
int JudgeAnswer(int fd) {
  char answer[64] = {};
  const ssize_t size = ::recv(fd, answer, sizeof answer - 1, 0);
  if (size <= 0) return Refused(size < 0 ? errno : ECONNRESET);
  return std::string_view(answer).starts_with("HTTP/1.1 101 ") ? kDone : Refused(EACCES);
}

int Connect(const InetAddress& address, int protocol) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, protocol);
  if (fd < 0 || ::connect(fd, address.get(), address.size()) < 0) return Refused(errno);
  return ::send(fd, kUpgrade.data(), kUpgrade.size(), MSG_NOSIGNAL) < 0 ? Refused(errno) : JudgeAnswer(fd);
}

int SendAtOnce(const InetAddress& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::sendto(fd, kUpgrade.data(), kUpgrade.size(), MSG_FASTOPEN, address.get(), address.size()) < 0) {
    return Refused(errno);
  }
  return JudgeAnswer(fd);
}

int PutProtocolOnTop() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  constexpr char name[] = "smc";
  // A kernel without the module does not know the protocol. That answer shows that the call has reached the kernel.
  return JudgeReached(::setsockopt(fd, SOL_TCP, TCP_ULP, name, sizeof name - 1), ENOENT);
}

}  // namespace

int main(int, char** argv) {
  const InetAddress address(Number(argv, 1));
  const std::string_view way = Word(argv, 2);
  if (way == "tcp") return Connect(address, 0);
  if (way == "mptcp") return Connect(address, IPPROTO_MPTCP);
  if (way == "fast-open") return SendAtOnce(address);
  return way == "on-top" ? PutProtocolOnTop() : kNotTried;
}
