// Shell scripts that several tests run.
#pragma once

#include <string>

namespace holdfast::support {

// Returns a script that starts a chain of shells in the background. Each shell has a session of its own, is the parent
// of the next one, and has a sleep beside it: two processes per link. Unless a keeper holds them together, the next
// link is found only after the one before it has been killed.
inline std::string ChainOfSessions(int links) {
  return R"(LINK='if [ "$1" -gt 1 ]; then setsid sh -c "$LINK" link $(($1 - 1)) & fi; sleep 1000; :'; export LINK; )"
         R"(setsid sh -c "$LINK" link )" +
         std::to_string(links) + " & ";
}

}  // namespace holdfast::support
