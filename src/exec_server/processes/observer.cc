#include "exec_server/processes/observer.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "exec_server/processes/wire_stream.h"
#include "wire/methods.h"
#include "wire/notification.h"

namespace holdfast::exec_server {

// The facts about a process that its notifications carry.
struct Observer::Subject {
  const std::string& id;
  const std::string& quoted_id;
  std::optional<pid_t> pid;  // absent while the process is being started
  std::optional<wire::Exit> exit;
  NumberedEvents events;
};

Observer::Subject Observer::Describe(const ManagedProcess& process) {
  const NumberedEvents events = process.events();
  Subject subject{.id = process.id(),
                  .quoted_id = process.quoted_id(),
                  .pid = std::nullopt,
                  .exit = std::nullopt,
                  .events = events};
  if (!process.starting()) subject.pid = process.process().pid();
  if (events.exit_seq) subject.exit = process.DescribeExit(*events.exit_seq);
  return subject;
}

bool Observer::HasNews(const Watched& watched) {
  const ManagedProcess& process = *watched.process;
  if (!watched.place.knows_start && !process.starting()) return true;
  return watched.place.cursor.seen_seq() + 1 < process.process().next_seq();
}

void Observer::Watch(const ManagedProcess& process) {
  if (given_up_) return;
  const bool wants_start = process.starting() && link_.client().lifecycle == Lifecycle::kAnnounced;
  const Place place{.cursor = ObserverCursor(process.process().next_seq() - 1), .knows_start = !wants_start};
  quiet_.push_back({.process = &process, .place = place, .ready = false});
  entries_.emplace(&process, std::prev(quiet_.end()));
}

void Observer::Drop(Entry entry) {
  entries_.erase(entry->process);
  (entry->ready ? ready_ : quiet_).erase(entry);
}

void Observer::OnNews(const ManagedProcess& process) {
  const auto it = entries_.find(&process);
  if (it == entries_.end()) return;
  Watched& watched = *it->second;
  if (!watched.ready) ready_.splice(ready_.end(), quiet_, it->second);
  watched.ready = true;
  (void)CatchUp();  // a client that is congested goes on when it drains
}

void Observer::OnFailed(const ManagedProcess& process, std::string_view reason) {
  if (const auto it = entries_.find(&process); it != entries_.end()) Drop(it->second);
  if (given_up_ || link_.is_congested() || link_.client().lifecycle == Lifecycle::kSilent) return;
  link_.Send(wire::FailedNotification(process.quoted_id(), reason));
}

void Observer::OnForgotten(const ManagedProcess& process, const std::shared_ptr<const FinishedProcess>& finished) {
  const auto it = entries_.find(&process);
  if (it == entries_.end()) return;
  const Entry entry = it->second;
  if (HasNews(*entry)) forgotten_.push_back({.process = finished, .place = entry->place});
  Drop(entry);
  (void)TellForgotten();  // a congested client gets it when it drains
  if (forgotten_.size() > kMaxForgotten) GiveUp();
}

void Observer::GiveUp() {
  given_up_ = true;
  entries_.clear();
  quiet_.clear();
  ready_.clear();
  forgotten_.clear();
}

// Sends what was not sent yet about processes that were forgotten. This comes before the events of other processes,
// because one of these may have the name of a forgotten one. Returns whether the client has got everything.
bool Observer::TellForgotten() {
  static const process::OutputLog kNothing{{}};
  while (!forgotten_.empty()) {
    const FinishedProcess& process = *forgotten_.front().process;
    std::string quoted_id;
    wire::AppendString(quoted_id, process.id);
    const Subject subject{.id = process.id,
                          .quoted_id = quoted_id,
                          .pid = process.pid,
                          .exit = process.exit,
                          .events = {.log = kNothing,
                                     .next_seq = process.next_seq,
                                     .exit_seq = process.exit ? std::optional(process.exit->seq) : std::nullopt,
                                     .close_seq = process.close_seq}};
    do {
      if (link_.is_congested()) return false;
    } while (SendNext(forgotten_.front().place, subject));
    forgotten_.pop_front();
  }
  return true;
}

bool Observer::CatchUp() {
  if (given_up_ || !TellForgotten()) return false;
  while (!ready_.empty()) {
    if (link_.is_congested()) return false;
    const Entry entry = ready_.begin();
    const Subject subject = Describe(*entry->process);
    (void)SendNext(entry->place, subject);  // an entry without news leaves the list below
    if (subject.events.close_seq && entry->place.cursor.seen_seq() >= *subject.events.close_seq) {
      Drop(entry);
      continue;
    }
    entry->ready = HasNews(*entry);
    std::list<Watched>& next = entry->ready ? ready_ : quiet_;
    next.splice(next.end(), ready_, entry);
  }
  return true;
}

bool Observer::SendNext(Place& place, const Subject& subject) const {
  if (!place.knows_start && subject.pid) {
    place.knows_start = true;
    link_.Send(wire::StartedNotification(subject.quoted_id, *subject.pid));
    return true;
  }
  const auto event = place.cursor.Next(subject.events);
  if (event) Send(subject, *event);
  return event.has_value();
}

void Observer::Send(const Subject& subject, const ObserverCursor::Event& event) const {
  if (const auto* lost = std::get_if<ObserverCursor::Lost>(&event)) {
    return link_.Send(wire::EncodeNotification<wire::ProcessOutputLost>({subject.id, lost->from_seq, lost->to_seq}));
  }
  if (std::holds_alternative<ObserverCursor::Exited>(event)) {
    return link_.Send(wire::ExitedNotification(subject.quoted_id, *subject.exit));
  }
  if (const auto* closed = std::get_if<ObserverCursor::Closed>(&event)) {
    return link_.Send(wire::ClosedNotification(subject.quoted_id, closed->seq));
  }
  const process::Chunk& chunk = *std::get<const process::Chunk*>(event);
  link_.Send(wire::OutputNotification(subject.quoted_id, chunk.seq, ToWire(chunk.stream), chunk.bytes));
}

}  // namespace holdfast::exec_server
