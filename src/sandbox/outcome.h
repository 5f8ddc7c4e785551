// The outcome of a run is the command's exit status, or the reason why the command has not been run.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/jail/inner_stage.h"

namespace holdfast::sandbox {

// The exit statuses of our programs that run commands. Besides these there is the command's own status, which is 128 +
// N after signal N. As in a shell, 127 means that there is no such command, and 126 that it cannot be executed.
enum Status {
  kCannotEnforce = 1,          // the policy cannot be enforced on this machine
  kBadUsage = 2,               // the command line or the profile makes no sense
  kBadDigest = 8,              // the bundled bubblewrap does not have the expected digest
  kInternal = kRefusedStatus,  // an error that should not happen
};

// The reason why the command has not been run, and the exit status of the program.
struct Failure {
  int status;
  std::string message;
  bool is_about_change = false;  // a file was removed or replaced meanwhile, so another attempt may succeed
};

// The command's own status.
using Outcome = std::expected<int, Failure>;

std::unexpected<Failure> Fails(int status, std::string message);

// Returns the name that a program was called by, without its directory.
std::string_view CalledAs(int argc, char** argv);

// Writes a line to standard error, as programs do: it begins with `called_as`, the name that the program was called by.
void WriteMessage(std::string_view called_as, std::string_view message);

// Returns the exit status of the program. The reason why a command has not been run is written as a message, and
// reported on `report_fd`.
int Conclude(std::string_view called_as, const Outcome& outcome, std::optional<int> report_fd = std::nullopt);

}  // namespace holdfast::sandbox
