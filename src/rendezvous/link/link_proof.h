// The proof by which two nodes show each other that they know the key of their bus. Each signs what both know about the
// connection at hand, so that a proof is worth nothing on another connection: not for another node, URL or executor,
// not in the other direction, not a second time, and not on the far side of somebody who passes bytes on. There is no
// I/O here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::rendezvous {

enum class LinkRole { kDialler, kAcceptor };

struct LinkTerms {
  std::string node, url;        // of the acceptor, as it has published them
  std::string watch;            // the name that the dialler has given to its watch over the acceptor
  std::string executor;         // the executor whose connection is asked for; empty for the watch itself
  std::string dialler_nonce;    // random, chosen by the dialler for this connection
  std::string acceptor_nonce;   // likewise by the acceptor
  std::string channel_binding;  // in base64url, of the TLS connection if it ends at the two nodes; empty otherwise

  void Fields(auto& f) {
    f.Required("node", node);
    f.Required("url", url);
    f.Required("watch", watch);
    f.Required("executor", executor);
    f.Required("diallerNonce", dialler_nonce);
    f.Required("acceptorNonce", acceptor_nonce);
    f.Required("channelBinding", channel_binding);
  }
};

inline constexpr size_t kLinkProofBytes = 32;

// Returns the proof of one of the two. `key` is the ticket key of the bus.
std::string LinkProof(LinkRole role, const LinkTerms& terms, std::string_view key);

// Returns whether `given` is that proof; never with an empty key. The time that it takes says nothing about the proof.
bool IsLinkProof(std::string_view given, LinkRole role, const LinkTerms& terms, std::string_view key);

}  // namespace holdfast::rendezvous
