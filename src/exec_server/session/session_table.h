// All sessions of a server, by id. A detached one waits for its client to come back, then it is ended; until all it
// started is dead it stays here, under no name.
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
  // Only a detached session can be resumed.
  Result<std::shared_ptr<Session>> Resume(const std::string& id);

  // The connection is gone: the session ends after the configured time, unless it is resumed.
  void Detach(Session& session);

  // Ends every session; `done` runs when nothing they started is alive.
  void EndAll(std::chrono::milliseconds grace, loop::Callback done);

  size_t size() const { return sessions_.size(); }

 private:
  struct Entry {
    std::shared_ptr<Session> session;
    std::unique_ptr<loop::Timer> expiry;  // while detached
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
