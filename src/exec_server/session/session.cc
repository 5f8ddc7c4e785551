#include "exec_server/session/session.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/log.h"
#include "sandbox/launchers/launchers.h"
#include "wire/methods.h"
#include "wire/notification.h"

namespace holdfast::exec_server {

using wire::SessionRole;

Session::Session(SessionResources& resources, std::string id, std::optional<Sharing> sharing)
    : resources_(resources),
      id_(std::move(id)),
      sharing_(std::move(sharing)),
      processes_(std::make_shared<SessionProcesses>(
          resources.processes, link_, id_,
          shared() ? SessionProcesses::Finished::kStayUntilTheEnd : SessionProcesses::Finished::kExpire)) {}

std::optional<std::string> Session::name() const { return sharing_ ? std::optional(sharing_->name) : std::nullopt; }

Session::DetachedTtl Session::detached_ttl() const {
  return sharing_ ? sharing_->detached_ttl : std::chrono::milliseconds(resources_.config.detached_ttl_ms);
}

Attachment* Session::Find(Roles::Member member) const {
  const auto it = std::ranges::find(attachments_, member, [](const auto& attachment) { return attachment->member(); });
  return it != attachments_.end() ? it->get() : nullptr;
}

const Attachment* Session::driver() const { return roles_.driver() ? Find(*roles_.driver()) : nullptr; }

Attachment& Session::Attach(rpc::Transport& transport, const ClientTraits& client, std::optional<SessionRole> wanted) {
  const Attachment::Place place{
      .session = *this, .session_id = id_, .processes = *processes_, .member = next_member_++};
  auto owned = std::make_unique<Attachment>(place, resources_.workers, transport, client);
  Attachment& attachment = *attachments_.emplace_back(std::move(owned));
  const Roles::Joined joined = roles_.Join(attachment.member(), wanted);
  if (joined.demoted) Demote(*Find(*joined.demoted));
  if (joined.role == SessionRole::kDriver) {
    Drive(attachment);
  } else {
    Observe(attachment);
  }
  return attachment;
}

void Session::Detach(Attachment& attachment) {
  const bool was_driver = attachment.role() == SessionRole::kDriver;
  if (was_driver) {
    link_ = {};
    processes_->OnDriverChanged();
  } else {
    StopObserving(attachment);
  }
  const Roles::Member member = attachment.member();
  const std::optional<Roles::Member> next = roles_.Leave(member);
  std::erase_if(attachments_, [&](const auto& other) { return other.get() == &attachment; });
  processes_->DropWrites(member);
  if (next && !ending_) Find(*next)->Start(DriveAgain(*Find(*next)));
  if (was_driver) processes_->ResumeOutput();
  detached_.Notify();
}

loop::Task<rpc::Presence> Session::ProbeClient(std::chrono::milliseconds patience) {
  const Attachment* const asked = driver();
  if (asked == nullptr) co_return rpc::Presence::kSilent;
  const Roles::Member member = asked->member();
  const auto presence = co_await Find(member)->transport().Probe(patience);
  // The connection may have ended meanwhile.
  if (presence == rpc::Presence::kAnswers && Find(member) != nullptr) co_return presence;
  if (Attachment* const silent = Find(member)) {
    LogWarn("connection.silent", {{"session", id_}, {"peer", silent->transport().peer()}});
    silent->transport().Abort();
  }
  while (Find(member) != nullptr) co_await detached_.Next();
  co_return rpc::Presence::kSilent;
}

// Makes a former driver the driver when it has got all that it was to get as an observer. Another member may have taken
// the session over by then.
loop::Task<> Session::DriveAgain(Attachment& attachment) {
  while (!attachment.observer()->CatchUp()) {
    co_await attachment.drained().Next();
    if (roles_.driver() != attachment.member() || attachment.observer() == nullptr) co_return;
  }
  StopObserving(attachment);
  Drive(attachment);
  attachment.transport().Send(wire::EncodeNotification<wire::SessionRoleChanged>({id_, SessionRole::kDriver}));
}

void Session::TakeOver(Attachment& attachment) {
  if (const auto demoted = roles_.TakeOver(attachment.member())) Demote(*Find(*demoted));
  if (attachment.role() == SessionRole::kDriver) return;
  StopObserving(attachment);
  Drive(attachment);
}

void Session::Drive(Attachment& attachment) {
  link_ = ClientLink(attachment.transport(), attachment.client());
  link_.SetPeer(attachment.peer());
  processes_->OnDriverChanged();
}

void Session::OnReady(Attachment& attachment, std::weak_ptr<rpc::Peer> peer) {
  attachment.SetPeer(std::move(peer));
  if (attachment.role() == SessionRole::kDriver) Drive(attachment);
}

void Session::Observe(Attachment& attachment) {
  const ClientLink link(attachment.transport(), attachment.client());
  attachment.SetObserver(&processes_->Observe(link));
}

// Output may have stopped because the former driver did not read. It goes on in the next turn of the loop, when the
// next driver has its answer.
void Session::Demote(Attachment& attachment) {
  if (attachment.observer() != nullptr) return;  // it was to drive again, but was not notified yet
  Observe(attachment);
  attachment.transport().Send(wire::EncodeNotification<wire::SessionRoleChanged>({id_, SessionRole::kObserver}));
  resources_.loop.Post([weak = std::weak_ptr(processes_)] {
    if (const auto processes = weak.lock()) processes->ResumeOutput();
  });
}

void Session::StopObserving(Attachment& attachment) {
  processes_->StopObserving(*attachment.observer());
  attachment.SetObserver(nullptr);
}

void Session::OnDrained(Attachment& attachment) {
  if (Observer* observer = attachment.observer()) {
    (void)observer->CatchUp();  // a client that is congested again goes on when it drains again
  } else {
    processes_->ResumeOutput();
  }
  attachment.OnDrained();
}

void Session::End(wire::EndCause cause, std::chrono::milliseconds grace, loop::Callback done) {
  // The processes and the file helpers end independently; the later of the two calls `done`. The launchers end after
  // the processes, because their end would kill these at once.
  auto answer = std::make_shared<loop::Callback>(std::move(done));
  auto when_both_ended = [&loop = resources_.loop, answer, left = std::make_shared<int>(2)] {
    if (--*left == 0) loop.Post(std::move(*answer));
  };
  ending_ = true;
  for (const auto& attachment : attachments_) attachment->files().End();
  processes_->End(cause, grace,
                  [&launchers = resources_.processes.sandboxed.launchers, id = id_, when_both_ended]() mutable {
                    launchers.End(id, std::move(when_both_ended));
                  });
  resources_.file_helpers.End(id_, when_both_ended);
}

void Session::Dismiss() {
  std::vector<rpc::Transport*> transports;  // a copy, because closing a connection may end its attachment
  transports.reserve(attachments_.size());
  for (const auto& attachment : attachments_) transports.push_back(&attachment->transport());
  for (rpc::Transport* transport : transports) {
    transport->Send(wire::EncodeNotification<wire::SessionEnded>({id_}));
    transport->Close();
  }
}

}  // namespace holdfast::exec_server
