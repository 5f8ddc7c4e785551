#include "sandbox/jail/inner_stage.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "process/command/start_report.h"
#include "sandbox/confine/capabilities.h"
#include "sandbox/confine/confinement.h"
#include "sandbox/confine/exec_layer.h"
#include "sandbox/confine/set_group_id.h"
#include "sandbox/jail/control_socket.h"
#include "sandbox/jail/exec_failure.h"
#include "sandbox/jail/first_process.h"
#include "sandbox/jail/input_files.h"
#include "sandbox/jail/lifeline.h"
#include "sandbox/jail/placeholder_reaper.h"
#include "sandbox/jail/terminal.h"
#include "sandbox/plan/mount_check.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/proxy/listener.h"
#include "sys/argv.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/signals.h"
#include "sys/spawn.h"

extern char** environ;

namespace holdfast::sandbox {
namespace {

using process::KeeperEventKind;

void WriteMessage(const Error& error) {
  const std::string line = fmt::format("{}: {}\n", kProgramName, ShownText(error.message));
  (void)sys::Write(STDERR_FILENO, line.data(), line.size());  // a failure cannot be reported anywhere else
}

Result<> PutInPlace(const Streams& streams) {
  for (const auto [from, place] : {std::pair(streams.in, STDIN_FILENO), std::pair(streams.out, STDOUT_FILENO),
                                   std::pair(streams.err, STDERR_FILENO)}) {
    if (::dup2(from, place) < 0) return FailErrno("dup2", fmt::format("descriptor {}", from));
  }
  return {};  // the descriptors that were copied are closed later, with all others that the command must not have
}

// Stage starts the command, or the built-in function, as a child of this process.
class Stage {
 public:
  Stage(const InnerOrders& orders, BuiltIn built_in, const ReapedCommand& reaped)
      : orders_(orders), built_in_(built_in), reaped_(reaped) {
    if (orders.lifeline_fd) lifeline_.emplace(*orders.lifeline_fd);
    if (orders.control_fd) control_.emplace(*orders.control_fd);
  }

  std::expected<pid_t, NotExecuted> Start() {
    if (const auto prepared = Prepare(); !prepared) return Refused(prepared.error());
    if (!orders_.command.cwd.empty() && ::chdir(orders_.command.cwd.c_str()) < 0) {
      return std::unexpected(NotExecuted{.status = 1, .error = ErrnoError("chdir", orders_.command.cwd, errno)});
    }
    const auto confined = Confine({.filter = orders_.filter,
                                   .caller = CallerForFilter(),
                                   .landlock = orders_.landlock,
                                   .kept_fds = orders_.kept_fds,
                                   .port_ruleset_fd = orders_.port_ruleset_fd});
    if (!confined) return Refused(confined.error());
    if (!MayStart()) {
      return Refused({.kind = ErrorKind::kInvalidRequest, .message = "inner stage: the outer stage has ended"});
    }
    if (const auto checked = CheckLinks(orders_.mounts); !checked) return Refused(checked.error());
    in_foreground_ = terminal_ && terminal_->InForeground();
    if (orders_.built_in) return RunBuiltIn();
    return orders_.exec_supervisor_fd ? RunSupervised() : RunProgram();
  }

  FirstProcessLinks links() const {
    return {.terminal = terminal_ ? &*terminal_ : nullptr,
            .lifeline = lifeline_ ? &*lifeline_ : nullptr,
            .control = control()};
  }
  const ControlSocket* control() const { return control_ ? &*control_ : nullptr; }
  SetGroupIdSupervisor& set_group_id() { return set_group_id_; }

  // Reports why the command was not started. A server that has had the command killed waits for its end, but for no
  // reason. Without an outer stage or a server no process waits for anything. After a file has been removed or
  // replaced, the outer stage may make another attempt; a server does so when the stage ends without a word.
  void ReportFailure(const NotExecuted& why) {
    if (lifeline_ && lifeline_->IsCut()) return;
    if (why.status == kRefusedStatus && why.error.kind == ErrorKind::kNotFound && !has_begun_) {
      if (lifeline_ && orders_.report_fd) {
        return process::ReportFailed(*orders_.report_fd, kOutOfDateStatus, why.error.message);
      }
      if (control_) return;
    }
    if (control_ && !has_begun_ && !control_->Send(KeeperEventKind::kBegun)) return;
    if (!killed_) {
      WriteMessage(why.error);
      if (orders_.report_fd) process::ReportFailed(*orders_.report_fd, why.status, why.error.message);
      if (control_) (void)control_->Send(KeeperEventKind::kNotStarted, why.status, why.error.message);
    }
    TellEnd(killed_ ? SIGKILL : why.status << 8);
  }

  // Tells the server that no process of the command is alive. The reaper tells it, if there is one, after it has
  // removed the placeholders.
  void TellEnd(int wait_status) const {
    if (TellEnded(reaped_, wait_status)) return;
    if (control_) (void)control_->Send(KeeperEventKind::kExited, wait_status);
  }

