// The private server of a user: an exec-server on a unix socket, which the first command that needs it starts, and
// which exits when it is idle. Several commands may want to start it at once; a lock sees to it that there is one.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime_dir/runtime_dir.h"

namespace holdfast::cli {

using runtime_dir::RuntimeDir;

struct PrivateServerOptions {
  RuntimeDir directory;
  std::string program = {};                  // the program to run; this one if empty
  std::vector<std::string> more_flags = {};  // further flags of the server
  std::chrono::milliseconds patience{10'000};
};

// Returns whether a server answers on the socket at this moment. `directory` is open at the place.
bool IsPrivateServerUp(int directory, const RuntimeDir& place);

// Returns when a server answers on the socket, and starts one if none does. The server outlives this program, and takes
// no part in its session, its terminal or its signals.
Result<> EnsurePrivateServer(const PrivateServerOptions& options);

// Returns true for the first call since a private server was started, by whichever process of the user, and then false
// until another one is started. The user is warned about the sandbox of a server once, however many commands follow.
bool TakeFirstUse(const RuntimeDir& place);

}  // namespace holdfast::cli
