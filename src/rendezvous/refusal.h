// The reasons for which a node refuses a request. Each has one row in a table: the status, the code and the text of the
// answer. The code is also the label of the metric that counts refusals.
#pragma once

#include <cstddef>
#include <string_view>

#include "transport/http_call.h"

namespace holdfast::rendezvous {

enum class Refusal {
  kNoToken,
  kBadToken,
  kTooManyAttempts,
  kIdNotAllowed,
  kBadTicket,
  kBadId,
  kBadRequest,
  kNoUpgrade,
  kUnknownPath,
  kBadMethod,
  kUnknownExecutor,
  kNoneWaits,
  kTokenIsFull,
  kNotReady,
  kNodeUnreachable,
};
inline constexpr size_t kRefusals = 15;

std::string_view CodeOf(Refusal refusal);

// Returns `{"error":{"code","message"}}` with the status of the refusal. `message` replaces the text of the table if it
// is not empty.
transport::HttpResponse ResponseTo(Refusal refusal, std::string_view message = "");

}  // namespace holdfast::rendezvous
