#include "sandbox/native/jail_process.h"

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

#include <fmt/format.h>

#include "process/keeper/protocol.h"
#include "sandbox/confine/capabilities.h"
#include "sandbox/jail/inner_orders.h"
#include "sandbox/jail/inner_stage.h"
#include "sandbox/jail/placeholder_reaper.h"
#include "sandbox/jail/placeholders.h"
#include "sandbox/native/mount_builder.h"
#include "sandbox/native/namespaces.h"
#include "sandbox/native/received_entry.h"
#include "sandbox/proxy/bridge.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/mount_changes.h"
#include "sys/own_arguments.h"
#include "sys/pidfd.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {
namespace {

using process::KeeperEvent;
using process::KeeperEventKind;
using process::StartStep;

std::string_view BytesOf(const KeeperEvent& event) { return {reinterpret_cast<const char*>(&event), sizeof event}; }

// Makes the terminal the controlling one of pid 1, which leads a session for that.
Result<> TakeTerminal(int terminal) {
  if (terminal < 0) return {};
  if (::setsid() < 0) return FailErrno("setsid");
  if (::ioctl(terminal, TIOCSCTTY, 0) < 0) return FailErrno("ioctl", "terminal");
  return {};
}

class JailProcess {
 public:
  JailProcess(const JailPlan& plan, OwnedFd socket, std::optional<int> port_ruleset_fd, BuiltIn file_helper)
      : plan_(plan),
        builder_(plan.mounts, plan.noted),
        socket_(std::move(socket)),
        port_ruleset_fd_(port_ruleset_fd),
        file_helper_(file_helper) {}

  Result<> Build() {
    sys::HideArguments();  // the command sees pid 1, a copy of this process, in its /proc
    TRY_VOID(StartOwnReaper());
    if (plan_.sharing == Sharing::kTemplate) TRY_VOID(BuildTemplate());
    (void)std::signal(SIGCHLD, SIG_IGN);  // the kernel reaps the children
    return {};
  }

  Result<> Serve() {
    for (;;) {
      auto entry = ReceivedEntry::Receive(socket_.get());
      if (!entry && entry.error().kind == ErrorKind::kInvalidRequest) continue;
      if (!entry) return std::unexpected(std::move(entry).error());
      if (!*entry) return {};
      // The server learns of a failure by the end of the control socket. A template that has changed serves no command.
      (void)Enter(**entry);
      if (changes_ && changes_->Count() != template_) return Fail(ErrorKind::kNotFound, "the mounts have changed");
    }
  }

