// How a run ends: with the command's status, or with the reason why there is none.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/jail/inner_stage.h"

namespace holdfast::sandbox {

// The exit statuses of the programs that run commands, besides the command's own, which is 128 + N after signal N, and
// 127 or 126, as a shell has them, where there is no such command or it cannot be executed.
enum Status {
  kCannotEnforce = 1,          // the policy, here
  kBadUsage = 2,               // a command line or a profile that makes no sense
  kBadDigest = 8,              // the bundled bubblewrap is not the one it should be
  kInternal = kRefusedStatus,  // what should not happen
};

// Why the command has not been run, and the status to end with.
struct Failure {
  int status;
  std::string message;
};

// The command's own status.
using Outcome = std::expected<int, Failure>;

std::unexpected<Failure> Fails(int status, std::string message);

// The name that a program was called by, without its directory.
std::string_view CalledAs(int argc, char** argv);

// Writes a line to standard error, as programs do: it begins with `called_as`, the name that the program was called by.
void WriteMessage(std::string_view called_as, std::string_view message);

// The status to end with. Why a command has not been run is written as a message, and reported on `report_fd`.
int Conclude(std::string_view called_as, const Outcome& outcome, std::optional<int> report_fd = std::nullopt);

}  // namespace holdfast::sandbox
