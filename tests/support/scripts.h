// Shell scripts that more than one suite starts.
#pragma once

#include <string>

namespace holdfast::support {

// Starts as many shells in the background, each in a session of its own and the parent of the next, with a sleep beside
// it: two processes per link. When nobody holds them together, the next link is found only after one was killed.
inline std::string ChainOfSessions(int links) {
  return R"(LINK='if [ "$1" -gt 1 ]; then setsid sh -c "$LINK" link $(($1 - 1)) & fi; sleep 1000; :'; export LINK; )"
         R"(setsid sh -c "$LINK" link )" +
         std::to_string(links) + " & ";
}

}  // namespace holdfast::support
