// A client of the benchmarks: a connection of the product, which blocks. It reads process/output without the JSON
// parser, so that its own work hardly shows in the measured times.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "bench_server.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "rpc/peer.h"
#include "wire/json.h"
#include "wire/methods.h"
#include "wire/notification.h"

namespace holdfast::bench {

// The success of a request that was sent with Client::Send.
struct Answered {};

// The messages of the server that benchmarks look at. Others are dropped.
using Arrival = std::variant<Answered, wire::OutputFrame, wire::ProcessExitedParams, wire::ProcessClosedParams>;

enum class Wanted { kMore, kNoMore };

class Client final : public rpc::PeerHost {
 public:
  // Connects and goes through the handshake. Everything that fails, here or later, ends the program.
  explicit Client(const std::string& url);
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends a request, whose answer will be an arrival.
  template <typename Method>
  void Send(const typename Method::Params& params) {
    calls_->Start(NoteAnswer<typename Method::Result>(peer_->Call<Method>(params, std::nullopt)));
  }

  // Passes each arrival to `take`, until it returns kNoMore. The views in an arrival are valid during the call.
  using Take = std::function<Wanted(const Arrival& arrival)>;
  void Receive(const Take& take);

  // Sends a request and returns its result. Arrivals before the answer are dropped.
  template <typename Method>
  typename Method::Result Call(const typename Method::Params& params) {
    std::optional<Result<typename Method::Result>> answer;
    calls_->Start(Keep(peer_->Call<Method>(params, std::nullopt), answer));
    RunUntil([&answer] { return answer.has_value(); });
    RequireSuccess(*answer);
    return **std::move(answer);
  }

 private:
  template <typename T>
  loop::Task<> NoteAnswer(loop::Task<Result<T>> call) {
    RequireSuccess(co_await std::move(call));
    Note(Answered());
  }
  template <typename T>
  static loop::Task<> Keep(loop::Task<T> task, std::optional<T>& outcome) {
    outcome.emplace(co_await std::move(task));
    Stop();
  }
  template <typename T>
  static void RequireSuccess(const Result<T>& result) {
    if (!result) Require(false, result.error().message);
  }

  static std::shared_ptr<rpc::Transport> Dial(const std::string& url);
  // Runs the loop until `done` returns true. It is asked each time that Stop has been called.
  static void RunUntil(const std::function<bool()>& done);
  static void Stop();
  void Note(const Arrival& arrival);
  template <typename Params>
  void NoteParams(const rpc::Notification& notification);

  bool OnRawMessage(std::string_view message) override;
  void OnRequest(const rpc::Request& request, rpc::PendingReply reply) override;
  void OnNotification(const rpc::Notification& notification) override;
  void OnUnreadable(const Error& error) override { Require(false, error.message); }
  void OnClosed() override;

  loop::ByteBudget held_;
  wire::Document document_;
  const std::shared_ptr<rpc::Peer> peer_;
  const Take* take_ = nullptr;                       // not null while Receive wants more
  std::optional<loop::Scope> calls_{std::in_place};  // absent from the beginning of the destructor on
};

}  // namespace holdfast::bench
