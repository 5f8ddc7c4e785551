// The check of a node's settings that needs nothing but the settings: mistakes of the user that are found before
// anything is opened.
#pragma once

#include "base/result.h"
#include "rendezvous/rendezvous_config.h"

namespace holdfast::rendezvous {

// Fails if a setting cannot be used, or two of them do not fit together. No message contains the URL of a bus, which
// may have a password in it.
Result<> CheckConfig(const RendezvousConfig& config);

}  // namespace holdfast::rendezvous
