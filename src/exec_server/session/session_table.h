// The table of all sessions of a server, by id. A detached session waits for its client to come back, and is ended when
// the time for that is over; a shared session may have no such time. A session that is ending can no longer be found,
// but the table keeps it until everything that it started is dead.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec_server/session/session.h"
#include "exec_server/session/session_resources.h"
#include "wire/session_messages.h"

namespace holdfast::exec_server {

class SessionTable {
 public:
  explicit SessionTable(SessionResources& resources) : resources_(resources) {}

  // Returns the session that initialize asks for: a new one, the one that it resumes, or the shared one that it names,
  // which is created if there is none.
  Result<std::shared_ptr<Session>> Open(const wire::InitializeParams& params);

  // Creates a private session.
  Result<std::shared_ptr<Session>> Create() { return Add(std::nullopt); }
  // Fails if the session is unknown, or if it is private and attached to a connection.
  Result<std::shared_ptr<Session>> Resume(const std::string& id);

  // Detaches a connection that has ended from its session. After its last connection the session ends when its time is
  // over, unless it is resumed.
  void Detach(Attachment& attachment);

  std::shared_ptr<Session> Find(std::string_view id) const;
  std::shared_ptr<Session> FindShared(std::string_view name) const;
  std::vector<std::shared_ptr<Session>> all() const;  // the oldest first

  // Ends a session that is in the table, with the configured grace for its processes. `done` runs when nothing that the
  // session started is alive; after it the connections that are attached are closed.
  void End(const Session& session, loop::Callback done);

  // Ends every session and refuses to create others. `done` runs when nothing that the sessions started is alive.
  void EndAll(std::chrono::milliseconds grace, loop::Callback done);

  size_t size() const { return sessions_.size(); }

 private:
  struct Entry {
    std::shared_ptr<Session> session;
    std::unique_ptr<loop::Timer> expiry;  // runs while the session is detached
    std::chrono::steady_clock::time_point detached_at;
  };

  Result<std::shared_ptr<Session>> OpenShared(const wire::SharedSessionFields& sharing);
  Result<std::shared_ptr<Session>> Add(std::optional<Session::Sharing> sharing);
  void MakeRoom();
  void Expire(const Session& session);
  std::chrono::milliseconds Grace() const;
  void End(const std::string& id, std::chrono::milliseconds grace, loop::Callback done = [] {});
  void OnEnded(const std::shared_ptr<Session>& session);

  SessionResources& resources_;
  std::map<std::string, Entry, std::less<>> sessions_;
  std::set<std::shared_ptr<Session>> ending_;
  loop::Callback when_all_ended_;
  bool closed_ = false;
};

}  // namespace holdfast::exec_server
