// RunForwarder is a whole process that offers an exec-server which runs elsewhere to the clients of a rendezvous.
#pragma once

#include <string>

#include "base/log.h"
#include "base/result.h"
#include "remote/end_of_input_watch.h"
#include "remote/executor.h"
#include "remote/forwarder.h"
#include "remote/registrant.h"
#include "remote/token.h"

namespace holdfast::remote {

struct ForwarderConfig {
  Registrant registrant = {};
  TokenSource token = {};
  std::string ca_file = {};  // certificates that https and wss trust besides the roots of the system; PEM
  ForwardTarget target = {};
  std::string log_level = "info", log_format = "text";
  OnRegistered on_registered = {};
  EndOfInput end_of_input = EndOfInput::kIgnored;  // of standard input
};

// Forwards on this thread until SIGTERM or SIGINT arrives, or a fatal error, which is returned.
Result<> RunForwarder(ForwarderConfig config);

}  // namespace holdfast::remote
