#include "exec_server/server_process.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <utility>

#include "base/log.h"
#include "loop/signal_watch.h"
#include "process/command/environment.h"
#include "sys/io.h"
#include "sys/short_slices.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

// The check takes a processor for longer than the server needs to start. A first client that waits for the start of the
// server is served before it.
constexpr auto kUntilStartupCheck = 250ms;

Result<> CheckPaths(const RuntimePaths& paths) {
  for (const std::string& path : {paths.sandbox_helper, paths.bubblewrap, paths.holdfast}) {
    if (!path.empty() && ::access(path.c_str(), X_OK) < 0) return FailErrno("access", path);
  }
  return {};
}

process::Command Examination(const std::string& holdfast, const Config& config) {
  return {.program = holdfast,
          .search_path = {},
          .argv = {"holdfast", "doctor", "--startup", "--backend", config.sandbox_backend},
          .env = process::CurrentEnvironment(),
          .cwd = "/"};
}

}  // namespace

// With these signals ignored, a write to a broken pipe or beyond the limit on a file's size fails with an error instead
// of ending the program.
Result<> PrepareProcess() {
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  return sys::ReserveLowFds();
}

Result<> SetUpProcess(const Config& config, const RuntimePaths& paths) {
  TRY_VOID(CheckPaths(paths));
  TRY_VOID(PrepareProcess());
  return InitLog(config.log_level, config.log_format);
}

void RunUntilSignal(loop::EventLoop& loop, Server& server, const Config& config, const RuntimePaths& paths,
                    loop::Callback on_ready) {
  loop::Timer check(loop, [&] { server.RunStartupCheck(Examination(paths.holdfast, config)); });
  if (config.sandbox_check && !paths.holdfast.empty()) check.Start(kUntilStartupCheck);
  loop.Post(std::move(on_ready));
  RunUntilSignal(loop, [&server] { server.Shutdown(); });
}

// After a second signal, the keepers of a server notice its end and kill what is left.
void RunUntilSignal(loop::EventLoop& loop, loop::Callback shut_down) {
  sys::raw::AskForShortSlices();
  loop::RunUntilSignal(loop, {SIGTERM, SIGINT}, std::move(shut_down));
}

}  // namespace holdfast::exec_server
