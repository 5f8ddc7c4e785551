// The directory that the place `:tmpdir` of a policy stands for. It comes from the $TMPDIR of the command, which is
// chosen by the client, or by a program that the client has asked for it. This choice must not make a directory
// writable that holds anything but temporary files.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

// Returns whether a policy has an entry for `:tmpdir`.
bool NamesTemporaryDirectory(const Policy& policy);

struct TemporaryDirectory {
  std::string wanted;          // $TMPDIR of the command
  std::string of_server = {};  // $TMPDIR of the server that starts the command; empty when it has none
};

// Returns the directory if it may be used. Its path must not cross a link that a command could have made. It must be
// /tmp, /var/tmp or the $TMPDIR of the server, or belong to this user and lie below one of these or below
// /run/user/UID. For any other directory the function fails with the reason, and `:tmpdir` stands for no path.
Result<std::string> ResolveTemporaryDirectory(const TemporaryDirectory& directory);

}  // namespace holdfast::sandbox
