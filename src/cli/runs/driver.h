// A driver steers the process of a run. Another client may take over the session at any time; this one then takes over
// again when it has something to say.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "client/exec_server_client.h"
#include "client/process.h"
#include "loop/task.h"

namespace holdfast::cli {

class Driver {
 public:
  // `client` outlives the driver.
  Driver(client::ExecServerClient& client, std::shared_ptr<client::Process> process)
      : client_(client), process_(std::move(process)) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  client::Process& process() const { return *process_; }

  loop::Task<Result<>> Write(std::string bytes);
  loop::Task<Result<>> CloseStdin();
  loop::Task<Result<>> Resize(client::TerminalSize size);
  loop::Task<Result<>> Signal(std::string name);
  loop::Task<Result<>> Terminate(std::chrono::milliseconds grace);
  // Lets the session live until it is ended.
  loop::Task<Result<>> Keep();

 private:
  loop::Task<Result<>> TakeOver();

  client::ExecServerClient& client_;
  const std::shared_ptr<client::Process> process_;
};

}  // namespace holdfast::cli
