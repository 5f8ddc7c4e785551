// Admission decides by the table of tokens which requests are served. It limits the failed attempts of each address and
// logs them, without the tokens, and counts the connections of each token.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <string>

#include "auth/attempt_limit.h"
#include "rendezvous/refusal.h"
#include "rendezvous/token_table.h"
#include "transport/connection_slots.h"
#include "transport/http_call.h"

namespace holdfast::rendezvous {

class Admission {
 public:
  explicit Admission(TokenTable table) : table_(std::move(table)) {}

  // Returns the rights of the token in the Authorization header. A client may have its token in the query instead,
  // because not every WebSocket client can send headers. A token that is valid is served from every address: one
  // address may stand for many machines, and a stranger among them must not be able to keep the others out. Failures
  // beyond the limit of an address are answered with kTooManyAttempts.
  std::expected<TokenRights, Refusal> Check(const transport::HttpCall& call, TokenRights::Role role);

  const TokenTable& table() const { return table_; }
  void Replace(TokenTable table);

  // Returns null if the token has as many connections as it may have. A connection gives its slot back by destroying
  // it.
  transport::Slot TakeSlot(const TokenRights& rights);

 private:
  TokenTable table_;
  auth::AttemptLimit limit_;
  // Each slot of a token is a copy of one shared pointer, so its use count is the number of connections.
  std::map<std::string, std::shared_ptr<char>, std::less<>> slots_;
};

}  // namespace holdfast::rendezvous