 private:
  // The reaper stays outside of the namespaces, where it may remove what the template covers.
  Result<> StartOwnReaper() {
    if (plan_.mounts.placeholders.empty()) return {};
    TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kPacket));
    TRY_VOID(StartReaper(plan_.mounts.placeholders, std::move(pair.theirs), AtEndOfSocket::kAwait));
    reaper_ = std::move(pair.ours);
    return {};
  }

  // Commands share a network namespace only where none of them can make a socket in it.
  bool SharesNetwork() const {
    return plan_.sharing == Sharing::kTemplate && plan_.mounts.filter == Filter::kRestrictedNetwork;
  }

  Result<> BuildTemplate() {
    const bool has_network = plan_.mounts.own_network && SharesNetwork();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | (has_network ? CLONE_NEWNET : 0)) < 0) {
      return FailErrno("unshare", "namespaces");
    }
    TRY_VOID(SettleIn(user_));
    changes_.emplace();  // the template may have no /proc
    TRY_VOID(builder_.BuildTemplate());
    template_ = changes_->Count();
    EmptyBoundingSet();
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return FailErrno("prctl", "dumpable");
    return {};
  }

  uint64_t NamespacesOfCommand() const {
    const bool has_network = plan_.mounts.own_network && !SharesNetwork();
    return kOwnNamespaces | (plan_.sharing == Sharing::kEachCommand ? CLONE_NEWUSER : 0) |
           (has_network ? CLONE_NEWNET : 0);
  }

  // All descriptors of the command are closed here when the caller destroys the entry. A file that is removed outside
  // takes the mount on it away, in the template and in its copies.
  Result<> Enter(const ReceivedEntry& entry) {
    const int control = entry.Get(EntryFd::kControl);
    TRY_VOID(sys::SetBlocking(control, sys::Blocking::kNo));
    TRY_VOID(CheckTask(entry.command()));
    TRY(const OwnedFd bridge, BridgeFor(entry.command()));
    ++commands_;
    TRY(sys::Pipe gate, sys::MakePipe(sys::OurEnd::kWrite));
    TRY(const sys::Child child, CloneInto(NamespacesOfCommand()));
    if (child.pid == 0) BeFirstProcess(entry, bridge.get(), std::move(gate));
    if (changes_ && changes_->Count() != template_) return {};  // pid 1 ends, because the gate is never opened
    const KeeperEvent cloned = {KeeperEventKind::kCloned, child.pid, StartStep::kNone};
    TRY_VOID(sys::SendWithDescriptor(control, BytesOf(cloned), child.pidfd.get()));
    (void)sys::Write(gate.write_end.get(), "g", 1);  // pid 1 may have failed already
    return {};
  }

  // Only the file helper keeps the absent paths of a plan absent, and only a plan that gives the command a network of
  // its own has a place for proxies.
  Result<> CheckTask(const RunCommand* command) const {
    const Filter filter = plan_.mounts.filter;
    const bool for_proxies = filter == Filter::kProxyOnly || filter == Filter::kProxyNoListening;
    const bool fits = command == nullptr ? file_helper_ != nullptr && plan_.mounts.placeholders.empty() && !for_proxies
                                         : plan_.mounts.absent.empty() && for_proxies == command->proxies.has_value();
    return fits ? Result<>() : Fail(ErrorKind::kInvalidRequest, "jail: the entry does not fit the plan");
  }

  // Starts the bridge of a command with proxies. pid 1 holds its control socket, and so the bridge ends with pid 1.
  // This process has no network namespace of its own then.
  static Result<OwnedFd> BridgeFor(const RunCommand* command) {
    if (command == nullptr || !command->proxies) return OwnedFd();
    return StartProxyBridge(command->proxies->endpoints);
  }

  // A failure before the inner stage is not reported: the end of the control socket makes the server start the command
  // in the usual way, which has the same failure and reports it, or has none.
  [[noreturn]] void BeFirstProcess(const ReceivedEntry& entry, int bridge, sys::Pipe gate) {
    socket_.Reset();
    gate.write_end.Reset();
    const ReapedCommand command = {
        .reaper = reaper_.get(), .number = commands_, .control = entry.Get(EntryFd::kControl)};
    if (!Prepare(entry, command) || !MayBegin(gate.read_end.get())) ::_exit(kRefusedStatus);
    ::_exit(RunInnerStage(OrdersFor(entry, bridge), file_helper_, command));
  }

  // The server knows pid 1 before pid 1 tells it anything. Without this, a command could run that the server would not
  // know how to kill, because the jail has ended in between.
  static bool MayBegin(int gate) {
    char letter;
    return sys::Read(gate, &letter, 1) == 1;
  }

  Result<> Prepare(const ReceivedEntry& entry, const ReapedCommand& command) const {
    const bool builds_all = plan_.sharing == Sharing::kEachCommand;
    if (builds_all) TRY_VOID(SettleIn(user_));
    if (entry.command() != nullptr && entry.command()->proxies) TRY_VOID(RaiseLoopback());
    TRY_VOID(TakeTerminal(entry.terminal()));
    TRY_VOID(builds_all ? builder_.BuildAll(entry.terminal()) : builder_.BuildOwn(entry.terminal()));
    TRY(const UsedPlaceholders used, MakeAsFirstProcess(plan_.mounts.placeholders, command));
    return builder_.Cover(used);
  }

  InnerOrders OrdersFor(const ReceivedEntry& entry, int bridge) const {
    InnerOrders orders = {
        .command = {},
        .filter = plan_.mounts.filter,
        .landlock = plan_.mounts.landlock,
        .port_ruleset_fd = port_ruleset_fd_,
        .streams = Streams{entry.Get(EntryFd::kStdin), entry.Get(EntryFd::kStdout), entry.Get(EntryFd::kStderr)},
        .control_fd = entry.Get(EntryFd::kControl)};
    if (const RunCommand* const command = entry.command()) {
      AddCommand(*command, entry, bridge, orders);
    } else {
      orders.built_in = true;
      orders.absent = plan_.mounts.absent;
      orders.mounts = plan_.noted;
    }
    return orders;
  }

  static void AddCommand(const RunCommand& command, const ReceivedEntry& entry, int bridge, InnerOrders& orders) {
    orders.command = command.command;
    orders.environment = command.environment;
    if (command.is_supervised) orders.exec_supervisor_fd = entry.Get(EntryFd::kExecSupervisor);
    if (command.kept_variable) {
      const int kept = entry.Get(EntryFd::kKept);
      orders.kept_fds = {kept};
      orders.environment->push_back(fmt::format("{}={}", *command.kept_variable, kept));
    }
    if (command.proxies) {
      orders.proxy = {.control_fd = bridge,
                      .listeners = static_cast<uint32_t>(command.proxies->endpoints.size()),
                      .variables = command.proxies->variables};
    }
  }

  const JailPlan& plan_;
  const MountBuilder builder_;
  const User user_ = User::OfThisProcess();
  OwnedFd socket_;
  const std::optional<int> port_ruleset_fd_;
  const BuiltIn file_helper_;
  OwnedFd reaper_;                            // the socket to the reaper; closed if the plan has no placeholders
  uint32_t commands_ = 0;                     // the number of commands so far
  std::optional<sys::MountChanges> changes_;  // of the template
  uint64_t template_ = 0;                     // their number when the template was complete
};

}  // namespace

Result<> RunJailProcess(const JailPlan& plan, OwnedFd socket, std::optional<int> port_ruleset_fd, BuiltIn file_helper) {
  JailProcess jail(plan, std::move(socket), port_ruleset_fd, file_helper);
  TRY_VOID(jail.Build());
  return jail.Serve();
}

}  // namespace holdfast::sandbox
