// What a benchmark of the real program needs around it: the server as a child, an ordinary WebSocket client, and a
// flood of output that can be checked. The client blocks, reads frames in place and finds fields by text search in
// messages whose shape docs/PROTOCOL.md fixes, so that its own work hardly shows in what it measures.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"

namespace holdfast::bench {

// Ends the program unless `holds`: a benchmark that went wrong has no number to print.
void Require(bool holds, std::string_view reason);

// What the printed URL says: the secret stands in the path.
struct ServerAddress {
  uint16_t port = 0;
  std::string path;
};

// The binary under test with its default settings, on a port of its own choice. It ends with its owner.
class Server {
 public:
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const ServerAddress& address() const { return address_; }

  // Waits until the server sleeps and has exactly `children` of its own: what it does after its last message is done.
  void AwaitQuiet(size_t children) const;

  double CpuSeconds() const;
  double RssKib() const;

 private:
  pid_t pid_;
  ServerAddress address_;
};

class Client {
 public:
  // Connects and goes through the handshake.
  explicit Client(const ServerAddress& address);

  // Sends one request. Its answer is the next message without a method, if the client sends one at a time.
  void Send(std::string_view method, std::string_view params);

  // The next message; it stays valid until the next call. An error answer ends the program.
  std::string_view Receive();

  // Sends a request and passes over everything up to its answer.
  std::string_view Call(std::string_view method, std::string_view params);

 private:
  struct Frame {
    uint8_t opcode;
    std::string_view payload;
  };

  void Upgrade(const std::string& path);
  void SendFrame(uint8_t opcode, std::string_view payload);
  void SendAll(std::string_view bytes);
  std::optional<Frame> TakeFrame();
  void Fill();

  OwnedFd socket_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // buffer_[begin_, end_) is received and not yet taken
  size_t end_ = 0;
  int last_id_ = 0;
  std::string outgoing_;
};

// Empty for an answer.
std::string_view Method(std::string_view message);

// The value of a member that must be there: a string without escapes, or a whole number.
std::string_view TextField(std::string_view message, std::string_view name);
int64_t NumberField(std::string_view message, std::string_view name);

// Writes `total` bytes of the flood to standard output, in blocks of 64 KiB; returns an exit code.
int WriteFlood(size_t total);

// Checks every byte of a flood without decoding it, which would cost the client more than the server spends: a chunk is
// compared with one of three prepared texts, for the three ways in which it can lie to the groups of base64.
class FloodCheck {
 public:
  FloodCheck();

  // The base64 of what follows the bytes taken so far.
  void Take(std::string_view chunk);

  size_t bytes() const { return bytes_; }

 private:
  std::array<std::string, 3> texts_;
  size_t bytes_ = 0;
};

}  // namespace holdfast::bench
