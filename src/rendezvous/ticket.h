// A Ticket is the part of a rendezvous URL by which an executor that has registered proves itself to any node. Nodes
// keep no list of tickets: a ticket contains what it says, with a signature of the bus's key. It is not encrypted: the
// executor, and anything that sees the URL, can read it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::rendezvous {

struct Ticket {
  std::string executor_id;
  std::string registration_id;
  std::string name;
  std::string token_sha256;  // of the executor's token: a token that is withdrawn takes its tickets with it

  friend bool operator==(const Ticket&, const Ticket&) = default;
};

// Returns text that is fit for the query of a URL.
std::string Signed(const Ticket& ticket, std::string_view key);

// Fails if the text is not a ticket that was signed with that key.
Result<Ticket> Verified(std::string_view text, std::string_view key);

}  // namespace holdfast::rendezvous
