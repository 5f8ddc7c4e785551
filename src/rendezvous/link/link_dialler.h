// The LinkDialler makes links to other nodes: it finds the nodes that have an executor on the bus, dials one, checks
// its proof and gives its own. It watches over each node that it has dialled, by one connection.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/link/link_proof.h"
#include "rendezvous/link/link_request.h"
#include "rendezvous/link/link_talk.h"
#include "rendezvous/link/link_watch.h"
#include "rendezvous/link/neighbours.h"
#include "transport/dial_url.h"
#include "transport/tls_context.h"

namespace holdfast::rendezvous {

// Whether a node is dialled at an http URL of another machine, so that others can read what is sent.
enum class PlainLinks { kOnThisMachine, kAnywhere };

class LinkDialler final : public Neighbours {
 public:
  LinkDialler(loop::EventLoop& loop, Bus& bus, PlainLinks plain) : loop_(loop), bus_(bus), plain_(plain) {}

  loop::Task<std::expected<std::shared_ptr<Pipe>, NotElsewhere>> Join(std::string id) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Neighbour {
    NodePlace place = {};
    std::string watch_name = {};
    std::unique_ptr<LinkWatch> watch = {};  // null while there is none
    bool is_dialled = false;                // a watch is on its way
    loop::Event dialled = {};
    Clock::time_point avoided_until = {};

    bool is_avoided() const { return Clock::now() < avoided_until; }
  };
  struct Met {
    LinkVerdict verdict;
    LinkTalk talk;
  };

  std::shared_ptr<Neighbour> NeighbourAt(const NodePlace& place);
  loop::Task<std::expected<std::shared_ptr<Pipe>, NotElsewhere>> JoinAt(NodePlace place, std::string id);
  loop::Task<> BeginWatch(std::shared_ptr<Neighbour> neighbour);
  loop::Task<Result<Met>> Meet(NodePlace place, LinkRequest request);
  Result<transport::WebSocketServer> ServerAt(const std::string& url);
  loop::Task<Result<>> Prove(LinkTalk& talk, std::string request, std::string distrust, LinkTerms terms,
                             loop::Deadline& deadline);
  static void Avoid(Neighbour& neighbour, const Error& reason);

  loop::EventLoop& loop_;
  Bus& bus_;
  const PlainLinks plain_;
  std::optional<transport::TlsContext> tls_;                      // once a node has an https URL
  std::map<std::string, std::shared_ptr<Neighbour>> neighbours_;  // by their names
  loop::Scope scope_;
};

}  // namespace holdfast::rendezvous
