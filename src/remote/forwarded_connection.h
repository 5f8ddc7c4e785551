// A ForwardedConnection connects a client of the rendezvous to a server: it passes whole messages both ways. The server
// is dialled when the client speaks for the first time. While one side does not read, the other is not read either; and
// when one side ends, the other is closed. What waits for a side that does not read counts in the budget, and the
// budget may have such a connection closed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "rpc/transport.h"

namespace holdfast::remote {

class ForwardedConnection {
 public:
  using Dialled = Result<std::shared_ptr<rpc::Transport>>;
  using DialServer = std::function<loop::Task<Dialled>()>;

  // `on_end` is called once, when both sides have ended. It may destroy this object.
  ForwardedConnection(std::shared_ptr<rpc::Transport> client, loop::ByteBudget& budget, DialServer dial,
                      loop::Callback on_end);
  ForwardedConnection(const ForwardedConnection&) = delete;
  ForwardedConnection& operator=(const ForwardedConnection&) = delete;

  void Start() { client_.Open(); }
  void Close();

 private:
  // One of the two sides, which receives the messages of its connection.
  class Side final : public rpc::Receiver {
   public:
    Side(ForwardedConnection& owner, std::shared_ptr<rpc::Transport> transport)
        : owner_(owner), transport_(std::move(transport)), waiting_(owner.OpenPermit()) {}

    void Open() { transport_->Start(*this); }
    rpc::Transport& transport() { return *transport_; }
    bool ended() const { return ended_; }
    void Send(std::string message);

    void OnMessage(std::string_view message) override { owner_.OnMessage(*this, message); }
    void OnDrained() override {
      waiting_.Resize(0);
      owner_.OnDrained(*this);
    }
    void OnClosed() override {
      ended_ = true;
      owner_.OnClosed(*this);
    }

   private:
    ForwardedConnection& owner_;
    const std::shared_ptr<rpc::Transport> transport_;
    loop::ByteBudget::Permit waiting_;  // for messages in the queue of the transport, while it is congested
    bool ended_ = false;
  };

  loop::ByteBudget::Permit OpenPermit();
  void OnMessage(Side& from, std::string_view message);
  void OnDrained(Side& side);
  void OnClosed(Side& side);
  Side* OtherOf(Side& side);
  loop::Task<> Reach(std::string first_message);

  loop::ByteBudget& budget_;
  Side client_;
  std::optional<Side> server_;  // empty until it is reached
  const DialServer dial_;
  loop::Callback on_end_;
  std::optional<loop::Scope> dialling_{std::in_place};
};

}  // namespace holdfast::remote
