// The calls of a peer that have not been answered. A call is a local variable of the task that waits for the answer:
// when the task is destroyed, the call is forgotten, and its late answer is dropped. At most kMaxInFlight calls have
// been sent and not answered; further calls wait until one of them ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "loop/event.h"
#include "loop/task.h"
#include "rpc/message.h"
#include "wire/json.h"

namespace holdfast::rpc {

using Timeout = std::optional<std::chrono::milliseconds>;

struct OutgoingCall {
  int64_t id = 0;  // from PendingCalls::NextId
  std::string method;
  std::string message;  // the whole request
};

class PendingCalls {
 public:
  class Call;
  using SendMessage = std::move_only_function<void(std::string message)>;
  using OnForgotten = std::move_only_function<void(int64_t id)>;

  static constexpr size_t kMaxInFlight = 1024;

  // `on_forgotten` is called for each call that was sent and is destroyed before its answer.
  explicit PendingCalls(SendMessage send, OnForgotten on_forgotten = {})
      : send_(std::move(send)), on_forgotten_(std::move(on_forgotten)) {}
  ~PendingCalls();  // the calls that wait are neither answered nor refused
  PendingCalls(const PendingCalls&) = delete;
  PendingCalls& operator=(const PendingCalls&) = delete;

  // The ids of calls count from 1.
  int64_t NextId() { return ++last_id_; }

  // Returns whether a call has had this id.
  bool WasIssued(const RequestId& id) const;

  // Finds the call that `response` answers, decodes its result and removes it. Returns null if no call waits for this
  // response; otherwise the caller must call Wake on the call as its last act, because the task may destroy anything.
  Call* Settle(const Response& response);

  // Fails every call, and those that are made later, with `error`. Their tasks run inside this function, and may
  // destroy anything but this object.
  void FailAll(const Error& error);

 private:
  void Add(Call& call);
  void Remove(Call& call);
  void Forget(Call& call);
  void SendWaiting();

  SendMessage send_;
  OnForgotten on_forgotten_;
  int64_t last_id_ = 0;
  std::map<int64_t, Call*> waiting_, sent_;
  std::optional<Error> failure_;  // set by FailAll
};

class PendingCalls::Call {
 public:
  // Takes the result of the call. It is called at most once, while the message is parsed.
  using Decode = std::move_only_function<Result<>(wire::Json result)>;

  Call(PendingCalls& calls, OutgoingCall outgoing, Decode decode);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Waits until the call has been answered, which may be with an error, or has failed.
  loop::Task<Result<>> Wait(loop::EventLoop& loop, Timeout timeout);

  void Wake() { changed_.Notify(); }

 private:
  friend PendingCalls;
  Result<> OutcomeOf(const Response& response);

  PendingCalls* calls_ = nullptr;  // null if the calls are destroyed, or this one is not among them
  OutgoingCall outgoing_;          // the message is empty once it is sent
  Decode decode_;
  std::optional<Result<>> outcome_;
  loop::Event changed_;
};

}  // namespace holdfast::rpc
