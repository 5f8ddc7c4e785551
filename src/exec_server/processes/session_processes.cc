#include "exec_server/processes/session_processes.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "exec_server/processes/finished_process.h"

namespace holdfast::exec_server {

SessionProcesses::SessionProcesses(ProcessResources& resources, const ClientLink& link, std::string session_id,
                                   Finished finished)
    : resources_(resources), link_(link), session_id_(std::move(session_id)), finished_(finished) {}

SessionProcesses::~SessionProcesses() {
  resources_.counts.running -= counts_.running;
  resources_.counts.alive -= counts_.alive;
}

Observer& SessionProcesses::Observe(const ClientLink& link) {
  Observer& observer = observers_.emplace_back(link);
  for (const auto& [id, process] : by_name_) {
    if (!process->process().closed()) observer.Watch(*process);
  }
  return observer;
}

void SessionProcesses::StopObserving(const Observer& observer) {
  observers_.remove_if([&](const Observer& other) { return &other == &observer; });
}

void SessionProcesses::OnNews(const ManagedProcess& process) {
  for (Observer& observer : observers_) observer.OnNews(process);
}

void SessionProcesses::DropWrites(process::StdinQueue::Sender sender) {
  for (auto& [id, process] : by_name_) {
    if (process::StdinQueue* input = process->process().input()) input->DropHeld(sender);
  }
}

void SessionProcesses::ResumeOutput() {
  for (auto& [id, process] : by_name_) {
    if (!process->starting()) process->process().ResumeOutput();
  }
}

void SessionProcesses::Start(std::string process_id, const StartRequest& request, ManagedProcess::StartReply reply) {
  if (auto room = CheckRoom(process_id); !room) return reply.Fail(room.error());
  const ManagedProcess::Context context{.resources = resources_,
                                        .link = link_,
                                        .driver_changed = driver_changed_,
                                        .session_id = session_id_,
                                        .owner = *this};
  auto process = std::make_shared<ManagedProcess>(context, process_id, request, std::move(reply));
  if (const auto started = process->Start(request); !started) {
    for (Observer& observer : observers_) observer.OnFailed(*process, started.error().message);
    return;
  }
  for (Observer& observer : observers_) observer.Watch(*process);
  Count(&ProcessCounts::running, 1);
  Count(&ProcessCounts::alive, 1);
  by_name_.emplace(std::move(process_id), std::move(process));
}

void SessionProcesses::StartLater(std::string process_id, loop::Task<Result<StartRequest>> making,
                                  ManagedProcess::StartReply reply) {
  if (auto room = CheckRoom(process_id); !room) return reply.Fail(room.error());
  being_made_.insert(process_id);
  changes_.Start(StartWhenMade(std::move(process_id), std::move(making), std::move(reply)));
}

loop::Task<> SessionProcesses::StartWhenMade(std::string process_id, loop::Task<Result<StartRequest>> making,
                                             ManagedProcess::StartReply reply) {
  const auto request = co_await std::move(making);
  being_made_.erase(process_id);
  if (request) {
    Start(std::move(process_id), *request, std::move(reply));
  } else {
    reply.Fail(request.error());
  }
  request_made_.Notify();
}

loop::Task<> SessionProcesses::AwaitRequest(std::string process_id) {
  while (being_made_.contains(process_id)) co_await request_made_.Next();
}

// The event is notified in the next turn of the loop, when a client that has become the driver has its answer.
void SessionProcesses::OnDriverChanged() {
  resources_.loop.Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->driver_changed_.Notify();
  });
}

Result<> SessionProcesses::CheckRoom(const std::string& process_id) const {
  const Config& config = resources_.config;
  if (ending_) return Fail(ErrorKind::kInvalidRequest, "the session is ending");
  if (by_name_.contains(process_id) || being_made_.contains(process_id)) {
    return Fail(ErrorKind::kInvalidRequest, fmt::format("process id {} is taken", process_id));
  }
  if (counts_.Full(config.max_processes_per_session)) {
    return Fail(ErrorKind::kLimit, fmt::format("the limit of {} running processes per session is reached",
                                               config.max_processes_per_session));
  }
  if (resources_.counts.Full(config.max_processes)) {
    return Fail(ErrorKind::kLimit,
                fmt::format("the server's limit of {} running processes is reached", config.max_processes));
  }
  return {};
}

std::shared_ptr<ManagedProcess> SessionProcesses::Find(std::string_view process_id) const {
  auto it = by_name_.find(process_id);
  return it != by_name_.end() ? it->second : nullptr;
}

