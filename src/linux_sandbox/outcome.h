// How a run ends: with the command's status, or with the reason why there is none.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::linux_sandbox {

// The exit statuses of the programs that run commands, besides the commands' own.
enum Status {
  kCannotEnforce = 1,
  kBadUsage = 2,
  kBadDigest = 8,
  kInternal = 101,
};

// Why the command has not been run, and the status to end with.
struct Failure {
  int status;
  std::string message;
};

// The command's own status.
using Outcome = std::expected<int, Failure>;

// Says something to whoever started the program, on standard error.
void Say(std::string_view message);

// The status to end with. Says why a command has not been run, also on the report's descriptor.
int Conclude(const Outcome& outcome, std::optional<int> report_fd = std::nullopt);

}  // namespace holdfast::linux_sandbox
