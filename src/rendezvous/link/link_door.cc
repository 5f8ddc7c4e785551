#include "rendezvous/link/link_door.h"

#include <utility>

#include "auth/peer_address.h"
#include "base/log.h"
#include "base/random_id.h"
#include "rendezvous/link/link_proof.h"
#include "rendezvous/relay/leg.h"
#include "transport/web_socket_accept.h"

namespace holdfast::rendezvous {
namespace {

constexpr std::chrono::milliseconds kProofTime{2'000};

std::string Text(LinkVerdict verdict) { return {static_cast<char>(verdict)}; }

}  // namespace

void LinkDoor::Open(transport::UpgradedSocket socket, LinkRequest request) {
  if (unproven_.size() >= kMaxUnproven) unproven_.pop_front();
  unproven_.push_back(std::make_unique<loop::Scope>());
  const auto self = std::prev(unproven_.end());
  (*self)->Start(Meet(self, std::move(socket), std::move(request)));
}

void LinkDoor::Close() {
  unproven_.clear();
  watches_.clear();
}

loop::Task<> LinkDoor::Meet(Unproven::iterator self, transport::UpgradedSocket socket, LinkRequest request) {
  LinkTalk talk(loop_, std::move(socket.stream), std::move(socket.early_input));
  const NodePlace place = bus_.place();
  const LinkTerms terms{.node = place.name,
                        .url = place.url,
                        .watch = request.watch,
                        .executor = request.executor,
                        .dialler_nonce = request.nonce,
                        .acceptor_nonce = RandomSecret(),
                        .channel_binding = talk.ChannelBinding()};
  const std::string key = bus_.ticket_key();
  loop::Deadline deadline(loop_, kProofTime);
  Result<std::string> proof = Fail(ErrorKind::kDisconnected, "it does not read");
  if (talk.Send(transport::UpgradeAnswer(socket.key) + terms.acceptor_nonce +
                LinkProof(LinkRole::kAcceptor, terms, key))) {
    proof = co_await talk.Receive(kLinkProofBytes, deadline);
  }
  unproven_.erase(self);  // this task ends without another wait
  if (!proof) {
    LogFailure(talk.stream().fd(), socket.peer, proof.error().message);
  } else if (!IsLinkProof(*proof, LinkRole::kDialler, terms, key)) {
    LogFailure(talk.stream().fd(), socket.peer, "it could not prove that it is a node");
  } else {
    Admit(std::move(talk), std::move(socket.slot), request);
  }
}

// A line for each failure would let strangers fill the log.
void LinkDoor::LogFailure(int socket, std::string_view peer, std::string_view reason) {
  const auto now = auth::AttemptLimit::Clock::now();
  if (limit_.Count(auth::PeerAddress::Of(socket), now) != auth::AttemptLimit::Failure::kFirst) return;
  LogWarn("link.refused", {{"peer", peer}, {"reason", reason}});
}

void LinkDoor::Admit(LinkTalk talk, transport::Slot slot, const LinkRequest& request) {
  if (request.executor.empty()) return BeginWatch(std::move(talk), std::move(slot), request.watch);
  BeginLink(std::move(talk), std::move(slot), request);
}

void LinkDoor::BeginWatch(LinkTalk talk, transport::Slot slot, const std::string& name) {
  if (!talk.Send(Text(LinkVerdict::kGranted))) return;
  watches_.insert_or_assign(name, std::make_unique<LinkWatch>(loop_, talk.TakeStream(), std::move(slot),
                                                              [this, name] { watches_.erase(name); }));
}

// The joined leg passes nothing on before the next turn of the loop, so the verdict comes first.
void LinkDoor::BeginLink(LinkTalk talk, transport::Slot slot, const LinkRequest& request) {
  const auto watch = watches_.find(request.watch);
  if (watch == watches_.end()) return (void)talk.Send(Text(LinkVerdict::kUnknownWatch));  // the connection ends anyway
  std::string rest = talk.TakeRest();
  const auto link = Leg::Link(
      loop_,
      {.stream = talk.TakeStream(), .peer = {}, .key = {}, .early_input = std::move(rest), .slot = std::move(slot)},
      {});
  if (!join_(request.executor, link)) {
    link->Send(Text(LinkVerdict::kNoneWaits));
    return link->Close();
  }
  link->Send(Text(LinkVerdict::kGranted));
  watch->second->Add(link);
}

}  // namespace holdfast::rendezvous
