#include "exec_server/session/session_table.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/random_id.h"

namespace holdfast::exec_server {

using namespace std::chrono_literals;

// Ends the detached session without living processes that has been detached for the longest time, if there is one. Such
// a session is kept for a client that may come back, but a client that is connected comes first.
void SessionTable::MakeRoom() {
  auto oldest = sessions_.end();
  for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
    if (it->second.session->attached() || !it->second.session->idle()) continue;
    if (oldest == sessions_.end() || it->second.detached_at < oldest->second.detached_at) oldest = it;
  }
  if (oldest != sessions_.end()) End(std::string(oldest->first), 0ms);
}

Result<std::shared_ptr<Session>> SessionTable::Create() {
  if (closed_) return Fail(ErrorKind::kInvalidRequest, "the server is stopping");
  if (sessions_.size() >= resources_.config.max_sessions) MakeRoom();
  if (sessions_.size() >= resources_.config.max_sessions) {
    return Fail(ErrorKind::kLimit, fmt::format("the limit of {} sessions is reached", resources_.config.max_sessions));
  }
  std::string id = RandomUuid();
  auto session = std::make_shared<Session>(resources_, id);
  sessions_.emplace(std::move(id), Entry{.session = session, .expiry = nullptr, .detached_at = {}});
  return session;
}

Result<std::shared_ptr<Session>> SessionTable::Resume(const std::string& id) {
  auto it = sessions_.find(id);
  if (it == sessions_.end()) return Fail(ErrorKind::kInvalidRequest, fmt::format("unknown session {}", id));
  if (it->second.session->attached()) {
    return Fail(ErrorKind::kSessionAttached, fmt::format("session {} is attached to another connection", id));
  }
  it->second.expiry.reset();
  return it->second.session;
}

void SessionTable::Detach(Session& session) {
  session.Detach();
  auto it = sessions_.find(session.id());
  if (it == sessions_.end()) return;  // the session is ending already
  std::chrono::milliseconds ttl(resources_.config.detached_ttl_ms);
  if (ttl == 0ms) return End(session.id(), 0ms);
  it->second.expiry = std::make_unique<loop::Timer>(resources_.loop, [this, id = session.id()] {
    LogInfo("session.expired", {{"session", id}});
    End(id, 0ms);
  });
  it->second.expiry->Start(ttl);
  it->second.detached_at = std::chrono::steady_clock::now();
}

void SessionTable::End(const std::string& id, std::chrono::milliseconds grace) {
  auto node = sessions_.extract(id);
  std::shared_ptr<Session> session = std::move(node.mapped().session);
  ending_.insert(session);
  // If the session has expired, its timer is calling this function and owns `id`; so the timer is destroyed later.
  resources_.loop.Post([timer = std::shared_ptr(std::move(node.mapped().expiry))] {});
  session->End(grace, [this, session] { OnEnded(session); });
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
