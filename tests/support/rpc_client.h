// A well-behaved client of the exec-server for tests. It blocks and has no thread. It collects the output of each
// process, and checks that the events of a process come in the order of their sequence numbers, without a gap.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/channel.h"
#include "support/message.h"
#include "support/test_socket.h"

namespace holdfast::support {

// The params of process/start, with the usual values as defaults.
struct StartRequest {
  std::string id;
  std::vector<std::string> argv;
  bool tty = false, pipe_stdin = false;
  std::string cwd = "/";
  std::string more = {};  // further members: R"("arg0":"x")"

  std::string Params() const;
};

enum class Stdin { kNull, kPipe };

StartRequest Shell(std::string id, std::string script, Stdin input = Stdin::kNull);
StartRequest Terminal(std::string id, std::string script);
std::string IdParams(std::string_view process_id, std::string_view more = "");
std::string WriteParams(std::string_view process_id, std::string_view bytes, std::string_view more = "");

class RpcClient {
 public:
  explicit RpcClient(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}

  // These functions return a client that is connected and has done the handshake.
  static RpcClient Ready(std::string_view url, std::string_view more_params = "");
  static RpcClient Resumed(std::string_view url, std::string_view session_id);

  // `more_params` are further members of the params of initialize. Returns the answer, which may be a refusal.
  Message Initialize(std::string_view more_params = "");
  void Handshake(std::string_view more_params = "");  // expects success
  const std::string& session_id() const { return session_id_; }

  int64_t Send(std::string_view method, std::string_view params = "{}");  // returns the id
  Message Await(int64_t id, std::chrono::milliseconds timeout = kPatience);
  Message Call(std::string_view method, std::string_view params = "{}") { return Await(Send(method, params)); }
  void Notify(std::string_view method, std::string_view params = "{}");
  bool HasAnswer(int64_t id) const { return answers_.contains(id); }

  // Expects success.
  void Start(const StartRequest& request);
  void Write(std::string_view process_id, std::string_view bytes);  // expects that it is accepted
  void CloseStdin(std::string_view process_id);

  // Waits for a notification about a process: process/exited, process/closed, process/started or process/failed, but
  // not process/output. Each notification is returned once.
  Message WaitForNotification(std::string_view method, std::string_view process_id,
                              std::chrono::milliseconds timeout = kPatience);
  bool HasNotification(std::string_view method, std::string_view process_id) const;
  int64_t WaitForExit(std::string_view process_id);  // returns the exit code
  // Waits until the process is closed, and returns all of its output.
  std::string WaitForClosed(std::string_view process_id, std::chrono::milliseconds timeout = kPatience);
  // Waits until the output contains `text`, and returns the output so far.
  std::string WaitForOutput(std::string_view process_id, std::string_view text,
                            std::chrono::milliseconds timeout = kPatience);

  // Returns the output so far, in the order of the chunks, of one stream or of all.
  std::string Output(std::string_view process_id, std::string_view stream = "") const;
  size_t OutputBytes(std::string_view process_id) const;

  // Receives one message. Returns false when none came, or the connection has ended.
  bool Pump(std::chrono::milliseconds timeout);
  // Receives the messages that have arrived already, up to a bound, because some processes never stop writing. Then
  // forgets everything but the sequence numbers.
  void Drain();
  bool ended() const { return channel_->ended(); }
  bool WaitForEnd(std::chrono::milliseconds timeout = kPatience);
  void Disconnect() { channel_->Close(); }

  Channel& channel() { return *channel_; }

 private:
  struct Events {
    uint64_t next_seq = 1;                                        // 0: unknown until the next event
    std::map<std::string, std::string, std::less<>> output = {};  // by stream
    std::string all_output = {};
  };

  template <typename Condition>
  bool PumpUntil(Condition condition, std::chrono::milliseconds timeout);
  void Take(Message message);
  void TakeEvent(Message event);

  std::unique_ptr<Channel> channel_;
  std::string session_id_;
  uint64_t first_seq_ = 1;  // 0 for a resumed session, which may have missed events
  int64_t next_id_ = 1;
  std::map<int64_t, Message> answers_;
  std::deque<Message> notifications_;
  std::map<std::string, Events, std::less<>> events_;
};

}  // namespace holdfast::support
