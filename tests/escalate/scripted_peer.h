// The two ends of the wrapper protocol as tests play them, without the code of the product that is at the other end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "sys/foreign_fd.h"

namespace holdfast::escalate {

// One end of the stream of one wrapper. Every wait has a deadline, after which the test fails.
class ScriptedPeer {
 public:
  explicit ScriptedPeer(sys::ForeignFd socket) : socket_(std::move(socket)) {}

  // Returns the text of the next frame and keeps its descriptors in `fds`. At the end of the stream the text is "END".
  std::string Receive();
  void Send(std::string_view text, const std::vector<int>& fds_to_pass = {});
  void SendRaw(std::string_view bytes, const std::vector<int>& fds_to_pass = {});
  void Close() { socket_.Reset(); }

  int fd() const { return socket_.get(); }

  std::vector<sys::ForeignFd> fds;

 private:
  std::string ReceiveBytes(size_t size);

  sys::ForeignFd socket_;
};

// The server's end of the datagram socket.
class ScriptedServer {
 public:
  ScriptedServer();

  // Waits for the datagram of one wrapper, and checks it.
  ScriptedPeer Accept();

  int client_socket() const { return client_.get(); }
  int socket() const { return socket_.get(); }

 private:
  OwnedFd socket_, client_;
};

// Connects to a server as a wrapper does.
ScriptedPeer ConnectAsWrapper(int client_socket);

}  // namespace holdfast::escalate
