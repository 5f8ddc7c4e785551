// A Registration is what a registry answers to a registrant. Reading the answer does no I/O.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "remote/registrant.h"
#include "transport/dial_url.h"

namespace holdfast::remote {

// The number of connections that the rendezvous wants from one executor. With kMany each of them serves one client, and
// the executor always keeps one more that waits for the next client.
enum class Connections { kOne, kMany };

struct Registration {
  std::string registration_id;  // the id that the registry gave to this registration
  std::string id;               // of the executor or of the environment
  std::string url;              // of the rendezvous. It contains credentials, so it is not for any message or log
  Connections connections = Connections::kOne;
};

struct RegistryAnswer {
  uint16_t status = 0;
  std::string body = {};
};

struct RegistryFailure {
  enum class Kind {
    kRefused,      // the registry has decided: 4xx, or an answer that cannot be used
    kUnavailable,  // the registry cannot be reached, or is not able to answer: 5xx
  };

  Kind kind;
  std::string message;  // may go to a terminal
};

// The message of a failure never contains `token`, even if the registry repeats it.
std::expected<Registration, RegistryFailure> ReadAnswer(const Registrant& registrant, const RegistryAnswer& answer,
                                                        std::string_view token);

// Returns the failure of a request that got no answer.
RegistryFailure Unreachable(const Registrant& registrant);
// Returns the failure of an answer that is too long to be read.
RegistryFailure Undecodable(const Registrant& registrant);
// Returns the failure of a token that cannot be used, for the given reason.
RegistryFailure Unauthenticated(Form form, std::string_view reason);

// Returns the server of a rendezvous URL, which must be ws or wss. The message of an error has no part of the path.
Result<transport::ServerUrl> RendezvousServer(const Registration& registration);

}  // namespace holdfast::remote
