// RunRemoteExecutor is a whole server that does not listen, but connects to a rendezvous and serves the clients that
// reach it there. It is one call, for the program `holdfast` and for programs that embed a server.
#pragma once

#include <string>

#include "base/result.h"
#include "exec_server/config/config.h"
#include "exec_server/runtime_paths.h"
#include "remote/end_of_input_watch.h"
#include "remote/executor.h"
#include "remote/registrant.h"
#include "remote/token.h"

namespace holdfast::remote {

struct RemoteExecutorConfig {
  Registrant registrant = {};
  TokenSource token = {};
  std::string ca_file = {};         // certificates that https and wss trust besides the roots of the system; PEM
  exec_server::Config server = {};  // the settings for listening have no effect
  OnRegistered on_registered = {};
  EndOfInput end_of_input = EndOfInput::kIgnored;  // of standard input
};

// Serves on this thread until SIGTERM or SIGINT arrives, or a fatal error, which is returned. The process changes as
// with RunExecServer, and it cannot be traced or dumped any more, because its memory has the token and the URL of the
// rendezvous. A session that has lost its connection is kept for at least kMinDetachedTtlMs, unless `detached_ttl_ms`
// is 0.
Result<> RunRemoteExecutor(RemoteExecutorConfig config, const exec_server::RuntimePaths& paths);

// The longest pause, the time for a registration and a connection, and the time that clients need to notice and come
// back.
inline constexpr uint64_t kMinDetachedTtlMs = 90'000;

}  // namespace holdfast::remote
