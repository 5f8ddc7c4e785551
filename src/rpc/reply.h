// The duty to answer one request. Move-only; answers exactly once. Dropping it unanswered answers an internal error, so
// no path can forget a client. When the connection is gone the answer goes nowhere.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "loop/byte_budget.h"
#include "rpc/envelope.h"
#include "wire/encode.h"

namespace holdfast::rpc {

// Where answers go: the connection that asked.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  // `cost` is what the request was counted with while it was in flight.
  virtual void Answer(std::string message, size_t cost) = 0;
};

class PendingReply {
 public:
  // `permit` is for the memory of the request, which lives as long as the duty to answer it.
  PendingReply(std::weak_ptr<ReplySink> sink, RequestId id, size_t cost, loop::ByteBudget::Permit permit = {})
      : sink_(std::move(sink)), id_(std::move(id)), cost_(cost), permit_(std::move(permit)) {}
  PendingReply(PendingReply&& other) noexcept;
  PendingReply& operator=(PendingReply&&) = delete;
  ~PendingReply();

  template <typename T>
  void Succeed(T result) {
    std::string message = Begin();
    wire::Encoder(message).Value(result);
    SucceedEncoded(std::move(message));
  }
  void Fail(const Error& error) { Answer(ErrorMessage(id_, error)); }

  // For a result that is encoded elsewhere, perhaps on another thread: Begin gives the start of the message, to which
  // the JSON of the result is appended.
  std::string Begin() const { return BeginResult(id_); }
  void SucceedEncoded(std::string message);

 private:
  void Answer(std::string message);

  std::weak_ptr<ReplySink> sink_;
  RequestId id_;
  size_t cost_;
  loop::ByteBudget::Permit permit_;
  bool pending_ = true;
};

template <typename T>
class Reply {
 public:
  explicit Reply(PendingReply pending) : pending_(std::move(pending)) {}

  void operator()(T result) { pending_.Succeed(std::move(result)); }
  void Fail(const Error& error) { pending_.Fail(error); }

  // For whoever encodes the result without a T.
  PendingReply Untyped() && { return std::move(pending_); }

 private:
  PendingReply pending_;
};

}  // namespace holdfast::rpc
