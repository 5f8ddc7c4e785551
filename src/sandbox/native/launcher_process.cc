#include "sandbox/native/launcher_process.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/record_reader.h"
#include "process/keeper/protocol.h"
#include "sandbox/confine/capabilities.h"
#include "sandbox/jail/inner_orders.h"
#include "sandbox/jail/inner_stage.h"
#include "sandbox/jail/placeholder_reaper.h"
#include "sandbox/jail/placeholders.h"
#include "sandbox/native/launch_request.h"
#include "sandbox/native/mount_builder.h"
#include "sandbox/native/namespaces.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/mount_changes.h"
#include "sys/own_arguments.h"
#include "sys/pidfd.h"
#include "sys/read_to_end.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {
namespace {

using process::KeeperEvent;
using process::KeeperEventKind;
using process::StartStep;

std::string_view BytesOf(const KeeperEvent& event) { return {reinterpret_cast<const char*>(&event), sizeof event}; }

// The orders of the server tell which command is run, and how the plan is enforced besides the mounts. What they could
// tell about descriptors would be about those of the server.
bool AreAboutCommandAlone(const InnerOrders& orders) {
  return !orders.built_in && orders.absent.empty() && orders.mounts.empty() && orders.kept_fds.empty() &&
         !orders.proxy && !orders.streams && !orders.port_ruleset_fd && !orders.report_fd && !orders.lifeline_fd &&
         !orders.control_fd && !orders.exec_supervisor_fd;
}

// Makes the terminal the controlling one of pid 1, which leads a session for that.
Result<> TakeTerminal(int terminal) {
  if (terminal < 0) return {};
  if (::setsid() < 0) return FailErrno("setsid");
  if (::ioctl(terminal, TIOCSCTTY, 0) < 0) return FailErrno("ioctl", "terminal");
  return {};
}

class LauncherProcess {
 public:
  LauncherProcess(const LauncherSandbox& sandbox, OwnedFd socket)
      : sandbox_(sandbox), builder_(sandbox.plan, sandbox.noted), socket_(std::move(socket)) {}

