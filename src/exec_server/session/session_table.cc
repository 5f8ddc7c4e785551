#include "exec_server/session/session_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "base/random_id.h"
#include "exec_server/session/sharing.h"

namespace holdfast::exec_server {

using namespace std::chrono_literals;

Result<std::shared_ptr<Session>> SessionTable::Open(const wire::InitializeParams& params) {
  TRY_VOID(CheckSharing(params));
  if (params.sharing.shared.value_or(false)) return OpenShared(params.sharing);
  if (!params.resume_session_id) return Create();
  const auto session = Find(*params.resume_session_id);
  if (session && !session->shared() && params.sharing.role) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("role: session {} is not shared", session->id()));
  }
  return Resume(*params.resume_session_id);
}

Result<std::shared_ptr<Session>> SessionTable::OpenShared(const wire::SharedSessionFields& sharing) {
  if (const auto session = FindShared(*sharing.session_name)) return Resume(session->id());
  return Add(Session::Sharing{.name = *sharing.session_name, .detached_ttl = ToTtl(sharing.detached_ttl_ms)});
}

// Ends the detached session without living processes that has been detached for the longest time, if there is one. Such
// a session is kept for a client that may come back, but a client that is connected comes first. A shared session is
// ended only if there is no private one, because a client has asked that it stays; without a bound, sessions that were
// never ended would lock every client out.
void SessionTable::MakeRoom() {
  const auto rank = [](const Entry& entry) { return std::pair(entry.session->shared(), entry.detached_at); };
  auto oldest = sessions_.end();
  for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
    const Session& session = *it->second.session;
    if (session.attached() || !session.idle()) continue;
    if (oldest == sessions_.end() || rank(it->second) < rank(oldest->second)) oldest = it;
  }
  if (oldest != sessions_.end()) End(std::string(oldest->first), 0ms);
}

Result<std::shared_ptr<Session>> SessionTable::Add(std::optional<Session::Sharing> sharing) {
  if (closed_) return Fail(ErrorKind::kInvalidRequest, "the server is stopping");
  if (sessions_.size() >= resources_.config.max_sessions) MakeRoom();
  if (sessions_.size() >= resources_.config.max_sessions) {
    return Fail(ErrorKind::kLimit, fmt::format("the limit of {} sessions is reached", resources_.config.max_sessions));
  }
  std::string id = RandomUuid();
  auto session = std::make_shared<Session>(resources_, id, std::move(sharing));
  sessions_.emplace(std::move(id), Entry{.session = session, .expiry = nullptr, .detached_at = {}});
  return session;
}

Result<std::shared_ptr<Session>> SessionTable::Resume(const std::string& id) {
  auto it = sessions_.find(id);
  if (it == sessions_.end()) return Fail(ErrorKind::kInvalidRequest, fmt::format("unknown session {}", id));
  const Session& session = *it->second.session;
  if (session.attached() && !session.shared()) {
    return Fail(ErrorKind::kSessionAttached, fmt::format("session {} is attached to another connection", id));
  }
  it->second.expiry.reset();
  return it->second.session;
}

std::shared_ptr<Session> SessionTable::Find(std::string_view id) const {
  const auto it = sessions_.find(id);
  return it != sessions_.end() ? it->second.session : nullptr;
}

std::shared_ptr<Session> SessionTable::FindShared(std::string_view name) const {
  const auto it =
      std::ranges::find_if(sessions_, [&](const auto& entry) { return entry.second.session->name() == name; });
  return it != sessions_.end() ? it->second.session : nullptr;
}

std::vector<std::shared_ptr<Session>> SessionTable::all() const {
  std::vector<std::shared_ptr<Session>> sessions;
  sessions.reserve(sessions_.size());
  for (const auto& [id, entry] : sessions_) sessions.push_back(entry.session);
  std::ranges::sort(sessions, {}, [](const auto& session) { return session->created_at(); });
  return sessions;
}

void SessionTable::Detach(Attachment& attachment) {
  Session& session = attachment.session();
  session.Detach(attachment);
  const auto it = sessions_.find(session.id());
  if (it == sessions_.end() || session.attached()) return;  // the session is ending already, or has other connections
  it->second.detached_at = std::chrono::steady_clock::now();
  const Session::DetachedTtl ttl = session.detached_ttl();
  if (!ttl) return;
  if (*ttl == 0ms) return Expire(session);
  it->second.expiry = std::make_unique<loop::Timer>(resources_.loop, [this, &session] {
    LogInfo("session.expired", {{"session", session.id()}});
    Expire(session);
  });
  it->second.expiry->Start(*ttl);
}

// The processes of a private session are killed at once, because the client that could ask them to end is gone.
void SessionTable::Expire(const Session& session) { End(session.id(), session.shared() ? Grace() : 0ms); }

std::chrono::milliseconds SessionTable::Grace() const {
  return std::chrono::milliseconds(resources_.config.shutdown_grace_period_ms);
}

void SessionTable::End(const Session& session, loop::Callback done) {
  auto told = [session = Find(session.id()), done = std::move(done)]() mutable {
    done();
    session->Dismiss();
  };
  End(session.id(), Grace(), std::move(told));
}

void SessionTable::End(const std::string& id, std::chrono::milliseconds grace, loop::Callback done) {
  auto node = sessions_.extract(id);
  std::shared_ptr<Session> session = std::move(node.mapped().session);
  ending_.insert(session);
  // If the session has expired, its timer is calling this function, so the timer is destroyed later.
  resources_.loop.Post([timer = std::shared_ptr(std::move(node.mapped().expiry))] {});
  const auto cause = closed_ ? wire::EndCause::kServerStopped : wire::EndCause::kSessionEnded;
  session->End(cause, grace, [this, session, done = std::move(done)]() mutable {
    done();
    OnEnded(session);
  });
}

void SessionTable::EndAll(std::chrono::milliseconds grace, loop::Callback done) {
  closed_ = true;
  when_all_ended_ = std::move(done);
  while (!sessions_.empty()) End(std::string(sessions_.begin()->first), grace);
  if (ending_.empty()) OnEnded(nullptr);
}

void SessionTable::OnEnded(const std::shared_ptr<Session>& session) {
  ending_.erase(session);
  if (ending_.empty() && when_all_ended_) std::exchange(when_all_ended_, {})();
}

}  // namespace holdfast::exec_server
