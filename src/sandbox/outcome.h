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

// Says something to whoever started the program, on standard error. `speaker` is the name that it was started by.
void Say(std::string_view speaker, std::string_view message);

// The status to end with. Says why a command has not been run, also on the report's descriptor.
int Conclude(std::string_view speaker, const Outcome& outcome, std::optional<int> report_fd = std::nullopt);

}  // namespace holdfast::sandbox
