#include "escalate/scripted_peer.h"

#include <poll.h>
#include <sys/socket.h>

#include <cstring>

#include <gtest/gtest.h>

#include "support/test_socket.h"
#include "sys/descriptor_passing.h"

namespace holdfast::escalate {
namespace {

bool AwaitReadable(int fd) {
  pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
  const bool came = ::poll(&ready, 1, static_cast<int>(support::kPatience.count())) > 0;
  EXPECT_TRUE(came) << "nothing came";
  return came;
}

}  // namespace

std::string ScriptedPeer::ReceiveBytes(size_t size) {
  std::string bytes;
  while (bytes.size() < size && AwaitReadable(fd())) {
    std::vector<char> buffer(size - bytes.size());
    sys::Arrival arrival = sys::TryReceive(fd(), buffer);
    if (arrival.size <= 0) break;
    for (sys::ForeignFd& came : arrival.fds) fds.push_back(std::move(came));
    bytes.append(buffer.data(), static_cast<size_t>(arrival.size));
  }
  return bytes;
}

std::string ScriptedPeer::Receive() {
  fds.clear();
  const std::string header = ReceiveBytes(4);
  if (header.size() < 4) return "END";
  size_t size = 0;
  for (int i = 3; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(header[static_cast<size_t>(i)]);
  return ReceiveBytes(size);
}

void ScriptedPeer::SendRaw(std::string_view bytes, const std::vector<int>& fds_to_pass) {
  while (!bytes.empty()) {
    pollfd room{.fd = fd(), .events = POLLOUT, .revents = 0};
    ASSERT_GT(::poll(&room, 1, static_cast<int>(support::kPatience.count())), 0);
    const auto sent = sys::SendWithDescriptors(fd(), bytes, fds_to_pass);
    ASSERT_TRUE(sent) << sent.error().message;
    if (*sent < bytes.size()) ASSERT_TRUE(fds_to_pass.empty()) << "the rest would carry them again";
    bytes.remove_prefix(*sent);
  }
}

void ScriptedPeer::Send(std::string_view text, const std::vector<int>& fds_to_pass) {
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>(text.size() >> shift & 0xff);
  SendRaw(frame.append(text), fds_to_pass);
}

ScriptedServer::ScriptedServer() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
  socket_ = OwnedFd(ends[0]);
  client_ = OwnedFd(ends[1]);
}

ScriptedPeer ScriptedServer::Accept() {
  char bytes[16] = {'x'};
  if (!AwaitReadable(socket_.get())) return ScriptedPeer(OwnedFd());
  sys::Arrival arrival = sys::TryReceive(socket_.get(), bytes);
  EXPECT_EQ(arrival.size, 1);
  EXPECT_EQ(bytes[0], '\0');
  EXPECT_EQ(arrival.fds.size(), 1u);
  return ScriptedPeer(arrival.fds.empty() ? sys::ForeignFd() : std::move(arrival.fds[0]));
}

ScriptedPeer ConnectAsWrapper(int client_socket) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  const OwnedFd theirs(ends[1]);
  const int passed = theirs.get();
  EXPECT_TRUE(sys::SendDescriptors(client_socket, {&passed, 1}));
  return ScriptedPeer(OwnedFd(ends[0]));
}

}  // namespace holdfast::escalate
