#include "sandbox/bubblewrap/outer_stage.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/record.h"
#include "sandbox/bubblewrap/namespace_finish.h"
#include "sandbox/jail/host_limits.h"
#include "sandbox/jail/jail_end.h"
#include "sandbox/jail/jail_watch.h"
#include "sandbox/jail/lifeline.h"
#include "sandbox/jail/placeholders.h"
#include "sandbox/jail/stage_image.h"
#include "sandbox/jail/terminal.h"
#include "sandbox/plan/mount_check.h"
#include "sandbox/plan/program_names.h"
#include "sys/argv.h"
#include "sys/descriptor_passing.h"
#include "sys/inherit.h"
#include "sys/io.h"
#include "sys/memory_file.h"
#include "sys/pidfd.h"
#include "sys/socket_pair.h"
#include "sys/spawn.h"

extern char** environ;

namespace holdfast::sandbox {
namespace {

std::string NulSeparated(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& part : texts) text.append(part).push_back('\0');
  return text;
}

std::vector<std::string> Environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

// Makes a pipe whose write end is inherited.
Result<sys::Pipe> PipeFromInside() {
  TRY(sys::Pipe pipe, sys::MakePipe(sys::OurEnd::kRead));
  TRY_VOID(sys::LetInherit(pipe.write_end.get()));
  return pipe;
}

// Makes a pipe whose read end is inherited. It is a socket pair, because writing to a pipe without a reader would raise
// SIGPIPE.
Result<sys::Pipe> PipeToBubblewrap() {
  TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kStream));
  TRY_VOID(sys::LetInherit(pair.theirs.get()));
  return sys::Pipe{.read_end = std::move(pair.theirs), .write_end = std::move(pair.ours)};
}

Result<OwnedFd> InheritedFile(const char* name, std::string_view text) {
  TRY(OwnedFd file, sys::MakeMemoryFile(name, text));
  TRY_VOID(sys::LetInherit(file.get()));
  return file;
}

// Copies a standard stream to an inherited descriptor above 2. A stream that is closed is replaced by /dev/null, so
// that no other file gets its number.
Result<OwnedFd> CopyOfStream(int stream) {
  OwnedFd copy(::fcntl(stream, F_DUPFD, STDERR_FILENO + 1));
  if (!copy.is_open() && errno == EBADF) {
    const OwnedFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    copy = OwnedFd(::fcntl(nothing.get(), F_DUPFD, STDERR_FILENO + 1));
  }
  if (!copy.is_open()) return FailErrno("fcntl", fmt::format("descriptor {}", stream));
  return copy;
}

// Everything that bubblewrap and the inner stage inherit. Arguments and orders come by descriptor, so that nothing of
// them shows in a list of processes. bubblewrap reads its arguments from the gate first and then from the file. The
// gate carries one argument, kGateArgument, which is sent when everything that bubblewrap needs is ready. If the gate
// ends without it, bubblewrap gives up.
struct Inherited {
  BubblewrapArguments arguments;
  std::array<OwnedFd, 3> streams;
  OwnedFd nothing, orders_file, arguments_file;
  sys::Pipe gate, complaints, report;
  LifelineEnds lifeline;
  std::vector<std::string> command_line;
};

Result<Inherited> Prepare(const NamespacePlan& plan, const StageImage& image) {
  Inherited inherited;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    TRY(inherited.streams[static_cast<size_t>(stream)], CopyOfStream(stream));
  }
  TRY(inherited.complaints, PipeFromInside());
  TRY(inherited.report, PipeFromInside());
  TRY(inherited.lifeline, MakeLifeline());
  TRY(inherited.orders_file, InheritedFile("orders", ""));
  TRY(inherited.gate, PipeToBubblewrap());
  TRY(inherited.nothing, sys::OpenDevNull());
  TRY_VOID(sys::LetInherit(image.fd()));
  TRY(inherited.arguments, ArgumentsFor(plan));
  TRY(inherited.arguments_file, InheritedFile("arguments", NulSeparated(inherited.arguments.list)));
  inherited.command_line = {"bwrap",     kNeedsGateArgument,
                            "--args",    std::to_string(inherited.gate.read_end.get()),
                            "--args",    std::to_string(inherited.arguments_file.get()),
                            "--",        fmt::format("/proc/self/fd/{}", image.fd()),
                            kInnerStage, std::to_string(inherited.orders_file.get())};
  return inherited;
}

