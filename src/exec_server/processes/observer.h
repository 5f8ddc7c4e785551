// An observer is a client that watches the processes of a session which another client drives. It gets the same
// notifications as the driver, but a command never waits for it: while its connection is congested it gets nothing, and
// afterwards it goes on from its cursors. Output that was dropped meanwhile is reported with process/outputLost. The
// server holds little for a client that does not read: a cursor for each process, and the end of each process that was
// forgotten. A client that has missed too many of these ends is given up.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "exec_server/link/client_link.h"
#include "exec_server/processes/finished_process.h"
#include "exec_server/processes/managed_process.h"
#include "exec_server/processes/observer_cursor.h"

namespace holdfast::exec_server {

class Observer {
 public:
  static constexpr size_t kMaxForgotten = 256;  // processes whose end was not sent to the client

  explicit Observer(ClientLink link) : link_(std::move(link)) {}
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // Begins to watch a process. The observer gets the events that follow.
  void Watch(const ManagedProcess& process);

  // Something has happened to a process that may be watched.
  void OnNews(const ManagedProcess& process);
  // A start has failed, and the process is no longer watched. A congested observer does not get the event.
  void OnFailed(const ManagedProcess& process, std::string_view reason);
  // The process is about to be destroyed, and `finished` describes it. Output that the observer has not got is lost,
  // and it gets a message about that.
  void OnForgotten(const ManagedProcess& process, const std::shared_ptr<const FinishedProcess>& finished);

  // Sends the events of all processes that the client has not got, in turn, until its connection is congested. Returns
  // whether the client has got all of them. The congestion bounds the work of one call, because each step but the last
  // one for a process sends a message.
  bool CatchUp();

  // The client has missed too much. It gets nothing more, and its connection has to be closed.
  bool given_up() const { return given_up_; }
  const ClientLink& link() const { return link_; }

 private:
  struct Place {
    ObserverCursor cursor;
    bool knows_start;
  };
  struct Watched {
    const ManagedProcess* process;
    Place place;
    bool ready;  // the entry is in ready_
  };
  struct Forgotten {
    std::shared_ptr<const FinishedProcess> process;
    Place place;
  };
  struct Subject;
  using Entry = std::list<Watched>::iterator;

  static Subject Describe(const ManagedProcess& process);
  static bool HasNews(const Watched& watched);
  void Drop(Entry entry);
  void GiveUp();
  bool TellForgotten();
  bool SendNext(Place& place, const Subject& subject) const;
  void Send(const Subject& subject, const ObserverCursor::Event& event) const;

  const ClientLink link_;
  std::unordered_map<const ManagedProcess*, Entry> entries_;  // of both lists
  std::list<Watched> quiet_;                                  // the client has got all events of these processes
  std::list<Watched> ready_;  // processes with events that the client has not got, in the order of their turns
  std::deque<Forgotten> forgotten_;
  bool given_up_ = false;
};

}  // namespace holdfast::exec_server
