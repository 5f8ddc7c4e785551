#include "rendezvous/run_rendezvous.h"

#include <sys/prctl.h>

#include <csignal>

#include "base/log.h"
#include "loop/event_loop.h"
#include "loop/signal_watch.h"
#include "rendezvous/node_process.h"
#include "sys/file_limit.h"

namespace holdfast::rendezvous {
namespace {

Result<> SetUpProcess(const RendezvousConfig& config) {
  TRY_VOID(InitLog(config.log_level, config.log_format));
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (::prctl(PR_SET_DUMPABLE, 0) < 0) return FailErrno("prctl", "PR_SET_DUMPABLE");
  TRY_VOID(sys::RaiseFileLimit());
  return {};
}

}  // namespace

Result<> RunRendezvous(const RendezvousConfig& config, const OnListening& on_listening) {
  TRY_VOID(SetUpProcess(config));
  loop::EventLoop loop;
  TRY(const auto node, NodeProcess::Create(loop, config));
  const loop::SignalWatch reload(loop, {SIGHUP}, [&](int) { node->ReloadTokens(); });
  loop.Post([&] { node->Start(on_listening); });
  loop::RunUntilSignal(loop, {SIGTERM, SIGINT}, [&] { node->Stop(); });
  return node->outcome();
}

}  // namespace holdfast::rendezvous