 private:
  bool MayStart() {
    if (lifeline_) return lifeline_->AwaitGo() && !lifeline_->IsCut();
    has_begun_ = control_ && control_->Send(KeeperEventKind::kBegun);
    return has_begun_ || !control_;
  }

  static std::unexpected<NotExecuted> Refused(Error error) {
    return std::unexpected(NotExecuted{.status = kRefusedStatus, .error = std::move(error)});
  }

  Result<> Prepare() {
    if (::getpid() != 1) return Fail(ErrorKind::kInvalidRequest, "inner stage: this process is not pid 1");
    if (orders_.built_in && built_in_ == nullptr)
      return Fail(ErrorKind::kInvalidRequest, "inner stage: no file helper is built into this program");
    // A process that is not dumpable cannot be read or changed from inside, not even by processes of the same user.
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return FailErrno("prctl", "dumpable");
    HoldSignals();
    if (lifeline_) lifeline_->Announce();
    if (control_) TRY_VOID(control_->Arm());
    if (orders_.environment) Adopt(*orders_.environment);
    TRY_VOID(CheckStreams(orders_.filter));
    TRY_VOID(CheckMounts(orders_.mounts));
    TRY_VOID(ReopenStreams());
    if (orders_.proxy) TRY_VOID(OpenProxyListeners(*orders_.proxy));
    TRY_VOID(CloseTheRest());
    TRY_VOID(DropCapabilities());
    terminal_ = Terminal::OfStreams();
    if (!terminal_) (void)::setsid();  // fails when this process leads a session already
    return {};
  }

  // The command gets a filter of its own on top of the filter of pid 1 (set_group_id.h). Where pid 1 could not answer
  // the questions of that filter, pid 1 and the command have the same, stricter filter. A supervised command has it
  // too, because the supervisor has the only listener that a process can have.
  Caller CallerForFilter() {
    if (orders_.built_in) return Caller::kFileRequests;
    answers_ = !orders_.exec_supervisor_fd && SeesProcesses();
    return answers_ ? Caller::kFirstProcess : Caller::kCommand;
  }

  void Adopt(const std::vector<std::string>& environment) {
    environment_ = sys::Argv(environment);
    environ = environment_.data();
  }

  Result<> CloseTheRest() const {
    std::vector<int> kept = orders_.kept_fds;
    const std::optional<int> reaper_fd = reaped_.reaper >= 0 ? std::optional(reaped_.reaper) : std::nullopt;
    // The bridge of a command with an outer stage ends with that stage, and otherwise with pid 1.
    const std::optional<int> bridge_fd =
        control_ && orders_.proxy ? std::optional(orders_.proxy->control_fd) : std::nullopt;
    const std::array own_fds = {
        orders_.report_fd,          orders_.lifeline_fd, orders_.control_fd, orders_.port_ruleset_fd,
        orders_.exec_supervisor_fd, reaper_fd,           bridge_fd};
    for (const auto own : own_fds) {
      if (own) kept.insert(std::ranges::upper_bound(kept, *own), *own);
    }
    TRY_VOID(PassOnly(kept));
    for (const auto own : own_fds) {
      if (own && ::fcntl(*own, F_SETFD, FD_CLOEXEC) < 0) return FailErrno("fcntl");
    }
    return {};
  }

  void EnterGroupInChild() const {
    ::setpgid(0, 0);
    if (in_foreground_) terminal_->GiveTo(::getpid());
    sys::LetSignalsIn();
  }

  // The child shares the memory of pid 1 until it executes the program, and leaves the reason of a failure there.
  std::expected<pid_t, NotExecuted> RunProgram() {
    // execvp builds the name of the file on the stack, and a list of all arguments when it falls back to /bin/sh.
    const size_t stack_bytes = (256u << 10) + (16 * orders_.command.argv.size());
    auto in_child = [this] {
      EnterGroupInChild();
      failure_ = ExecuteInChild();
      return failure_->status;
    };
    // The child shares the descriptors too: the listener that it gets from InstallCommandLayer must be open in pid 1.
    const auto command = sys::Spawn(sys::Sharing::kMemoryAndDescriptors, in_child, stack_bytes);
    if (!command) return Refused(command.error());
    if (!failure_) return *command;
    (void)sys::AwaitStatus(*command);
    return std::unexpected(*std::move(failure_));
  }

  NotExecuted ExecuteInChild() {
    if (answers_) {
      auto listener = InstallCommandLayer();
      if (!listener) return {.status = kRefusedStatus, .error = listener.error()};
      set_group_id_ = SetGroupIdSupervisor(*std::move(listener));
    }
    return Execute(orders_.command);
  }

