// The bodies of the two requests by which an executor registers, and of their answers. No I/O is done here.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rendezvous/ticket.h"

namespace holdfast::rendezvous {

inline constexpr size_t kMaxExecutorNameBytes = 256;

// The body of a registration names its form: that of an executor with a name, or that of an environment.
enum class RegistrationForm { kExecutor, kEnvironment };

// Reads the body of a registration of `id` and returns the name of the executor, which is the id if the body has none.
// Members that are not known are ignored. A known one has to have its type, and must not contradict the path.
Result<std::string> ReadRegistration(RegistrationForm form, const std::string& id, std::string_view body);

// Returns the answer: `url` is where the executor connects to.
std::string RegistrationAnswer(RegistrationForm form, const Ticket& ticket, const std::string& url);

// Returns an id that is greater, as a text, than those that were made before, by the clocks of the nodes. So each node
// can tell which of two registrations is the later one.
std::string NextRegistrationId();

}  // namespace holdfast::rendezvous