// Returns the standard output for bubblewrap. If that is a terminal, bubblewrap shows it inside as /dev/console, where
// `tty` finds it.
int OutputForBubblewrap(const Inherited& inherited) {
  const auto terminal =
      std::ranges::find_if(inherited.streams, [](const OwnedFd& fd) { return ::isatty(fd.get()) == 1; });
  return terminal != inherited.streams.end() ? terminal->get() : inherited.nothing.get();
}

// bubblewrap runs with all signals blocked, because signals for the command would end or stop it. It gets other
// standard streams, so that it holds none of the command's open. It gets an empty environment, because LD_PRELOAD and
// the like would make it run the command's code outside of the sandbox. The inner stage gives the command its own
// signals, streams and environment again.
std::expected<pid_t, sys::NotSpawned> ExecuteBubblewrap(const Bubblewrap& bubblewrap, const Inherited& inherited) {
  const sys::Argv argv(inherited.command_line), no_environment;
  return sys::SpawnProgram(
      {.path = "bubblewrap",
       .file = bubblewrap.program.get(),
       .argv = argv.data(),
       .environment = no_environment.data(),
       .streams = {inherited.nothing.get(), OutputForBubblewrap(inherited), inherited.complaints.write_end.get()},
       .signals = sys::Program::Signals::kBlocked});
}

// Returns the orders with the environment of the command, and with the descriptors that the inner stage inherits.
InnerOrders OrdersInside(const InnerOrders& orders, const Inherited& inherited) {
  InnerOrders inside = orders;
  inside.environment = Environment();
  inside.streams = {inherited.streams[0].get(), inherited.streams[1].get(), inherited.streams[2].get()};
  inside.report_fd = inherited.report.write_end.get();
  inside.lifeline_fd = inherited.lifeline.inner.get();
  return inside;
}

// Only a failed execution is a failure of bubblewrap: when no process could be made, bubblewrap has not been tried.
NotStarted WhyNotSpawned(const sys::NotSpawned& why) {
  const bool by_bubblewrap = why.step == sys::NotSpawned::Step::kExecution;
  return {why.error, by_bubblewrap ? NotStarted::By::kBackend : NotStarted::By::kRefused};
}

std::expected<pid_t, NotStarted> Start(const Bubblewrap& bubblewrap, Inherited& inherited) {
  const auto child = ExecuteBubblewrap(bubblewrap, inherited);
  if (!child) return std::unexpected(WhyNotSpawned(child.error()));
  for (sys::Pipe* const pipe : {&inherited.complaints, &inherited.report}) pipe->write_end.Reset();
  inherited.gate.read_end.Reset();
  inherited.lifeline.inner.Reset();
  for (OwnedFd& stream : inherited.streams) stream.Reset();
  return *child;
}

// Writes the orders that the inner stage reads, and then the argument that bubblewrap waits for.
Result<> Instruct(const std::vector<MountCheck>& noted, InnerOrders orders, Inherited& inherited) {
  orders.mounts = noted;
  NoteIdentities(orders.mounts, orders.landlock);
  TRY_VOID(sys::FillMemoryFile(inherited.orders_file.get(), EncodeRecord(orders)));
  TRY_VOID(sys::SendAll(inherited.gate.write_end.get(), std::string(kGateArgument) + '\0'));
  ::shutdown(inherited.gate.write_end.get(), SHUT_WR);  // closing is not enough: a child may have a copy
  return {};
}

// Returns the message of bubblewrap, and what it means on this machine.
NotStarted WhyNotBuilt(int status, std::string message) {
  while (message.ends_with('\n')) message.pop_back();
  std::ranges::replace(message, '\n', ' ');
  if (message.empty())
    message = fmt::format("bubblewrap has ended with status {} before the command was started", status);
  const std::string explanation = ExplainFailure(message);
  if (!explanation.empty()) message += ". " + explanation;
  return {Error{.kind = ErrorKind::kSystem, .message = std::move(message)}, NotStarted::By::kBackend};
}

