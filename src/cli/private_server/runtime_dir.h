// The directory that has the socket, the lock and the log of a user's private server. Only that user has access to it.
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast::cli {

struct RuntimeDir {
  std::string path;

  std::string socket() const { return path + "/exec-server.sock"; }
  std::string lock() const { return path + "/exec-server.lock"; }
  std::string log() const { return path + "/exec-server.log"; }
  std::string url() const { return "unix://" + socket(); }
};

// Returns where the directory is: $XDG_RUNTIME_DIR/holdfast, or /tmp/holdfast-UID if that variable is not set.
RuntimeDir FindRuntimeDir();

// Fails if the directory is missing or a link, belongs to another user, or can be used by others: in /tmp any user
// could have made it, and could then pass for the server. A command checks this before it connects.
Result<> CheckRuntimeDir(const RuntimeDir& directory);

// Makes the directory if it is missing, and checks it.
Result<> PrepareRuntimeDir(const RuntimeDir& directory);

}  // namespace holdfast::cli
