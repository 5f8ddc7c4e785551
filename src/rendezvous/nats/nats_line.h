// The connection of a node to NATS as the loop uses it. Nothing here blocks: publishing and subscribing are queued, and
// a worker does them in their order. The queue needs no bound of its own, because what a pipe has in it is part of its
// window, and everything else is small and as rare as connections.
//
// A line ends once and for all: when the connection is lost, when something cannot be sent, or by Close.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "loop/event_loop.h"
#include "loop/task_root.h"
#include "loop/worker_pool.h"
#include "rendezvous/nats/doorbell.h"
#include "rendezvous/nats/nats_connection.h"
#include "rendezvous/nats/nats_inbox.h"

namespace holdfast::rendezvous {

class NatsLine : public std::enable_shared_from_this<NatsLine> {
 public:
  // An object that is told when the line ends.
  class User : public loop::LeavesItsList {
   public:
    virtual void OnLineEnded() = 0;

   protected:
    ~User() = default;
  };

  // A subscription ends when this object is destroyed.
  class Subscription {
   public:
    Subscription(std::shared_ptr<NatsLine> line, uint64_t number, std::shared_ptr<NatsInbox> inbox);
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

    NatsInbox& inbox() { return *inbox_; }

    // Asks the server for no further messages. Those that are under way still arrive.
    void Leave();

   private:
    const std::shared_ptr<NatsLine> line_;
    const uint64_t number_;
    const std::shared_ptr<NatsInbox> inbox_;
  };

  static std::shared_ptr<NatsLine> Make(loop::EventLoop& loop, loop::WorkerPool& workers);
  ~NatsLine();

  // The connection that is made for this line rings the doorbell at its end, also if that comes before Begin.
  const std::shared_ptr<Doorbell>& bell() const { return bell_; }
  void Begin(std::shared_ptr<NatsConnection> connection);

  // Ends the line after what its users have to say about it. The call waits for that, a fifth of a second at most.
  void Close();
  bool ended() const { return ended_; }
  void AddUser(User& user);

  // These calls do nothing once the line has ended.
  void Publish(std::string subject, std::string bytes) { PublishRequest(std::move(subject), {}, std::move(bytes)); }
  void PublishRequest(std::string subject, std::string reply, std::string bytes);
  std::unique_ptr<Subscription> Subscribe(std::string subject, std::string queue, std::shared_ptr<NatsInbox> inbox);

 private:
  struct Outgoing;
  using Order = std::move_only_function<Result<>(Outgoing&)>;

  explicit NatsLine(loop::WorkerPool& workers);
  void Queue(Order order);
  void Work();
  void OnWorkDone();
  void End();
  void TellUsers();

  loop::WorkerPool& workers_;  // not used once the line has ended
  const std::shared_ptr<Outgoing> outgoing_;
  std::shared_ptr<Doorbell> bell_;
  loop::ListOf<User> users_;
  uint64_t last_subscription_ = 0;
  bool has_begun_ = false;
  bool ended_ = false;
};

}  // namespace holdfast::rendezvous
