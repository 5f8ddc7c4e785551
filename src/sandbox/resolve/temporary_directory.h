// The directory that the place `:tmpdir` of a policy stands for. It comes from a command's $TMPDIR, which the client
// says, or what the client has asked about it: that must not open a directory which holds anything but temporary files.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

// Whether a policy has a rule about the place.
bool NamesTemporaryDirectory(const Policy& policy);

struct TemporaryDirectory {
  std::string wanted;          // $TMPDIR of the command
  std::string of_server = {};  // and of the server that starts it; empty: there is none
};

// The directory, if no link that a command could have made leads to it, it belongs to this user and lies below /tmp,
// /var/tmp, /run/user/UID or the server's own; /tmp, /var/tmp and the server's own themselves will do. Anything else
// fails with the reason, and the place is nowhere then.
Result<std::string> ResolveTemporaryDirectory(const TemporaryDirectory& directory);

}  // namespace holdfast::sandbox
