// The requests of other nodes for connections of executors that wait at this one. Each executor that waits here has a
// subscription of its own; all nodes where it waits form a queue, of which one gets each request. A request is the name
// of the pipe to the client.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loop/event_loop.h"
#include "rendezvous/nats/nats_line.h"

namespace holdfast::rendezvous {

class JoinRequests {
 public:
  using OnRequest = std::function<void(const std::string& id, std::string_view pipe_name)>;

  JoinRequests(loop::EventLoop& loop, std::string subject_prefix, OnRequest on_request);

  std::string SubjectOf(std::string_view id) const;

  // Takes requests for the executor, or ceases to. Requests that are under way then still come: `on_request` refuses
  // them, and their clients need not wait for nothing.
  void Take(const std::string& id);
  void Leave(const std::string& id);

  // Goes on with another line.
  void Use(std::shared_ptr<NatsLine> line);

 private:
  struct Requests {
    std::string id;
    std::unique_ptr<NatsLine::Subscription> subscription;
  };

  std::shared_ptr<Requests> Subscribe(const std::string& id);
  void Read(Requests& requests);
  void Forget();

  loop::EventLoop& loop_;
  const std::string prefix_;
  const OnRequest on_request_;
  std::shared_ptr<NatsLine> line_;                          // null before the first
  std::map<std::string, std::shared_ptr<Requests>> taken_;  // with null while there is no line
  std::vector<std::shared_ptr<Requests>> leaving_, left_;   // since one turn of the timer, and longer
  loop::Timer timer_;
};

}  // namespace holdfast::rendezvous
