// The messages that follow a request (request.h), as published wrappers and servers write and read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec_policy/judge.h"

namespace holdfast::escalate {

// Message 2, to the wrapper.
struct ExecAnswer {
  exec_policy::Action action = exec_policy::Action::kDeny;
  std::optional<std::string> reason = {};  // of a denial

  friend bool operator==(const ExecAnswer&, const ExecAnswer&) = default;
};

// Message 3, to the server, after an escalation.
struct HandOver {
  std::vector<int> fds = {};  // the numbers of the descriptors that come with the message

  friend bool operator==(const HandOver&, const HandOver&) = default;
};

// Message 4, to the wrapper, after the end of a command outside.
struct ExitCode {
  int exit_code = 0;  // 0 to 255

  friend bool operator==(const ExitCode&, const ExitCode&) = default;
};

std::string Encode(const ExecAnswer& answer);
std::string Encode(const HandOver& message);
std::string Encode(const ExitCode& end);

// Decoding refuses numbers that no descriptor has.
Result<ExecAnswer> DecodeAnswer(std::string_view text);
Result<HandOver> DecodeHandOver(std::string_view text);
Result<ExitCode> DecodeExitCode(std::string_view text);

}  // namespace holdfast::escalate
