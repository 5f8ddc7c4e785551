// The LinkDoor is where other nodes come in: it answers their requests with its own proof, checks theirs, and then
// begins a watch or a link. A peer that proves nothing within two seconds is dismissed, and earlier if many others wait
// as well.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "auth/attempt_limit.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/link/link_request.h"
#include "rendezvous/link/link_talk.h"
#include "rendezvous/link/link_watch.h"
#include "transport/web_socket_connection.h"

namespace holdfast::rendezvous {

class LinkDoor {
 public:
  // The number of peers that have proved nothing yet. When one more comes, the one that came first is dismissed.
  static constexpr size_t kMaxUnproven = 256;

  // Joins the client at the far end of a link to a connection of the executor that waits here. Returns whether one
  // does.
  using JoinWaiting = std::function<bool(const std::string& id, std::shared_ptr<Pipe> client)>;

  LinkDoor(loop::EventLoop& loop, const Bus& bus, JoinWaiting join) : loop_(loop), bus_(bus), join_(std::move(join)) {}

  // Agrees to the upgrade that a peer asks for.
  void Open(transport::UpgradedSocket socket, LinkRequest request);

  // Ends all links and watches, and dismisses all peers.
  void Close();

 private:
  using Unproven = std::list<std::unique_ptr<loop::Scope>>;

  loop::Task<> Meet(Unproven::iterator self, transport::UpgradedSocket socket, LinkRequest request);
  void Admit(LinkTalk talk, transport::Slot slot, const LinkRequest& request);
  void BeginWatch(LinkTalk talk, transport::Slot slot, const std::string& name);
  void BeginLink(LinkTalk talk, transport::Slot slot, const LinkRequest& request);
  void LogFailure(int socket, std::string_view peer, std::string_view reason);

  loop::EventLoop& loop_;
  const Bus& bus_;
  const JoinWaiting join_;
  auth::AttemptLimit limit_;
  std::map<std::string, std::unique_ptr<LinkWatch>> watches_;
  Unproven unproven_;  // the first comes first
};

}  // namespace holdfast::rendezvous
