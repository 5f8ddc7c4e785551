// The messages that follow a request (request.h), with the members that holdfast adds to the published protocol. They
// are sent only to a peer that has announced them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "escalate/stand_in/process_state.h"
#include "exec_policy/judge.h"

namespace holdfast::escalate {

// Message 2, to the wrapper.
struct ExecAnswer {
  exec_policy::Action action = exec_policy::Action::kDeny;
  std::optional<std::string> reason = {};  // of a denial
  // An escalation: the server takes all inherited descriptors and the ProcessState, and wants to be told of signals.
  bool takes_everything = false;

  friend bool operator==(const ExecAnswer&, const ExecAnswer&) = default;
};

// Message 3, to the server, after an escalation: the things that the command outside inherits from the wrapper
// (outside/outside_order.h).
struct HandOver {
  std::vector<int> fds = {};  // the numbers of the descriptors that come with the message
  std::optional<ProcessState> state = {};

  friend bool operator==(const HandOver&, const HandOver&) = default;
};

// Message 4, to the wrapper.
struct CommandNews {
  enum class Kind {
    kEnded,
    kStopped,  // only for a wrapper that has sent its ProcessState
  };
  Kind kind = Kind::kEnded;
  int exit_code = 0;
  int signal = 0;  // the signal that has stopped or killed the command; 0 if it has exited
  // Of a stop: how many SIGCONT the command had been sent. A wrapper that has passed on more ignores the news.
  uint64_t continue_count = 0;
  // The reason why a command could not be started, which the wrapper writes to its standard error.
  std::optional<std::string> reason = {};

  friend bool operator==(const CommandNews&, const CommandNews&) = default;
};

std::string Encode(const ExecAnswer& answer);
std::string Encode(const HandOver& message);
std::string Encode(const CommandNews& news);
std::string EncodeSignal(int signal);  // to the server: the wrapper has got a signal, which is for the command

// Decoding refuses numbers that no descriptor and no signal has.
Result<ExecAnswer> DecodeAnswer(std::string_view text);
Result<HandOver> DecodeHandOver(std::string_view text);
Result<CommandNews> DecodeNews(std::string_view text);
Result<int> DecodeSignal(std::string_view text);

}  // namespace holdfast::escalate