  // The network namespace is shared by all commands, which is safe where no command can make a socket in it.
  Result<> Build() {
    const NamespacePlan& plan = sandbox_.plan;
    if (!FitsTemplate(plan) || (plan.own_network && plan.filter != Filter::kRestrictedNetwork)) {
      return Fail(ErrorKind::kInvalidRequest, "launcher: commands cannot share the mounts or the network of this plan");
    }
    sys::HideArguments();  // the command sees pid 1, a copy of this process, in its /proc
    TRY_VOID(StartOwnReaper());
    const User user = User::OfThisProcess();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | (plan.own_network ? CLONE_NEWNET : 0)) < 0) {
      return FailErrno("unshare", "namespaces");
    }
    TRY_VOID(SettleIn(user));
    changes_.emplace();  // the template may have no /proc
    TRY_VOID(builder_.BuildTemplate());
    template_ = changes_->Count();
    EmptyBoundingSet();
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return FailErrno("prctl", "dumpable");
    (void)std::signal(SIGCHLD, SIG_IGN);  // the kernel reaps the children
    return {};
  }

  Result<> Serve() {
    for (;;) {
      auto launch = ReceivedLaunch::Receive(socket_.get());
      if (!launch && launch.error().kind == ErrorKind::kInvalidRequest) continue;
      if (!launch) return std::unexpected(std::move(launch).error());
      if (!*launch) return {};
      // The server learns of a failure by the end of the control socket.
      (void)Launch(**launch);
    }
  }

 private:
  // The reaper stays outside of the namespaces, where it may remove what the template covers.
  Result<> StartOwnReaper() {
    if (sandbox_.plan.placeholders.empty()) return {};
    TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kPacket));
    TRY_VOID(StartReaper(sandbox_.plan.placeholders, std::move(pair.theirs), AtEndOfSocket::kAwait));
    reaper_ = std::move(pair.ours);
    return {};
  }

  // All descriptors of the command are closed here when this function returns.
  Result<> Launch(const ReceivedLaunch& launch) {
    const int control = launch.Get(LaunchDescriptor::kControl);
    TRY_VOID(sys::SetBlocking(control, sys::Blocking::kNo));
    if (launch.plan_key() != sandbox_.plan_key) return TellStale(control);
    ++commands_;
    TRY(sys::Pipe gate, sys::MakePipe(sys::OurEnd::kWrite));
    TRY(const sys::Child child, CloneInto(kOwnNamespaces));
    if (child.pid == 0) BeFirstProcess(launch, std::move(gate));
    if (changes_->Count() != template_) return TellStale(control);  // pid 1 ends, because the gate is never opened
    const KeeperEvent cloned = {KeeperEventKind::kCloned, child.pid, StartStep::kNone};
    TRY_VOID(sys::SendWithDescriptor(control, BytesOf(cloned), child.pidfd.get()));
    (void)sys::Write(gate.write_end.get(), "g", 1);  // pid 1 may have failed already
    return {};
  }

  // A file that is removed outside takes the mount on it away, in the template and in its copies. The plan key does not
  // tell this if another file has got the inode number of the one that was removed.
  static Result<> TellStale(int control) {
    return sys::SendAll(control, BytesOf({KeeperEventKind::kStale, 0, StartStep::kNone}));
  }

  // A failure before the inner stage is not reported: the end of the control socket makes the server start the command
  // in the usual way, which has the same failure and reports it, or has none.
  [[noreturn]] void BeFirstProcess(const ReceivedLaunch& launch, sys::Pipe gate) {
    socket_.Reset();
    gate.write_end.Reset();
    const ReapedCommand command = {
        .reaper = reaper_.get(), .number = commands_, .control = launch.Get(LaunchDescriptor::kControl)};
    auto orders = OrdersInside(launch);
    if (!orders || !Prepare(launch, command) || !MayBegin(gate.read_end.get())) ::_exit(kRefusedStatus);
    ::_exit(RunInnerStage(*orders, nullptr, command));
  }

  // The server knows pid 1 before pid 1 tells it anything. Without this, a command could run that the server would not
  // know how to kill, because the launcher has ended in between.
  static bool MayBegin(int gate) {
    char letter;
    return sys::Read(gate, &letter, 1) == 1;
  }

  Result<> Prepare(const ReceivedLaunch& launch, const ReapedCommand& command) const {
    TRY_VOID(TakeTerminal(launch.terminal()));
    TRY_VOID(builder_.BuildOwn(launch.terminal()));
    TRY(const UsedPlaceholders used, MakeAsFirstProcess(sandbox_.plan.placeholders, command));
    return builder_.Cover(used);
  }

  Result<InnerOrders> OrdersInside(const ReceivedLaunch& launch) const {
    TRY(const std::string text, sys::ReadToEnd(launch.Get(LaunchDescriptor::kOrders), kMaxRecordBytes, "orders"));
    TRY(InnerOrders orders, DecodeRecord<InnerOrders>(text));
    if (!AreAboutCommandAlone(orders)) {
      return Fail(ErrorKind::kInvalidRequest, "orders: they are not about a command alone");
    }
    orders.filter = sandbox_.plan.filter;
    orders.landlock = sandbox_.plan.landlock;
    orders.port_ruleset_fd = sandbox_.port_ruleset_fd;
    orders.streams = {launch.Get(LaunchDescriptor::kStdin), launch.Get(LaunchDescriptor::kStdout),
                      launch.Get(LaunchDescriptor::kStderr)};
    orders.control_fd = launch.Get(LaunchDescriptor::kControl);
    orders.report_fd = launch.Get(LaunchDescriptor::kReport);
    orders.enforcement = {.backend = "native"};
    orders.exec_supervisor_fd = launch.exec_supervisor();
    return orders;
  }

  const LauncherSandbox& sandbox_;
  const MountBuilder builder_;
  OwnedFd socket_;
  OwnedFd reaper_;                            // the socket to the reaper; closed if the plan has no placeholders
  uint32_t commands_ = 0;                     // the number of commands so far
  std::optional<sys::MountChanges> changes_;  // of the template
  uint64_t template_ = 0;                     // their number when the template was complete
};

}  // namespace

Result<> RunLauncherProcess(const LauncherSandbox& sandbox, OwnedFd socket) {
  LauncherProcess launcher(sandbox, std::move(socket));
  TRY_VOID(launcher.Build());
  return launcher.Serve();
}

}  // namespace holdfast::sandbox
