#include "sandbox/proxy/bridge.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <climits>
#include <utility>

#include "sandbox/proxy/relay.h"
#include "sys/file_limit.h"
#include "sys/inherit.h"
#include "sys/io.h"
#include "sys/socket_pair.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

// Separates this process from the session, the streams and the directory of its parent. Returns a copy of `control`,
// which is the only descriptor of the parent's that stays open.
Result<OwnedFd> Detach(int control) {
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

Result<> Relay(int control, const std::vector<ProxyEndpoint>& endpoints) {
  TRY(OwnedFd kept, Detach(control));
  (void)sys::RaiseFileLimit();  // a failure only allows fewer connections at a time
  return ProxyRelay(std::move(kept), endpoints).Run();
}

}  // namespace

Result<OwnedFd> StartProxyBridge(const std::vector<ProxyEndpoint>& endpoints) {
  TRY(const sys::SocketPair pair, sys::MakePacketPair());
  TRY(OwnedFd control, sys::Duplicate(pair.theirs.get()));
  TRY_VOID(sys::LetInherit(control.get()));
  // The child cannot report a failure. Its end shows inside, where sending the listeners to it fails.
  auto in_child = [&] { return Relay(pair.ours.get(), endpoints) ? 0 : 1; };
  TRY_VOID(sys::Spawn(sys::Sharing::kNothing, in_child));
  return control;
}

}  // namespace holdfast::sandbox
