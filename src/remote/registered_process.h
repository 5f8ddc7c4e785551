// The checks and precautions of a process that registers with a registry. RunRemoteExecutor and RunForwarder share
// them.
#pragma once

#include "base/result.h"
#include "remote/registrant.h"
#include "remote/token.h"

namespace holdfast::remote {

// Reads the token once, so that a token that cannot be used is found at the start. Returns the registrant, checked.
Result<Registrant> CheckRegistration(Registrant registrant, const TokenSource& token);

// Keeps other processes of the user from tracing this process or dumping its memory, which has the token and the URL of
// the rendezvous. Logs a warning if the token is sent without encryption.
Result<> ProtectSecrets(const Registrant& registrant);

}  // namespace holdfast::remote
