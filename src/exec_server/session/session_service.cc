#include "exec_server/session/session_service.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "exec_server/session/sharing.h"
#include "rpc/answer_within.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kMaxListed = 10'000;  // processes of all sessions; with the longest arguments they have some 50 MiB

constexpr size_t kSessionBytes = 300;  // about the length of the description of a session without its processes

Error UnknownSession(const std::string& name) {
  return {ErrorKind::kInvalidRequest, fmt::format("unknown session {}", name)};
}

loop::Task<> TakeOverWhenCaughtUp(Attachment& caller, rpc::Reply<wire::SessionTakeOverResult> reply) {
  while (caller.observer() != nullptr && !caller.observer()->CatchUp()) co_await caller.drained().Next();
  LogInfo("session.taken_over", {{"session", caller.session().id()}, {"client", *caller.client().name}});
  reply({wire::SessionRole::kDriver});
  caller.session().TakeOver(caller);
}

wire::ListedSession Describe(const Session& session) {
  using std::chrono::milliseconds;
  wire::ListedSession listed;
  listed.session_id = session.id();
  listed.session_name = session.name();
  listed.shared = session.shared();
  listed.connections = session.connections();
  if (const Attachment* driver = session.driver()) listed.driver = *driver->client().name;
  listed.created_at_ms = std::chrono::duration_cast<milliseconds>(session.created_at().time_since_epoch()).count();
  if (const auto ttl = session.detached_ttl()) listed.detached_ttl_ms = static_cast<uint64_t>(ttl->count());
  return listed;
}

bool IsShown(const Session& session, Attachment& caller) { return session.shared() || &session == &caller.session(); }

}  // namespace

void SessionService::TakeOver(Attachment& caller, const wire::SessionParams&,
                              rpc::Reply<wire::SessionTakeOverResult> reply) {
  caller.Start(TakeOverWhenCaughtUp(caller, std::move(reply)));
}

void SessionService::Keep(Attachment& caller, const wire::SessionKeepParams& params, rpc::Reply<wire::Empty> reply) {
  if (!caller.session().shared()) return reply.Fail({ErrorKind::kInvalidRequest, "the session is not shared"});
  caller.session().Keep(ToTtl(params.detached_ttl_ms));
  reply(wire::Empty{});
}

wire::SessionListResult SessionService::Listed(Attachment& caller) const {
  wire::SessionListResult result;
  size_t left = kMaxListed;
  for (const auto& session : sessions_.all()) {
    if (!IsShown(*session, caller)) continue;
    wire::ListedSession& listed = result.sessions.emplace_back(Describe(*session));
    if (session.get() == &caller.session()) listed.role = caller.role();
    for (const auto& [id, process] : session->processes().by_name()) {
      if (left == 0) {
        result.truncated = true;
        break;
      }
      listed.processes.push_back(process->Describe());
      --left;
    }
  }
  return result;
}

size_t SessionService::ExpectedBytes(Attachment& caller) const {
  size_t bytes = 0;
  size_t left = kMaxListed;
  for (const auto& session : sessions_.all()) {
    if (!IsShown(*session, caller)) continue;
    bytes += kSessionBytes + session->processes().DescribedBytes(left);
    left -= std::min(left, session->processes().by_name().size());
  }
  return bytes;
}

void SessionService::List(Attachment& caller, const wire::SessionParams&, rpc::Reply<wire::SessionListResult> reply) {
  const size_t expected = ExpectedBytes(caller);
  caller.Start(rpc::AnswerWithin(held_, expected, std::move(reply), [this, &caller] { return Listed(caller); }));
}

Result<std::shared_ptr<Session>> SessionService::Chosen(Attachment& caller,
                                                        const wire::SessionEndParams& params) const {
  if (params.session_id && params.session_name) {
    return Fail(ErrorKind::kInvalidParams, "sessionName: cannot be combined with sessionId");
  }
  if (params.session_name) {
    auto session = sessions_.FindShared(*params.session_name);
    if (!session) return std::unexpected(UnknownSession(*params.session_name));
    return session;
  }
  const std::string& id = params.session_id ? *params.session_id : caller.session().id();
  auto session = sessions_.Find(id);
  const bool allowed = session && (session->shared() || session.get() == &caller.session());
  if (!allowed) return std::unexpected(UnknownSession(id));
  return session;
}

void SessionService::End(Attachment& caller, const wire::SessionEndParams& params, rpc::Reply<wire::Empty> reply) {
  const auto session = Chosen(caller, params);
  if (!session) return reply.Fail(session.error());
  LogInfo("session.ended", {{"session", (*session)->id()}, {"client", *caller.client().name}});
  sessions_.End(**session, [reply = std::move(reply)]() mutable { reply(wire::Empty{}); });
}

}  // namespace holdfast::exec_server
