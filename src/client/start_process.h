// How a process comes to its handle: it is started, or it exists already.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/event_stream.h"
#include "client/process.h"
#include "loop/task.h"

namespace holdfast::client {

class Session;

// If the connection is lost before the answer, the server is asked whether it knows the process. If it does, the
// process was started. If it does not, the request has not arrived and is sent again, but only within the time for
// which every server remembers a process that has ended.
loop::Task<Result<std::shared_ptr<Process>>> StartProcess(std::shared_ptr<Session> session, StartOptions options);

loop::Task<Result<std::shared_ptr<Process>>> AttachProcess(std::shared_ptr<Session> session, std::string process_id,
                                                           uint64_t after_seq, Backlog backlog);

}  // namespace holdfast::client
