#include "rendezvous/run_rendezvous.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "loop/event_loop.h"
#include "loop/signal_watch.h"
#include "rendezvous/node_process.h"
#include "sys/file_limit.h"

namespace holdfast::rendezvous {
namespace {

Result<> SetUpProcess(const RendezvousConfig& config) {
  const auto level = ParseLogLevel(config.log_level);
  const auto format = ParseLogFormat(config.log_format);
  if (!level) return Fail(ErrorKind::kInvalidParams, "unknown log level " + config.log_level);
  if (!format) return Fail(ErrorKind::kInvalidParams, "unknown log format " + config.log_format);
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (::prctl(PR_SET_DUMPABLE, 0) < 0) return FailErrno("prctl", "PR_SET_DUMPABLE");
  TRY_VOID(sys::RaiseFileLimit());
  InitLog(*level, *format);
  return {};
}

}  // namespace

Result<> RunRendezvous(const RendezvousConfig& config, const OnListening& on_listening) {
  TRY_VOID(SetUpProcess(config));
  loop::EventLoop loop;
  TRY(const auto node, NodeProcess::Create(loop, config));
  bool stopping = false;
  const loop::SignalWatch signals(loop, {SIGTERM, SIGINT}, [&](int signal) {
    if (std::exchange(stopping, true)) std::_Exit(128 + signal);
    node->Stop();
  });
  const loop::SignalWatch reload(loop, {SIGHUP}, [&](int) { node->ReloadTokens(); });
  node->Start(on_listening);
  loop.Run();
  return node->outcome();
}

}  // namespace holdfast::rendezvous
