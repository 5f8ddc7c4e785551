// A reply is the duty to answer one request. It can be moved but not copied, and it answers exactly once. A reply that
// is destroyed unanswered sends an internal error, so that no path through the code leaves a client without an answer.
// If the connection is gone, the answer is discarded.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "loop/byte_budget.h"
#include "rpc/message.h"
#include "wire/encode.h"

namespace holdfast::rpc {

// The receiver of answers: the peer that the request came from.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  // `cost` is the number of bytes that the request counted as while it was in flight.
  virtual void Answer(std::string message, size_t cost) = 0;
  // The request was withdrawn by the client, and gets no answer.
  virtual void Withdraw(size_t cost) = 0;
};

class PendingReply {
 public:
  // `permit` counts the memory of the request, which is held until the request is answered.
  PendingReply(std::weak_ptr<ReplySink> sink, RequestId id, size_t cost, loop::ByteBudget::Permit permit = {},
               Dialect dialect = Dialect::kBare)
      : sink_(std::move(sink)), id_(std::move(id)), cost_(cost), permit_(std::move(permit)), dialect_(dialect) {}
  PendingReply(PendingReply&& other) noexcept;
  PendingReply& operator=(PendingReply&&) = delete;
  ~PendingReply();

  template <typename T>
  void Succeed(T result) {
    std::string message = Begin();
    wire::Encoder(message).Value(result);
    SucceedEncoded(std::move(message));
  }
  void Fail(const Error& error) { Answer(ErrorMessage(id_, error, dialect_)); }

  const RequestId& id() const { return id_; }

  // Ends the duty to answer, for a request that the client has cancelled in a protocol where such a request gets no
  // answer.
  void Withdraw();

  // These two serve a result that is encoded elsewhere, perhaps on another thread. Begin returns the start of the
  // message, the caller appends the JSON of the result, and SucceedEncoded sends the message.
  std::string Begin() const { return BeginResult(id_, dialect_); }
  void SucceedEncoded(std::string message);

 private:
  void Answer(std::string message);

  std::weak_ptr<ReplySink> sink_;
  RequestId id_;
  size_t cost_;
  loop::ByteBudget::Permit permit_;
  Dialect dialect_;
  bool pending_ = true;
};

template <typename T>
class Reply {
 public:
  explicit Reply(PendingReply pending) : pending_(std::move(pending)) {}

  void operator()(T result) { pending_.Succeed(std::move(result)); }
  void Fail(const Error& error) { pending_.Fail(error); }
  void Withdraw() { pending_.Withdraw(); }
  const RequestId& id() const { return pending_.id(); }

  // Returns the reply without its type, for a handler that encodes the result itself.
  PendingReply Untyped() && { return std::move(pending_); }

 private:
  PendingReply pending_;
};

}  // namespace holdfast::rpc
