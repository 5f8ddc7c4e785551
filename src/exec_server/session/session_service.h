// The service behind the session/* methods.
#pragma once

#include "exec_server/session/attachment.h"
#include "exec_server/session/session_table.h"
#include "loop/byte_budget.h"
#include "loop/task.h"
#include "rpc/reply.h"
#include "wire/field_types.h"
#include "wire/shared_session_messages.h"

namespace holdfast::exec_server {

class SessionService {
 public:
  // `held` counts the memory of long answers.
  SessionService(SessionTable& sessions, loop::ByteBudget& held) : sessions_(sessions), held_(held) {}

  // Makes the caller the driver of its session when it has got all output that it was to get as an observer.
  void TakeOver(Attachment& caller, const wire::SessionParams& params, rpc::Reply<wire::SessionTakeOverResult> reply);
  void Keep(Attachment& caller, const wire::SessionKeepParams& params, rpc::Reply<wire::Empty> reply);
  // Lists all shared sessions and the private session of the caller. The id of a private session is the right to
  // resume it, so it is not shown to others.
  void List(Attachment& caller, const wire::SessionParams& params, rpc::Reply<wire::SessionListResult> reply);
  // Ends a session, and answers when nothing that it started is alive.
  void End(Attachment& caller, const wire::SessionEndParams& params, rpc::Reply<wire::Empty> reply);

 private:
  wire::SessionListResult Listed(Attachment& caller) const;
  size_t ExpectedBytes(Attachment& caller) const;
  Result<std::shared_ptr<Session>> Chosen(Attachment& caller, const wire::SessionEndParams& params) const;

  SessionTable& sessions_;
  loop::ByteBudget& held_;
};

}  // namespace holdfast::exec_server
