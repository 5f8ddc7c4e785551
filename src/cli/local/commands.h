// The commands that need no server, or that are one. Each is in the source of its name.
#pragma once

#include "cli/table/command.h"

namespace holdfast::cli {

Command CompletionCommand();       // prints the completion script of a shell
Command DebugLandlockCommand();    // the name that `sandbox` has in codex
Command DoctorCommand();           // tries out whether the sandbox works on this machine, and prints why it does not
Command ExecpolicyAllowCommand();  // appends a rule to a rules file
Command ExecpolicyCheckCommand();  // says what rules files decide about a command
Command ExecServerCommand();       // serves until a signal stops it
Command ForwardCommand();          // offers an exec-server that runs already to the clients of a rendezvous
Command HelpCommand();
Command ManCommand();         // prints the pages of the manual or writes them to files
Command McpServerCommand();   // gives an MCP client a shell
Command RendezvousCommand();  // joins clients to executors until a signal stops it
Command SandboxCommand();     // runs one command in a sandbox: the process becomes the helper
Command SchemaCommand();      // prints the protocol for programs
Command VersionCommand();

}  // namespace holdfast::cli
