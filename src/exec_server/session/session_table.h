// The table of all sessions of a server, by id. A detached session waits for its client to come back, and is ended when
// the time for that is over. A session that is ending can no longer be found by its id, but the table keeps it until
// everything that it started is dead.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "exec_server/session/session.h"
#include "exec_server/session/session_resources.h"

namespace holdfast::exec_server {

class SessionTable {
 public:
  explicit SessionTable(SessionResources& resources) : resources_(resources) {}

  Result<std::shared_ptr<Session>> Create();
  // Fails if the session is unknown or attached to a connection.
  Result<std::shared_ptr<Session>> Resume(const std::string& id);

  // Detaches the session from its connection, which has ended. The session ends after the configured time, unless it is
  // resumed.
  void Detach(Session& session);

  // Ends every session and refuses to create others. `done` runs when nothing that the sessions started is alive.
  void EndAll(std::chrono::milliseconds grace, loop::Callback done);

  size_t size() const { return sessions_.size(); }

 private:
  struct Entry {
    std::shared_ptr<Session> session;
    std::unique_ptr<loop::Timer> expiry;  // runs while the session is detached
    std::chrono::steady_clock::time_point detached_at;
  };

  void MakeRoom();
  void End(const std::string& id, std::chrono::milliseconds grace);
  void OnEnded(const std::shared_ptr<Session>& session);

  SessionResources& resources_;
  std::map<std::string, Entry, std::less<>> sessions_;
  std::set<std::shared_ptr<Session>> ending_;
  loop::Callback when_all_ended_;
  bool closed_ = false;
};

}  // namespace holdfast::exec_server