size_t SessionProcesses::DescribedBytes(size_t most) const {
  size_t bytes = 0;
  for (const auto& [id, process] : by_name_ | std::views::take(most)) bytes += process->described_bytes();
  return bytes;
}

loop::Task<std::shared_ptr<ManagedProcess>> SessionProcesses::FindSettled(std::string process_id) {
  co_await AwaitRequest(process_id);
  if (const auto process = Find(process_id)) {
    while (process->starting()) co_await process->changed().Next();
  }
  co_return Find(process_id);
}

void SessionProcesses::End(wire::EndCause cause, std::chrono::milliseconds grace, loop::Callback done) {
  ending_ = true;
  when_ended_.push_back(std::move(done));
  for (auto& [id, process] : by_name_) process->ending().End(cause, grace);
  for (auto& process : lingering_) process->ending().End(cause, grace);
  AnswerEndWhenGone();
}

// Frees the id, because the client knows of the failure. The object is kept until its keeper has been reaped.
void SessionProcesses::OnFailed(ManagedProcess& process, const Error& error) {
  for (Observer& observer : observers_) observer.OnFailed(process, error.message);
  Count(&ProcessCounts::running, -1);
  auto it = by_name_.find(process.id());
  if (it == by_name_.end()) return;
  if (!process.process().gone()) lingering_.push_back(it->second);
  resources_.loop.Post([keep_alive_until_unwound = std::move(it->second)] {});
  by_name_.erase(it);
}

void SessionProcesses::OnExited(ManagedProcess&) { Count(&ProcessCounts::running, -1); }

void SessionProcesses::Count(size_t ProcessCounts::* which, int change) {
  counts_.*which += static_cast<size_t>(change);
  const bool any_were_alive = resources_.counts.alive > 0;
  resources_.counts.*which += static_cast<size_t>(change);
  if (any_were_alive != (resources_.counts.alive > 0)) resources_.activity.Notify();
}

void SessionProcesses::OnClosed(ManagedProcess& process) {
  auto expire = [weak = weak_from_this(), id = process.id(), record = &process] {
    if (const auto self = weak.lock()) self->Forget(id, record);
  };
  Retention& retention = resources_.retention;
  if (finished_ == Finished::kExpire) return retention.Keep(process.retained_bytes(), std::move(expire));
  staying_.insert_or_assign(process.id(), retention.KeepWhileHeld(process.retained_bytes(), std::move(expire)));
}

void SessionProcesses::Forget(const std::string& process_id, const ManagedProcess* process) {
  auto it = by_name_.find(process_id);
  if (it == by_name_.end() || it->second.get() != process) return;
  if (!observers_.empty()) TellForgotten(*process);
  staying_.erase(process_id);
  if (!process->process().gone()) lingering_.push_back(it->second);
  by_name_.erase(it);
}

// Tells the observers that a process will be destroyed. A connection is closed in the next turn of the loop, because
// the close may end its observer.
void SessionProcesses::TellForgotten(const ManagedProcess& process) {
  const auto finished = std::make_shared<const FinishedProcess>(process.Finished());
  for (Observer& observer : observers_) {
    const bool was_given_up = observer.given_up();
    observer.OnForgotten(process, finished);
    if (was_given_up || !observer.given_up()) continue;
    LogWarn("observer.given_up", {{"session", session_id_},
                                  {"client", *observer.link().client().name},
                                  {"unread_ends", Observer::kMaxForgotten + 1}});
    resources_.loop.Post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->CloseGivenUp();
    });
  }
}

void SessionProcesses::CloseGivenUp() {
  std::vector<ClientLink> links;  // a copy, because closing a connection may end its observer
  for (const Observer& observer : observers_) {
    if (observer.given_up()) links.push_back(observer.link());
  }
  for (const ClientLink& link : links) link.Close();
}

void SessionProcesses::OnGone(ManagedProcess& process) {
  Count(&ProcessCounts::alive, -1);
  auto it = std::ranges::find(lingering_, &process, &std::shared_ptr<ManagedProcess>::get);
  if (it != lingering_.end()) {
    resources_.loop.Post([keep_alive_until_unwound = std::move(*it)] {});
    lingering_.erase(it);
  }
  AnswerEndWhenGone();
}

void SessionProcesses::AnswerEndWhenGone() {
  if (when_ended_.empty() || !lingering_.empty()) return;
  if (!std::ranges::all_of(by_name_, [](auto& entry) { return entry.second->process().gone(); })) return;
  for (loop::Callback& done : when_ended_) resources_.loop.Post(std::move(done));
  when_ended_.clear();
}

}  // namespace holdfast::exec_server
