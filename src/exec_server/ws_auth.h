// How a WebSocket listener tells the server's clients from other processes, decided from the configuration.
#pragma once

#include "base/result.h"
#include "exec_server/config/config.h"
#include "transport/admission.h"
#include "transport/listen_url.h"

namespace holdfast::exec_server {

// A fresh secret where the configuration asks for one, or the server picks its port; else only processes of the
// server's user and root are admitted, unless `insecure_no_auth` lets everybody in. Fails when the address would let
// other machines in unasked, or when this machine does not tell whose a connection is.
Result<transport::Admission> AdmissionFor(const transport::WebSocketUrl& url, const Config& config);

// Refuses a secret where no URL could carry it.
Result<> CheckAuthWithoutPort(const Config& config);

}  // namespace holdfast::exec_server
