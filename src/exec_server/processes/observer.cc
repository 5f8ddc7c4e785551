#include "exec_server/processes/observer.h"

#include <variant>

#include "wire/methods.h"
#include "wire/notification.h"

namespace holdfast::exec_server {
namespace {

// Returns whether the client has got the close of the process, which nothing follows.
bool IsDone(const ObserverCursor& cursor, const NumberedEvents& events) {
  return events.close_seq && cursor.seen_seq() >= *events.close_seq;
}

}  // namespace

void Observer::Watch(const ManagedProcess& process) {
  const uint64_t seen_seq = process.process().next_seq() - 1;
  watched_.insert_or_assign(
      process.id(),
      Watched{.process = &process, .cursor = ObserverCursor(seen_seq), .knows_start = !process.starting()});
}

// A process of this name may be another one, because a name is free again when its process is forgotten.
Observer::ByName::iterator Observer::Find(const ManagedProcess& process) {
  const auto it = watched_.find(process.id());
  return it != watched_.end() && it->second.process == &process ? it : watched_.end();
}

void Observer::OnNews(const ManagedProcess& process) {
  const auto it = Find(process);
  if (it == watched_.end()) return;
  const NumberedEvents events = process.events();
  while (!link_.is_congested() && SendNext(it->second, events)) {
  }
  if (IsDone(it->second.cursor, events)) watched_.erase(it);
}

void Observer::OnFailed(const ManagedProcess& process, std::string_view reason) {
  if (const auto it = Find(process); it != watched_.end()) watched_.erase(it);
  if (link_.is_congested() || link_.client().lifecycle == Lifecycle::kSilent) return;
  link_.Send(wire::FailedNotification(process.quoted_id(), reason));
}

void Observer::OnForgotten(const ManagedProcess& process) {
  const auto it = Find(process);
  if (it == watched_.end()) return;
  static const process::OutputLog kNothing{{}};
  const NumberedEvents events = process.events();
  const NumberedEvents without_output{
      .log = kNothing, .next_seq = events.next_seq, .exit_seq = events.exit_seq, .close_seq = events.close_seq};
  while (SendNext(it->second, without_output)) {
  }
  watched_.erase(it);
}

bool Observer::CatchUp() {
  auto it = watched_.lower_bound(resume_at_);
  size_t unasked = watched_.size();  // the processes that may have an event since the last one that had none
  while (unasked > 0) {
    if (it == watched_.end()) it = watched_.begin();
    if (link_.is_congested()) {
      resume_at_ = it->first;
      return false;
    }
    unasked = SendNext(it->second, it->second.process->events()) ? watched_.size() : unasked - 1;
    ++it;
  }
  std::erase_if(watched_, [](auto& entry) { return IsDone(entry.second.cursor, entry.second.process->events()); });
  return true;
}

bool Observer::SendNext(Watched& watched, const NumberedEvents& events) const {
  const ManagedProcess& process = *watched.process;
  if (!watched.knows_start && !process.starting()) {
    watched.knows_start = true;
    if (link_.client().lifecycle == Lifecycle::kAnnounced) {
      link_.Send(wire::StartedNotification(process.quoted_id(), *process.process().pid()));
      return true;
    }
  }
  const auto event = watched.cursor.Next(events);
  if (event) Send(process, *event);
  return event.has_value();
}

void Observer::Send(const ManagedProcess& process, const ObserverCursor::Event& event) const {
  const std::string& id = process.quoted_id();
  if (const auto* lost = std::get_if<ObserverCursor::Lost>(&event)) {
    return link_.Send(wire::EncodeNotification<wire::ProcessOutputLost>({process.id(), lost->from_seq, lost->to_seq}));
  }
  if (const auto* exited = std::get_if<ObserverCursor::Exited>(&event)) {
    return link_.Send(wire::ExitedNotification(id, process.DescribeExit(exited->seq)));
  }
  if (const auto* closed = std::get_if<ObserverCursor::Closed>(&event)) {
    return link_.Send(wire::ClosedNotification(id, closed->seq));
  }
  const process::Chunk& chunk = *std::get<const process::Chunk*>(event);
  link_.Send(wire::OutputNotification(id, chunk.seq, ToWire(chunk.stream), chunk.bytes));
}

}  // namespace holdfast::exec_server
