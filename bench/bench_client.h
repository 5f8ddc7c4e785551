// The tools of a benchmark of the real program: the server as a child process, an ordinary WebSocket client, and a
// flood of output that can be checked. The client blocks, reads frames in place and finds fields by text search in
// messages whose shape docs/PROTOCOL.md fixes, so that its own work hardly shows in the measured times.
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

// The parts of the URL that the server prints. Its path contains the secret.
struct ServerAddress {
  uint16_t port = 0;
  std::string path;
};

// A server process: the binary under test with its default settings, on a port that it chooses. The destructor ends it.
class Server {
 public:
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const ServerAddress& address() const { return address_; }

  // Waits until the server sleeps and has exactly `children` child processes. By then the work that follows its last
  // message is done too.
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

  // Sends one request. If the client sends one request at a time, the next message without a method is its answer.
  void Send(std::string_view method, std::string_view params);

  // Returns the next message, which stays valid until the next call. An error answer ends the program.
  std::string_view Receive();

  // Sends a request and returns its answer. Notifications before the answer are dropped.
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
  size_t begin_ = 0;  // buffer_[begin_, end_) is received and not yet returned
  size_t end_ = 0;
  int last_id_ = 0;
  std::string outgoing_;
};

// Returns the method of a message, which is empty if the message is an answer.
std::string_view Method(std::string_view message);

// Return the value of a member of a message: a string without escapes, or a whole number. If the message has no such
// member, the program ends.
std::string_view TextField(std::string_view message, std::string_view name);
int64_t NumberField(std::string_view message, std::string_view name);

// Writes `total` bytes of the flood to standard output, in blocks of 64 KiB; returns an exit code.
int WriteFlood(size_t total);

// Checks every byte of a flood without decoding it, because decoding would cost the client more than the server spends.
// Each chunk is compared with one of three prepared base64 texts, one for each position that the beginning of the chunk
// can have in a group of three bytes.
class FloodCheck {
 public:
  FloodCheck();

  // Checks `chunk`, which is the base64 of the bytes that follow those checked so far.
  void Check(std::string_view chunk);

  size_t bytes() const { return bytes_; }

 private:
  std::array<std::string, 3> texts_;
  size_t bytes_ = 0;
};

}  // namespace holdfast::bench
