// The bearer token by which an executor proves its identity to a registry. It is given as text, in the environment or
// as a line of input, or as a file that is read again for each registration, so that a token can be replaced while the
// executor runs.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::remote {

inline constexpr const char* kTokenVariable = "CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN";
inline constexpr const char* kTokenFileVariable = "HOLDFAST_REMOTE_TOKEN_FILE";

struct TokenSource {
  std::string token = {};
  std::string file = {};  // if it is set, it counts in the place of `token`
};

// Takes the token out of the environment of this process, or the name of its file if there is no token. Afterwards
// neither variable is in the environment that commands inherit, and the token is not in /proc/PID/environ. It must be
// called before other threads read the environment. Fails if neither variable is set, or the token is blank; `noun` is
// the word for the registry in the message.
Result<TokenSource> TakeTokenSource(std::string_view noun);

// Reads the token from the descriptor, up to the end of the line and not beyond it, and takes the variables of
// TakeTokenSource out of the environment, which do not count then. Fails if the input ends before the line does, or the
// line is blank or too long. The call blocks until there is a line.
Result<TokenSource> ReadTokenLine(int fd);

// Returns the token without the blanks around it. A file must be a regular file of this user or of root that other
// users can neither read nor change: a token that others know, or have chosen, proves nothing. No error contains any
// part of the token. The call may block.
Result<std::string> ReadToken(const TokenSource& source);

}  // namespace holdfast::remote
