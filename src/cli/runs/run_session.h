// A run is a shared session that has one process. The commands find it by the name of the session.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/connect/invocation.h"
#include "client/exec_server_client.h"
#include "client/process.h"
#include "loop/task.h"
#include "wire/shared_session_messages.h"

namespace holdfast::cli {

inline constexpr const char* kMainProcess = "main";

// Returns the runs of the server, the oldest first. There are none if the private server does not run.
loop::Task<Result<std::vector<wire::ListedSession>>> ListRuns(Invocation& invocation);

// Returns the process of a run; null if it has not been started.
const wire::ListedProcess* MainProcessOf(const wire::ListedSession& run);

// Connects to a run that exists. Fails with kNotFound if there is none of this name.
loop::Task<Result<client::ExecServerClient>> JoinRun(Invocation& invocation, std::string name, wire::SessionRole role,
                                                     client::Approver approver = {});

// Returns the number of the latest event of a run's process; new events come behind it.
loop::Task<uint64_t> LatestSeq(client::ExecServerClient& client);

// Ends the session of a run, with everything that still runs in it.
loop::Task<Result<>> EndRun(client::ExecServerClient& client, std::string name);

}  // namespace holdfast::cli
