// The directory that has the socket, the lock and the log of a user's private server. Only that user has access to it,
// and every sandbox hides it from its command: a command that listened there would get what the user's next `holdfast`
// sends, and one that connects there could start commands without a sandbox.
#pragma once

#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::runtime_dir {

struct RuntimeDir {
  std::string path;

  std::string socket() const { return path + "/exec-server.sock"; }
  std::string lock() const { return path + "/exec-server.lock"; }
  std::string log() const { return path + "/exec-server.log"; }
  // An empty file from the start of a private server until the first command in a sandbox.
  std::string first_use() const { return path + "/exec-server.first-use"; }
  std::string url() const { return "unix://" + socket(); }
};

// Returns where the directory is: $XDG_RUNTIME_DIR/holdfast; if that variable is not set, /run/user/UID/holdfast, if
// the directory above it is there and belongs to this user; and else ~/.cache/holdfast. It is never a directory of
// /tmp, where commands with a sandbox usually write. Fails if HOME is needed and not set.
Result<RuntimeDir> FindRuntimeDir();

// Returns all paths that FindRuntimeDir may return for this user: now, or in an environment without XDG_RUNTIME_DIR.
std::vector<std::string> PlacesOfRuntimeDir();

// Opens the directory. Fails if it is missing or a link, belongs to another user, or can be used by others: another
// user could have made it, and could then pass for the server. The error contains the remedy.
Result<OwnedFd> OpenRuntimeDir(const RuntimeDir& directory);

// Makes the directory if it is missing, and opens it.
Result<OwnedFd> PrepareRuntimeDir(const RuntimeDir& directory);

}  // namespace holdfast::runtime_dir
