// An observer is a client that watches the processes of a session which another client drives. It gets the same
// notifications as the driver, but a command never waits for it: while its connection is congested it gets nothing, and
// afterwards it goes on from its cursors. Output that was dropped meanwhile is reported with process/outputLost.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "exec_server/link/client_link.h"
#include "exec_server/processes/managed_process.h"
#include "exec_server/processes/observer_cursor.h"

namespace holdfast::exec_server {

class Observer {
 public:
  explicit Observer(ClientLink link) : link_(std::move(link)) {}
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // Begins to watch a process. The observer is told the events that follow.
  void Watch(const ManagedProcess& process);

  // Something has happened to a process that may be watched.
  void OnNews(const ManagedProcess& process);
  // A start has failed, and the process is no longer watched. The observer is not told if its connection is congested.
  void OnFailed(const ManagedProcess& process, std::string_view reason);
  // The process is about to be destroyed. Output that the observer has not got is lost, and it is told that.
  void OnForgotten(const ManagedProcess& process);

  // Sends the events of all processes that the client has not got, in turn, until its connection is congested. Returns
  // whether the client has got all of them.
  bool CatchUp();

 private:
  struct Watched {
    const ManagedProcess* process;
    ObserverCursor cursor;
    bool knows_start;
  };
  using ByName = std::map<std::string, Watched, std::less<>>;

  ByName::iterator Find(const ManagedProcess& process);
  bool SendNext(Watched& watched, const NumberedEvents& events) const;
  void Send(const ManagedProcess& process, const ObserverCursor::Event& event) const;

  const ClientLink link_;
  ByName watched_;
  std::string resume_at_;  // the process whose turn it is, so that one that writes much does not hide the others
};

}  // namespace holdfast::exec_server