// Kills bubblewrap because of `why`. If bubblewrap has written an error message of its own, that is the reason instead.
std::unexpected<NotStarted> GiveUp(JailWatch& watch, Error why) {
  watch.KillAll();
  (void)watch.AwaitReport();
  if (watch.complaints().empty()) return std::unexpected(NotStarted(std::move(why)));
  return std::unexpected(WhyNotBuilt(watch.AwaitEnd(), watch.complaints()));
}

}  // namespace

std::expected<int, NotStarted> RunOuterStage(const Bubblewrap& bubblewrap, const NamespacePlan& plan,
                                             const InnerOrders& orders, std::optional<int> sealed_program) {
  const std::optional<int> report_fd = orders.report_fd;
  if (auto host = CheckHost(); !host) {
    return std::unexpected(NotStarted(std::move(host).error(), NotStarted::By::kBackend));
  }
  (void)std::signal(SIGCHLD, SIG_DFL);          // a process that ignores SIGCHLD cannot wait for its children
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // processes that bubblewrap leaves behind become children of this one
  OwnedFd signals = JailWatch::BlockSignals();
  if (!signals.is_open()) return FailErrno("signalfd");
  if (report_fd && ::fcntl(*report_fd, F_SETFD, FD_CLOEXEC) < 0) {
    return FailErrno("fcntl", fmt::format("descriptor {}", *report_fd));
  }
  const auto terminal = Terminal::OfStreams();
  TRY(Placeholders placeholders, Placeholders::Prepare(plan.placeholders));
  TRY(StageImage image, StageImage::Create(sealed_program));
  TRY(Inherited inherited, Prepare(plan, image));
  for (const auto passed : {orders.port_ruleset_fd, orders.exec_supervisor_fd}) {
    if (passed) TRY_VOID(sys::LetInherit(*passed));
  }
  for (const int kept : orders.kept_fds) TRY_VOID(sys::LetInherit(kept));
  const InnerOrders orders_inside = OrdersInside(orders, inherited);
  TRY(const pid_t child, Start(bubblewrap, inherited));
  JailWatch watch(child, std::move(signals),
                  {.complaints = std::move(inherited.complaints.read_end),
                   .report = std::move(inherited.report.read_end),
                   .lifeline = std::move(inherited.lifeline.outer)});
  // These steps are done while bubblewrap starts.
  if (const auto complete = image.Complete(); !complete) return GiveUp(watch, complete.error());
  if (const auto made = placeholders.Make(); !made) return GiveUp(watch, made.error());
  const auto noted = NoteMounts(plan, PlaceholderState::kMade);
  if (!noted) return GiveUp(watch, noted.error());
  if (const auto sent = Instruct(*noted, orders_inside, inherited); !sent) return GiveUp(watch, sent.error());
  if (const int inner = watch.AwaitInner(); inner >= 0) {
    if (const auto kept = placeholders.KeepUntilEndOf(inner); !kept) return GiveUp(watch, kept.error());
    const auto finished = FinishNamespaces(inner, plan, *noted);
    if (finished) watch.AllowStart();
    // The namespaces of an inner stage that has ended, or is about to end, are gone. Why it ends stands in its report.
    if (!finished && !watch.HasReport() && !sys::HasEnded(inner)) return GiveUp(watch, finished.error());
  }
  auto ran =
      AwaitEndOf(watch, {.report_fd = report_fd, .nothing = inherited.nothing, .terminal = terminal}, WhyNotBuilt);
  // bubblewrap does not tell a path that has gone from what the machine refuses.
  const bool is_about_change = !ran && !watch.was_signalled() && NoteMounts(plan, PlaceholderState::kMade) != noted;
  if (is_about_change) ran.error().error.kind = ErrorKind::kNotFound;
  return ran;
}

}  // namespace holdfast::sandbox
