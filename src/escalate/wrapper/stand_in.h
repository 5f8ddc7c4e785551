// The wrapper stands in for a command that the server runs outside of the sandbox: it hands over what the command would
// have inherited, passes signals on, and ends as the command ends.
#pragma once

#include <string>

#include "base/result.h"
#include "escalate/messages/messages.h"
#include "escalate/wrapper/server_link.h"

namespace holdfast::escalate {

// Returns the exit code of the command. If the command was killed by a signal, this process is killed by the same
// signal. If it could not be started, the reason is written to standard error, behind `file`. `datagram_socket` is not
// handed over. To a server that does not take everything the standard streams are handed over, and a signal then has
// its usual effect on this process alone.
Result<int> StandInForCommand(ServerLink& server, const ExecAnswer& answer, const std::string& file,
                              int datagram_socket);

}  // namespace holdfast::escalate
