// The purpose of a stub: to run a program as it was judged, to refuse it, or to stand in for a command outside.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "escalate/outside/outside_command.h"
#include "escalate/seccomp/attempt.h"

namespace holdfast::escalate {

// The stub executes the program of this image (escalate/stub/protocol.h), which is exactly what was judged. The attempt
// is set if the path of the program may lead to another one by then: then the process is looked at before it runs.
struct RunAsJudged {
  std::string image;
  std::shared_ptr<const Attempt> doubted = nullptr;
};

// The stub writes the text to standard error, and exits with 1.
struct Refuse {
  std::string text;
};

// The stub stands in for this command outside. The order has the standard streams; the other descriptors and the state
// come from the stub.
struct StandIn {
  OutsideOrder order;
};

using StubPurpose = std::variant<RunAsJudged, Refuse, StandIn>;

std::string MakeImage(const std::string& path, std::span<const std::string> argv,
                      std::span<const std::string> environment);

// Returns a refusal with the reason, as the user reads it.
Refuse MakeRefusal(const std::string& reason);

// Returns the line that a stub writes whose command outside could not be started.
std::string MakeComplaint(const std::string& reason);

// Returns about how much memory the purpose takes.
size_t HeldBytes(const StubPurpose& purpose);

}  // namespace holdfast::escalate
