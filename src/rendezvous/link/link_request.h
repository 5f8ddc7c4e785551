// The first and the last message between a node that dials another and the node that it dials.
#pragma once

#include <string>

namespace holdfast::rendezvous {

// The question in the head of an HTTP request: GET /links/EXECUTOR?watch=WATCH&nonce=NONCE, an upgrade to a WebSocket.
struct LinkRequest {
  std::string watch;     // the name of the dialler's watch over the node
  std::string nonce;     // the dialler's, of LinkTerms
  std::string executor;  // empty for the watch itself
};

// The answer to a node that has proved itself, in one byte.
enum class LinkVerdict : char {
  kGranted = 'g',       // the watch, or the link to a connection of the executor, begins behind this byte
  kNoneWaits = 'n',     // no connection of the executor waits here
  kUnknownWatch = 'u',  // the watch of that name has ended
};

inline constexpr size_t kLinkNonceBytes = 48;  // of a RandomSecret

}  // namespace holdfast::rendezvous
