// An OfferedServer is what an executor offers to the clients of a rendezvous: the exec-server of this process, or
// another one that a Forwarder connects them to.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "rpc/transport.h"
#include "transport/listener.h"

namespace holdfast::remote {

// An OfferedConnection is a connection to the rendezvous, which waits there until a client is joined to it. It passes
// everything through, and reports when the client speaks for the first time and when the connection has ended.
class OfferedConnection final : public rpc::Transport, private rpc::Receiver {
 public:
  // `on_change` is called when taken() or ended() has become true, after the receiver was called.
  OfferedConnection(std::shared_ptr<rpc::Transport> transport, std::function<void()> on_change)
      : transport_(std::move(transport)), on_change_(std::move(on_change)) {}

  bool taken() const { return taken_; }  // a client has sent a message
  bool ended() const { return ended_; }

  void Start(rpc::Receiver& receiver) override;
  void Send(std::string message) override { transport_->Send(std::move(message)); }
  bool congested() const override { return transport_->congested(); }
  void SetReading(rpc::Reading reading) override { transport_->SetReading(reading); }
  void Close() override { transport_->Close(); }
  void Abort() override { transport_->Abort(); }
  loop::Task<rpc::Presence> Probe(std::chrono::milliseconds patience) override { return transport_->Probe(patience); }
  std::string_view peer() const override { return transport_->peer(); }

 private:
  void OnMessage(std::string_view message) override;
  void OnDrained() override { receiver_->OnDrained(); }
  void OnClosed() override;

  const std::shared_ptr<rpc::Transport> transport_;
  const std::function<void()> on_change_;
  rpc::Receiver* receiver_ = nullptr;
  bool taken_ = false, ended_ = false;
};

class OfferedServer {
 public:
  virtual ~OfferedServer() = default;

  // Serves the client behind a connection of the rendezvous. A server that is stopping closes it.
  virtual void Serve(std::shared_ptr<rpc::Transport> connection) = 0;

  // Returns the limits for connections that are passed to Serve.
  virtual transport::Limits limits() const = 0;

  // Closes the connections and then stops the loop.
  virtual void Shutdown() = 0;
  virtual bool stopping() const = 0;
};

}  // namespace holdfast::remote
