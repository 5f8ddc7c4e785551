#include "exec_server/session.h"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::exec_server {

Session::Session(Runtime& runtime, std::string id)
    : runtime_(runtime), id_(std::move(id)), self_(std::make_shared<Session*>(this)) {}

Session::~Session() {
  runtime_.processes.running -= counts_.running;
  runtime_.processes.alive -= counts_.alive;
}

void Session::Attach(rpc::Transport& transport, const ClientTraits& client) {
  attachment_ = std::make_shared<Attachment>(runtime_.workers, transport, client);
}

void Session::Detach() {
  attachment_.reset();
  for (auto& [id, process] : processes_) {
    process->process().waiters().RemoveAll();
    if (process::StdinQueue* input = process->process().input()) input->DropHeld();
  }
  ResumeOutput();
}

void Session::OnDrained() {
  ResumeOutput();
  attachment_->OnDrained();
}

void Session::ResumeOutput() {
  for (auto& [id, process] : processes_) {
    if (!process->starting()) process->process().ResumeOutput();
  }
}

void Session::Start(std::string process_id, const StartOrder& order, ManagedProcess::StartReply reply) {
  if (auto room = CheckRoom(process_id); !room) return reply.Fail(room.error());
  auto process = std::make_shared<ManagedProcess>(*this, process_id, order, std::move(reply));
  if (!process->Launch(order)) return;
  Count(&ProcessCounts::running, 1);
  Count(&ProcessCounts::alive, 1);
  processes_.emplace(std::move(process_id), std::move(process));
}

Result<> Session::CheckRoom(const std::string& process_id) const {
  const Config& config = runtime_.config;
  if (ending_) return Fail(ErrorKind::kInvalidRequest, "the session is ending");
  if (processes_.contains(process_id)) {
    return Fail(ErrorKind::kInvalidRequest, fmt::format("process id {} is taken", process_id));
  }
  if (counts_.Full(config.max_processes_per_connection)) {
    return Fail(ErrorKind::kLimit, fmt::format("the limit of {} running processes per session is reached",
                                               config.max_processes_per_connection));
  }
  if (runtime_.processes.Full(config.max_processes)) {
    return Fail(ErrorKind::kLimit,
                fmt::format("the server's limit of {} running processes is reached", config.max_processes));
  }
  return {};
}

std::shared_ptr<ManagedProcess> Session::Find(std::string_view process_id) const {
  auto it = processes_.find(process_id);
  return it != processes_.end() ? it->second : nullptr;
}

void Session::WhenSettled(std::string_view process_id, loop::Callback callback) {
  if (auto process = Find(process_id)) return process->WhenSettled(std::move(callback));
  callback();
}

void Session::End(std::chrono::milliseconds grace, loop::Callback done) {
  ending_ = true;
  when_ended_.push_back(std::move(done));
  auto end = [&](const std::shared_ptr<ManagedProcess>& process) {
    if (process->process().gone()) return;
    if (grace.count() > 0) return process->process().Terminate(grace, [] {});
    process->process().Kill({});
  };
  for (auto& [id, process] : processes_) end(process);
  for (auto& process : lingering_) end(process);
  runtime_.file_helpers.End(id_, [this, self = std::weak_ptr(self_)] {
    if (self.expired()) return;
    helpers_gone_ = true;
    AnswerEndWhenGone();
  });
}

void Session::Notify(std::string message) {
  if (attachment_) attachment_->transport().Send(std::move(message));
}

void Session::NotifyLifecycle(const std::function<std::string()>& message) {
  if (attachment_ && attachment_->client().lifecycle == Lifecycle::kAnnounced) Notify(message());
}

// The id is free as soon as the client knows of the failure; the object goes when its keeper has been reaped.
void Session::OnFailed(ManagedProcess& process) {
  Count(&ProcessCounts::running, -1);
  auto it = processes_.find(process.id());
  if (it == processes_.end()) return;
  if (!process.process().gone()) lingering_.push_back(it->second);
  runtime_.loop.Post([keep_alive_until_unwound = std::move(it->second)] {});
  processes_.erase(it);
}

void Session::OnExited(ManagedProcess&) { Count(&ProcessCounts::running, -1); }

void Session::Count(size_t ProcessCounts::* which, int change) {
  counts_.*which += static_cast<size_t>(change);
  runtime_.processes.*which += static_cast<size_t>(change);
}

void Session::OnClosed(ManagedProcess& process) {
  auto expire = [self = std::weak_ptr(self_), id = process.id(), record = &process] {
    if (auto session = self.lock()) (*session)->Forget(id, record);
  };
  runtime_.retention.Keep(process.retained_bytes(), std::move(expire));
}

void Session::Forget(const std::string& process_id, const ManagedProcess* process) {
  auto it = processes_.find(process_id);
  if (it == processes_.end() || it->second.get() != process) return;
  if (!process->process().gone()) lingering_.push_back(it->second);
  processes_.erase(it);
}

void Session::OnGone(ManagedProcess& process) {
  Count(&ProcessCounts::alive, -1);
  auto it = std::ranges::find(lingering_, &process, &std::shared_ptr<ManagedProcess>::get);
  if (it != lingering_.end()) {
    runtime_.loop.Post([keep_alive_until_unwound = std::move(*it)] {});
    lingering_.erase(it);
  }
  AnswerEndWhenGone();
}

void Session::AnswerEndWhenGone() {
  if (when_ended_.empty() || !lingering_.empty() || !helpers_gone_) return;
  if (!std::ranges::all_of(processes_, [](auto& entry) { return entry.second->process().gone(); })) return;
  for (loop::Callback& done : when_ended_) runtime_.loop.Post(std::move(done));
  when_ended_.clear();
}

}  // namespace holdfast::exec_server
