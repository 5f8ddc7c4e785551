// The commands that run, watch and steer commands on a server.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command AttachCommand();   // connects this terminal with a run
Command CallCommand();     // calls any method of the protocol
Command InspectCommand();  // prints everything about a run
Command KillCommand();
Command LogsCommand();   // prints the output of a run
Command PruneCommand();  // removes the runs that have ended
Command PsCommand();     // lists the runs of a server
Command RunCommand();    // runs a command on a server as if it ran here
Command SendCommand();   // sends input to a run
Command WaitCommand();

}  // namespace holdfast::cli
