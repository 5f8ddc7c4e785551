#include "sandbox/native/native_jail.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sandbox/jail/jail_end.h"
#include "sandbox/jail/jail_watch.h"
#include "sandbox/jail/lifeline.h"
#include "sandbox/jail/placeholders.h"
#include "sandbox/jail/terminal.h"
#include "sandbox/native/mount_builder.h"
#include "sandbox/native/namespaces.h"
#include "sandbox/plan/mount_check.h"
#include "sys/inherit.h"
#include "sys/io.h"
#include "sys/own_arguments.h"
#include "sys/pidfd.h"

namespace holdfast::sandbox {
namespace {

// A complaint of pid 1 begins with one of these letters.
constexpr char kComplaintOfBackend = 'b', kComplaintOfRefusal = 'r', kComplaintOfFile = 'n';

// The two ends of everything between the helper and pid 1.
struct Ends {
  sys::Pipe complaints, report;
  LifelineEnds lifeline;

  static Result<Ends> Make() {
    Ends ends;
    TRY(ends.complaints, sys::MakePipe(sys::OurEnd::kRead));
    TRY(ends.report, sys::MakePipe(sys::OurEnd::kRead));
    TRY(ends.lifeline, MakeLifeline());
    return ends;
  }
};

// Everything that pid 1 needs. It has a copy of all of it.
struct Jail {
  const NamespacePlan& plan;
  const std::vector<MountCheck>& noted;
  InnerOrders orders;
  BuiltIn built_in;
  User user;
  int reaper;  // the socket to the reaper of the placeholders
};

int TerminalOfStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::isatty(stream) == 1) return stream;
  }
  return -1;
}

// A closed standard stream is opened, because its number would otherwise be given to the next file that is opened.
Result<> OpenClosedStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const int opened = ::open("/dev/null", O_RDWR);
    if (opened != stream) return FailErrno("open", "/dev/null", opened < 0 ? errno : EBADF);
  }
  return {};
}

// Builds the sandbox around this process. The placeholders come last: everything that can fail has been done by then.
Result<> Build(Jail& jail) {
  TRY_VOID(SettleIn(jail.user));
  if (jail.orders.proxy) TRY_VOID(RaiseLoopback());
  const MountBuilder builder(jail.plan, jail.noted);
  TRY_VOID(builder.BuildAll(TerminalOfStreams()));
  TRY(const UsedPlaceholders used, MakeAsFirstProcess(jail.plan.placeholders, {.reaper = jail.reaper}));
  return builder.Cover(used);
}

char LetterOf(ErrorKind kind) {
  if (kind == ErrorKind::kInvalidRequest) return kComplaintOfRefusal;
  return kind == ErrorKind::kNotFound ? kComplaintOfFile : kComplaintOfBackend;
}

void Complain(int fd, const Error& error) {
  const std::string text = std::string(1, LetterOf(error.kind)) + error.message;
  (void)sys::Write(fd, text.data(), text.size());  // a failure leaves the helper without a reason, and it tells so
}

// The helper's end of the lifeline is closed first, because a copy of it would keep pid 1 from noticing the helper's
// end.
[[noreturn]] void BeFirstProcess(Jail& jail, Ends& ends) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ends.lifeline.outer.Reset();
  sys::HideArguments();  // the command sees pid 1 in its /proc, and must not read the policy there
  if (const auto built = Build(jail); !built) {
    Complain(ends.complaints.write_end.get(), built.error());
    ::_exit(kRefusedStatus);
  }
  ends.complaints.write_end.Reset();
  ::_exit(RunInnerStage(jail.orders, jail.built_in));
}

InnerOrders OrdersInside(const InnerOrders& orders, const std::vector<MountCheck>& noted, const Ends& ends) {
  InnerOrders inside = orders;
  inside.report_fd = ends.report.write_end.get();
  inside.lifeline_fd = ends.lifeline.inner.get();
  if (orders.built_in) inside.mounts = noted;
  NoteIdentities(noted, inside.landlock);
  return inside;
}

NotStarted WhyNotBuilt(int status, std::string complaint) {
  if (complaint.empty()) {
    return {
        Error{ErrorKind::kSystem, fmt::format("pid 1 has ended with status {} before the command was started", status)},
        NotStarted::By::kBackend};
  }
  const auto by = complaint.front() == kComplaintOfRefusal ? NotStarted::By::kRefused : NotStarted::By::kBackend;
  const auto kind = complaint.front() == kComplaintOfFile ? ErrorKind::kNotFound : ErrorKind::kSystem;
  return {Error{kind, complaint.substr(1)}, by};
}

}  // namespace

std::expected<int, NotStarted> RunNative(const NamespacePlan& plan, const InnerOrders& orders, BuiltIn built_in) {
  (void)std::signal(SIGCHLD, SIG_DFL);  // a process that ignores SIGCHLD cannot wait for its children
  OwnedFd signals = JailWatch::BlockSignals();
  if (!signals.is_open()) return FailErrno("signalfd");
  TRY_VOID(OpenClosedStreams());
  const auto terminal = Terminal::OfStreams();
  TRY(const std::vector<MountCheck> noted, NoteMounts(plan, PlaceholderState::kMissing));
  TRY(Placeholders placeholders, Placeholders::Prepare(plan.placeholders));
  TRY_VOID(placeholders.LeaveToReaper());
  TRY(Ends ends, Ends::Make());
  TRY(const OwnedFd nothing, sys::OpenDevNull());
  Jail jail{.plan = plan,
            .noted = noted,
            .orders = OrdersInside(orders, noted, ends),
            .built_in = built_in,
            .user = User::OfThisProcess(),
            .reaper = placeholders.reaper()};
  auto child = CloneInto(CLONE_NEWUSER | kOwnNamespaces | (plan.own_network ? CLONE_NEWNET : 0));
  if (!child) return std::unexpected(NotStarted(std::move(child).error(), NotStarted::By::kBackend));
  if (child->pid == 0) BeFirstProcess(jail, ends);
  for (sys::Pipe* const pipe : {&ends.complaints, &ends.report}) pipe->write_end.Reset();
  ends.lifeline.inner.Reset();
  JailWatch watch(*std::move(child), std::move(signals),
                  {.complaints = std::move(ends.complaints.read_end),
                   .report = std::move(ends.report.read_end),
                   .lifeline = std::move(ends.lifeline.outer)});
  watch.AllowStart();
  return AwaitEndOf(watch, {.report_fd = orders.report_fd, .nothing = nothing, .terminal = terminal}, WhyNotBuilt);
}

}  // namespace holdfast::sandbox
