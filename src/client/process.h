// A Process is the handle of a process on the server. Its events come in order, and they go on after a reconnect as if
// nothing had happened. The handle belongs to a session and stays valid when the ExecServerClient is gone; then it has
// no further events but Failed. Everything happens on the loop's thread, and every task may be cancelled by ending its
// scope.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/connect_options.h"
#include "client/event_stream.h"
#include "client/process_event.h"
#include "client/write_ledger.h"
#include "loop/event.h"
#include "loop/task.h"
#include "wire/process_control_messages.h"
#include "wire/process_messages.h"
#include "wire/process_start_messages.h"

namespace holdfast::client {

class Session;

enum class Stdin { kClosed, kOpen };

struct TerminalSize {
  uint16_t rows = 24, cols = 80;
};

struct StartOptions {
  std::vector<std::string> argv = {};
  std::string cwd = "/";
  wire::StringMap env = {};                        // the whole environment, unless there is a policy
  std::optional<wire::EnvPolicy> env_policy = {};  // what the server adds of its own environment
  std::optional<std::string> arg0 = {};
  // A command that is run exactly as it is given, in place of the five members above, which then stay as they are.
  // Servers that do not know prepared commands refuse the start.
  std::optional<wire::PreparedCommand> prepared = {};
  std::string process_id = {};                // chosen by the library if it is empty
  Stdin input = Stdin::kClosed;               // a terminal is always open for input
  std::optional<TerminalSize> terminal = {};  // without it, the streams are pipes
  std::string sandbox = {};                   // JSON of the `sandbox` member; empty: no sandbox
  // The rules by which each program that the process executes is judged. A start with rules has no time limit but that
  // of `call`, because a person may be asked about the command. Only for servers with the capability `execPolicy`.
  std::optional<wire::ExecPolicy> exec_policy = {};
  // The server ends the process at a limit, also without a client, and the exit has the cause. Only for servers that
  // announce the limit (capabilities.limits).
  wire::Limits limits = {};
  Backlog backlog = {};
  CallOptions call = {};
};

class Process : public std::enable_shared_from_this<Process> {
 public:
  // Made by ExecServerClient::Start and Attach.
  Process(std::shared_ptr<Session> session, std::string id, std::shared_ptr<EventStream> events, Stdin input);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const std::string& id() const { return id_; }
  // The exit, as soon as it is known, even if the events before it have not been taken.
  const std::optional<Exited>& exit() const { return events_->exit(); }

  // Waits for the next event. After the last one (Closed or Failed) it returns that one again.
  loop::Task<ProcessEvent> NextEvent();
  // The same with a limit; nothing when the time is over.
  loop::Task<std::optional<ProcessEvent>> NextEventWithin(std::chrono::milliseconds limit);
  // Tells `listener` each event at once, instead of queueing them: the fast path for much output. The listener lives
  // until the process is destroyed or gets another listener, which may be null.
  void Listen(EventListener* listener) { events_->Listen(listener); }

  // Reads retained output from the server, as process/read does. This does not affect the events.
  loop::Task<Result<wire::ProcessReadResult>> Read(wire::ProcessReadParams params);
  // Returns when the server has accepted the bytes. After a reconnect the write is sent again, and takes effect once.
  // Servers before 0.142 cannot recognize a repeated write; there the call fails with kDisconnected.
  loop::Task<Result<>> Write(std::string bytes);
  loop::Task<Result<>> CloseStdin();
  loop::Task<Result<>> Resize(TerminalSize size);
  loop::Task<Result<>> Signal(std::string name);  // such as "SIGTERM"; other servers know "interrupt" only
  // Kills the process, or asks it to end and kills it after the time. Returns whether it was running.
  loop::Task<Result<bool>> Terminate(std::optional<std::chrono::milliseconds> graceful = {});

  // Waits for the exit. It takes no events: a process whose output fills the backlog waits until another task does.
  loop::Task<Result<Exited>> Wait(std::optional<std::chrono::milliseconds> limit = {});
  // Writes `input`, closes standard input, and collects all output until the process is closed. When the time is over,
  // it fails with kTimeout, and the process goes on. Input that the process does not want is dropped; if it cannot be
  // written for another reason, the call fails.
  loop::Task<Result<Completed>> Communicate(std::string input, std::optional<std::chrono::milliseconds> limit = {});
  // Collects what comes within the window. It returns early when the process is closed, and may be called again.
  loop::Task<Result<Progress>> RunFor(std::chrono::milliseconds window);

 private:
  loop::Task<std::optional<ProcessEvent>> NextBefore(loop::Deadline& deadline);
  // These take the time that a write may last; without one it may last for as long as the process does.
  loop::Task<Result<>> WriteWithin(std::string bytes, std::optional<std::chrono::milliseconds> limit);
  loop::Task<Result<>> SendWrite(std::string chunk_base64, WriteLedger::Write write,
                                 std::optional<std::chrono::milliseconds> limit);
  // Writes the input and closes it. Feed also wakes Communicate.
  loop::Task<> Feed(std::string input, std::optional<std::chrono::milliseconds> limit, Result<>& outcome);
  loop::Task<Result<>> WriteAndClose(std::string input, std::optional<std::chrono::milliseconds> limit);
  void WakeWritesLater();

  const std::shared_ptr<Session> session_;
  const std::string id_;
  const std::shared_ptr<EventStream> events_;
  const Stdin input_;
  const std::string write_id_prefix_;
  WriteLedger writes_;
  loop::Event writes_changed_;
};

}  // namespace holdfast::client
