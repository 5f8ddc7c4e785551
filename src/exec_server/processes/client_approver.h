// The ClientApprover asks the client that drives a session about an execve that the rules leave to a person, by
// exec/approve. The command is denied if no client is connected, if it is too long, if the answer is an error or cannot
// be understood, and if none comes in time. If the connection is lost or another client takes the session over while a
// question is open, the next driver is asked. Observers are never asked.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "escalate/approver.h"
#include "exec_server/link/client_link.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/task.h"
#include "wire/exec_policy_messages.h"

namespace holdfast::exec_server {

class ClientApprover final : public escalate::Approver {
 public:
  // The session's way to its driver, and the event that is notified when it has changed. Both outlive the approver.
  struct Session {
    const ClientLink& link;
    loop::Event& driver_changed;
  };

  ClientApprover(loop::EventLoop& loop, const Session& session, std::string process_id,
                 std::chrono::milliseconds time_limit)
      : loop_(loop), session_(session), process_id_(std::move(process_id)), time_limit_(time_limit) {}

  loop::Task<escalate::Answer> Ask(escalate::Question question) override;

 private:
  wire::ExecApproveParams ParamsFor(escalate::Question question) const;

  loop::EventLoop& loop_;
  const Session session_;
  const std::string process_id_;
  const std::chrono::milliseconds time_limit_;
};

}  // namespace holdfast::exec_server
