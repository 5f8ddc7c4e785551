// AnswerWithin sends an answer that may be long, and makes it only when a byte budget has room for it. So clients that
// do not read their answers cannot make the server hold more than the budget.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "loop/byte_budget.h"
#include "loop/task.h"
#include "rpc/reply.h"
#include "wire/encode.h"

namespace holdfast::rpc {

inline constexpr size_t kFreeAnswerBytes = 64u << 10;  // an answer that is no longer than this needs no permit

template <typename T>
std::string EncodeAnswer(const PendingReply& reply, T result) {
  std::string message = reply.Begin();
  wire::Encoder(message).Value(result);
  return message;
}

// Answers with the result that `describe` returns when there is room for `expected_bytes`. The exact length is known
// only when the answer is encoded. An answer that is longer, and for which there is no room, is discarded and made
// again when there is. The request is refused if the wait takes too long.
template <typename T, typename Describe>
loop::Task<> AnswerWithin(loop::ByteBudget& budget, size_t expected_bytes, Reply<T> reply, Describe describe) {
  PendingReply pending = std::move(reply).Untyped();
  auto room = budget.Open();
  for (size_t bytes = expected_bytes;;) {
    if (bytes > kFreeAnswerBytes) {
      if (const auto granted = co_await room.Await(bytes); !granted) co_return pending.Fail(granted.error());
    }
    std::string message = EncodeAnswer(pending, describe());
    bytes = message.size();
    if (bytes <= kFreeAnswerBytes || room.TryResize(bytes)) co_return pending.SucceedEncoded(std::move(message));
  }
}

}  // namespace holdfast::rpc
