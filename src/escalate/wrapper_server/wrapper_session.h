// A WrapperSession is the conversation with one execve wrapper, from its request to its end. The peer is not trusted:
// anything that is not the next message of the protocol ends the session, and with it the command outside.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "escalate/approver.h"
#include "escalate/messages/frame.h"
#include "escalate/messages/messages.h"
#include "escalate/outside/outside_command.h"
#include "escalate/wrapper_server/options.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/worker_pool.h"
#include "sys/foreign_fd.h"

namespace holdfast::escalate {

// The parts that all sessions of a WrapperServer share. They outlive the sessions.
struct SessionSurroundings {
  loop::EventLoop& loop;
  loop::WorkerPool& workers;
  Approver& approver;
  const WrapperServerOptions& options;
  size_t held_bytes = 0;  // of the requests of all sessions
  size_t held_fds = 0;    // descriptors of hand-overs that are not complete, of all sessions
};

class WrapperSession final : OutsideObserver {
 public:
  // `on_over` destroys the session.
  WrapperSession(SessionSurroundings& surroundings, sys::ForeignFd socket, std::move_only_function<void()> on_over);
  ~WrapperSession() override;

 private:
  enum class State { kRequest, kDeciding, kHandOver, kRunning };
  // Whether the session still exists after a message.
  enum class Life { kGoesOn, kOver };

  void OnReadable();
  Result<> Count(size_t bytes, size_t fds);
  void ForgetFds();
  Life OnFrame(Frame frame);
  Life OnRequest(std::string_view text);
  Life OnHandOver(Frame frame);
  Life SendExitCode(int exit_code);

  loop::Task<> Decide();
  loop::Task<> Ask(Question question);
  Life Answer(exec_policy::Action action, const std::string& reason);
  Life Send(std::string_view text);
  Life Refuse(const Error& error);
  Life End();

  void OnStopped(int, unsigned) override {}
  void OnEnded(const Ending& ending) override;

  SessionSurroundings& surroundings_;
  std::move_only_function<void()> on_over_;
  sys::ForeignFd socket_;
  State state_ = State::kRequest;
  FrameReader reader_;
  size_t counted_bytes_ = 0;  // the part of surroundings_.held_bytes that is due to this session
  size_t counted_fds_ = 0;    // likewise of surroundings_.held_fds
  OutsideOrder order_;        // the command, from the request on; its directory and environment from the decision on
  std::vector<std::string> caller_environment_;
  std::optional<std::vector<PassedFd>> streams_;  // of the caller when a person was asked; absent if nobody was
  std::unique_ptr<OutsideCommand> command_;
  loop::FdWatch watch_;
  loop::Scope scope_;
};

}  // namespace holdfast::escalate
