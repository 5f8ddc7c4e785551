#include "sandbox/proxy/bridge.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <utility>

#include "sandbox/proxy/relay.h"
#include "sys/file_limit.h"
#include "sys/inherit.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

// The time that the bridge has to pass on what the command had sent.
constexpr int kDrainMs = 200;

// Separates this process from the session, the streams and the directory of its parent, and makes the kernel kill it
// when the parent ends. Returns a copy of `control`, which is the only descriptor of the parent's that stays open.
Result<OwnedFd> Detach(int control, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return Fail(ErrorKind::kInvalidRequest, "proxy bridge: its parent is gone");
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return FailErrno("prctl", "dumpable");
  ::prctl(PR_SET_NAME, "proxy-bridge");
  ::setsid();
  (void)::chdir("/");  // a failure does no harm
  TRY(OwnedFd kept, sys::Duplicate(control));
  const auto number = static_cast<unsigned>(kept.get());
  ::close_range(0, number - 1, 0);
  ::close_range(number + 1, UINT_MAX, 0);
  TRY_VOID(sys::ReserveLowFds());
  return kept;
}

Result<> Relay(int control, pid_t parent, const std::vector<ProxyEndpoint>& endpoints) {
  TRY(OwnedFd kept, Detach(control, parent));
  (void)sys::RaiseFileLimit();  // a failure only allows fewer connections at a time
  return ProxyRelay(std::move(kept), endpoints).Run();
}

}  // namespace

Result<ProxyBridge> ProxyBridge::Start(const std::vector<ProxyEndpoint>& endpoints) {
  TRY(const sys::SocketPair pair, sys::MakePacketPair());
  TRY(OwnedFd control, sys::Duplicate(pair.theirs.get()));
  TRY_VOID(sys::LetInherit(control.get()));
  const pid_t parent = ::getpid();
  // The child cannot report a failure. Its end shows inside, where sending the listeners to it fails.
  auto in_child = [&] { return Relay(pair.ours.get(), parent, endpoints) ? 0 : 1; };
  sys::Child process;
  TRY(process.pid, sys::Spawn(sys::Sharing::kNothing, in_child));
  process.pidfd = sys::OpenPidfd(process.pid).value_or(OwnedFd());
  return ProxyBridge(std::move(control), std::move(process));
}

// The control socket is shut down, not only closed, because other processes may hold copies of it.
ProxyBridge::~ProxyBridge() {
  if (!control_.is_open()) return;
  ::shutdown(control_.get(), SHUT_RDWR);
  pollfd ended = {.fd = process_.pidfd.get(), .events = POLLIN, .revents = 0};
  (void)::poll(&ended, 1, kDrainMs);  // the bridge is killed after this, whatever the result
  ::kill(process_.pid, SIGKILL);
  (void)sys::AwaitStatus(process_.pid);
}

}  // namespace holdfast::sandbox
