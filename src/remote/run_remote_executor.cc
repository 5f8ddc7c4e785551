#include "remote/run_remote_executor.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/log.h"
#include "exec_server/server.h"
#include "exec_server/server_process.h"
#include "http/url.h"
#include "loop/event_loop.h"
#include "sys/io.h"

namespace holdfast::remote {
namespace {

// Calls a function when standard input ends. What comes before that is discarded.
class EndOfInputWatch {
 public:
  EndOfInputWatch(loop::EventLoop& loop, loop::Callback on_end)
      : on_end_(std::move(on_end)), watch_(loop, STDIN_FILENO, [this] { OnReadable(); }) {
    watch_.WatchReadable();
  }

 private:
  void OnReadable() {
    std::array<char, 4096> discarded;
    const ssize_t count = sys::Read(STDIN_FILENO, discarded.data(), discarded.size());
    if (count > 0 || count == -EAGAIN) return watch_.WatchReadable();
    on_end_();
  }

  loop::Callback on_end_;
  loop::FdWatch watch_;
};

void KeepSessionsThroughPauses(exec_server::Config& config) {
  if (config.detached_ttl_ms != 0) config.detached_ttl_ms = std::max(config.detached_ttl_ms, kMinDetachedTtlMs);
}

// Any process on the way to the registry could read the token.
void WarnOfPlainHttp(const Registrant& registrant) {
  const auto url = http::ParseUrl(registrant.registry_url);
  if (!url || url->scheme == "https" || url->host == "127.0.0.1" || url->host == "[::1]" || url->host == "localhost") {
    return;
  }
  LogWarn("registry.plain", {{"host", url->host}, {"why", "the token is sent without encryption; use https"}});
}

}  // namespace

Result<> RunRemoteExecutor(RemoteExecutorConfig config, const exec_server::RuntimePaths& paths) {
  if (auto token = ReadToken(config.token); !token) {
    return Fail(token.error().kind, Unauthenticated(config.registrant.form, token.error().message).message);
  }
  TRY(config.registrant, Checked(std::move(config.registrant)));
  KeepSessionsThroughPauses(config.server);
  TRY_VOID(exec_server::SetUpProcess(config.server, paths));
  if (::prctl(PR_SET_DUMPABLE, 0) < 0) return FailErrno("prctl", "PR_SET_DUMPABLE");
  WarnOfPlainHttp(config.registrant);
  loop::EventLoop loop;
  TRY(const auto server, exec_server::Server::CreateWithoutListener(loop, config.server, paths));
  if (!config.token.file.empty()) server->HideFromCommands(config.token.file);
  Executor executor(loop, *server,
                    {.registrant = config.registrant,
                     .token = config.token,
                     .ca_file = config.ca_file,
                     .max_connections = config.server.max_connections,
                     .on_registered = config.on_registered});
  std::optional<EndOfInputWatch> input;
  exec_server::RunUntilSignal(loop, *server, config.server, paths, [&] {
    if (config.end_of_input == RemoteExecutorConfig::EndOfInput::kStops) {
      input.emplace(loop, [&server] { server->Shutdown(); });
    }
    executor.Start();
  });
  return executor.outcome();
}

}  // namespace holdfast::remote