  // The child shares no memory with pid 1, because it becomes dumpable before it executes the program, and pid 1 must
  // not. The reason of a failure comes through a pipe, which the execution closes.
  std::expected<pid_t, NotExecuted> RunSupervised() {
    auto failure = sys::MakePipe(sys::OurEnd::kRead);
    if (!failure) return Refused(failure.error());
    OwnedFd supervisor(*orders_.exec_supervisor_fd);
    auto in_child = [&] {
      EnterGroupInChild();
      const NotExecuted why = ExecuteSupervisedInChild(std::move(supervisor));
      SendFailure(failure->write_end.get(), why);
      return why.status;
    };
    const auto command = sys::Spawn(sys::Sharing::kNothing, in_child);
    if (!command) return Refused(command.error());
    supervisor.Reset();
    failure->write_end.Reset();
    ::setpgid(*command, *command);  // parent and child both set it, so that a signal for the group always finds it
    const int link = orders_.lifeline_fd.value_or(orders_.control_fd.value_or(-1));
    auto why = AwaitFailure(failure->read_end.get(), link, [&] { return HasToEnd(*command); });
    if (!why) return *command;
    (void)::kill(*command, SIGKILL);  // its execve may still wait for an answer
    (void)sys::AwaitStatus(*command);
    return std::unexpected(*std::move(why));
  }

  NotExecuted ExecuteSupervisedInChild(OwnedFd supervisor) const {
    const auto supervised = SubmitToSupervisor(std::move(supervisor));
    if (!supervised) return {.status = kRefusedStatus, .error = supervised.error()};
    return Execute(orders_.command);
  }

  // Takes a signal from the lifeline, or carries out an instruction of the server, while the command waits for its
  // execution.
  bool HasToEnd(pid_t command) {
    if (lifeline_) {
      if (const auto signal = lifeline_->ReceiveSignal()) (void)::kill(-command, *signal);
      return lifeline_->IsCut();
    }
    const auto instruction = control_->Receive();
    if (!instruction) return false;
    killed_ = instruction->kind == process::KeeperInstructionKind::kKill;
    if (!killed_) (void)::kill(-command, instruction->value);
    return killed_;
  }

  std::vector<std::string> MountPoints() const {
    std::vector<std::string> paths;
    paths.reserve(orders_.mounts.size());
    for (const MountCheck& check : orders_.mounts) paths.push_back(check.path);
    return paths;
  }

  std::expected<pid_t, NotExecuted> RunBuiltIn() const {
    auto in_child = [this] {
      EnterGroupInChild();
      // An execution would have closed all other descriptors and made the process dumpable.
      if (!PassOnly(orders_.kept_fds)) return kRefusedStatus;
      ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
      return built_in_(orders_.absent, MountPoints());
    };
    const auto command = sys::Spawn(sys::Sharing::kNothing, in_child);
    if (!command) return Refused(command.error());
    ::setpgid(*command, *command);  // parent and child both set it, so that a signal for the group always finds it
    return *command;
  }

  const InnerOrders& orders_;
  const BuiltIn built_in_;
  const ReapedCommand reaped_;
  std::optional<Lifeline> lifeline_;
  std::optional<ControlSocket> control_;
  bool has_begun_ = false;  // the server knows that pid 1 answers
  bool killed_ = false;     // the server has had the command killed before it was executed, or is gone
  sys::Argv environment_;
  std::optional<Terminal> terminal_;
  bool in_foreground_ = false;
  bool answers_ = false;  // pid 1 can answer the command's filter
  SetGroupIdSupervisor set_group_id_{OwnedFd()};
  std::optional<NotExecuted> failure_;  // why the program could not be executed
};

// pid 1 holds no stream of the command open, so that a reader of the command's output sees its end when the command
// closes it.
void ReleaseDescriptors(const InnerOrders& orders) {
  ::close_range(STDIN_FILENO, STDERR_FILENO, 0);
  for (const int fd : orders.kept_fds) ::close(fd);
  if (orders.report_fd) ::close(*orders.report_fd);
}

}  // namespace

int RunInnerStage(const InnerOrders& orders, BuiltIn built_in, const ReapedCommand& reaped) {
  if (orders.streams) {
    if (const auto placed = PutInPlace(*orders.streams); !placed) return WriteMessage(placed.error()), kRefusedStatus;
  }
  Stage stage(orders, built_in, reaped);
  const auto command = stage.Start();
  if (!command) {
    stage.ReportFailure(command.error());
    return command.error().status;
  }
  if (orders.report_fd) process::ReportStarted(*orders.report_fd, orders.enforcement);
  if (stage.control() != nullptr) (void)stage.control()->Send(KeeperEventKind::kStarted);
  ReleaseDescriptors(orders);
  const int status = FirstProcess(*command, stage.links(), stage.set_group_id()).Run();
  if (orders.control_fd) {
    FirstProcess::EndAll();
    stage.TellEnd(status);
  } else {
    (void)::kill(-1, SIGKILL);  // all other processes of the pid namespace
  }
  return sys::ExitStatusOf(status);
}

}  // namespace holdfast::sandbox
