#include "sandbox/outer_stage.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sandbox/bubblewrap_watch.h"
#include "sandbox/host_limits.h"
#include "sandbox/lifeline.h"
#include "sandbox/mount_check.h"
#include "sandbox/placeholders.h"
#include "sandbox/start_report.h"
#include "sandbox/terminal.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/memory_file.h"

extern char** environ;

namespace holdfast::sandbox {
namespace {

Result<> Inherit(const OwnedFd& fd) {
  if (::fcntl(fd.get(), F_SETFD, 0) < 0) return std::unexpected(ErrnoError("fcntl", "inherit", errno));
  return {};
}

std::string NulSeparated(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(word).push_back('\0');
  return text;
}

std::vector<std::string> Environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

struct Pipe {
  OwnedFd read_end, write_end;
};

// The write end is inherited.
Result<Pipe> PipeFromInside() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return std::unexpected(ErrnoError("pipe", "", errno));
  Pipe pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
  TRY_VOID(Inherit(pipe.write_end));
  return pipe;
}

// The read end is inherited. Of sockets, because who writes to a pipe that nobody reads is sent a signal.
Result<Pipe> PipeToBubblewrap() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
    return std::unexpected(ErrnoError("socketpair", "", errno));
  }
  Pipe pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
  TRY_VOID(Inherit(pipe.read_end));
  return pipe;
}

// Inherited, under a number that is none of the standard streams'. What is closed stays out of the way of other files.
Result<OwnedFd> CopyOfStream(int stream) {
  OwnedFd copy(::fcntl(stream, F_DUPFD, STDERR_FILENO + 1));
  if (!copy.is_open() && errno == EBADF) {
    const OwnedFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    copy = OwnedFd(::fcntl(nothing.get(), F_DUPFD, STDERR_FILENO + 1));
  }
  if (!copy.is_open()) return std::unexpected(ErrnoError("fcntl", fmt::format("descriptor {}", stream), errno));
  return copy;
}

// All that bubblewrap and the inner stage inherit. Arguments and orders come by descriptors, so that nothing of them
// shows in a list of processes.
struct Luggage {
  BubblewrapArguments arguments;
  std::array<OwnedFd, 3> streams;
  OwnedFd nothing, self, orders_sheet;
  Pipe arguments_pipe, words, report;
  LifelineEnds lifeline;
  std::vector<std::string> command_line;
};

Result<Luggage> Pack(const Plan& plan) {
  Luggage luggage;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    TRY(luggage.streams[static_cast<size_t>(stream)], CopyOfStream(stream));
  }
  TRY(luggage.words, PipeFromInside());
  TRY(luggage.report, PipeFromInside());
  TRY(luggage.lifeline, MakeLifeline());
  TRY(luggage.orders_sheet, sys::MakeMemoryFile("orders", ""));
  TRY_VOID(Inherit(luggage.orders_sheet));
  TRY(luggage.nothing, sys::OpenDevNull());
  luggage.self = OwnedFd(::open("/proc/self/exe", O_RDONLY));  // inherited
  if (!luggage.self.is_open()) return std::unexpected(ErrnoError("open", "/proc/self/exe", errno));
  TRY(luggage.arguments, ArgumentsFor(plan));
  TRY(luggage.arguments_pipe, PipeToBubblewrap());
  luggage.command_line = {"bwrap",
                          "--args",
                          std::to_string(luggage.arguments_pipe.read_end.get()),
                          "--",
                          fmt::format("/proc/self/fd/{}", luggage.self.get()),
                          kInnerStage,
                          std::to_string(luggage.orders_sheet.get())};
  return luggage;
}

// bubblewrap makes the terminal that is its standard output known inside, as /dev/console: `tty` finds it there.
int OutputForBubblewrap(const Luggage& luggage) {
  const auto terminal =
      std::ranges::find_if(luggage.streams, [](const OwnedFd& fd) { return ::isatty(fd.get()) == 1; });
  return terminal != luggage.streams.end() ? terminal->get() : luggage.nothing.get();
}

// bubblewrap would die or stop of what is meant for the command, and holds no stream of the command's open. The
// environment is the command's too: LD_PRELOAD and the like would have bubblewrap run its code, outside of the sandbox.
// The inner stage sets all of this right again.
// Returns only when it fails.
int ExecInChild(int program, char* const* argv, const Luggage& luggage) {
  char* const no_environment[] = {nullptr};
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::dup2(luggage.nothing.get(), STDIN_FILENO);
  ::dup2(OutputForBubblewrap(luggage), STDOUT_FILENO);
  ::dup2(luggage.words.write_end.get(), STDERR_FILENO);
  ::fexecve(program, argv, no_environment);
  constexpr std::string_view failed = "bubblewrap cannot be executed";
  (void)!::write(STDERR_FILENO, failed.data(), failed.size());
  return 1;
}

// The numbers are theirs.
InnerOrders OrdersInside(const InnerOrders& orders, const Luggage& luggage) {
  InnerOrders inside = orders;
  inside.environment = Environment();
  inside.streams = {luggage.streams[0].get(), luggage.streams[1].get(), luggage.streams[2].get()};
  inside.report_fd = luggage.report.write_end.get();
  inside.lifeline_fd = luggage.lifeline.inner.get();
  return inside;
}

Result<pid_t> Start(const Bubblewrap& bubblewrap, Luggage& luggage) {
  std::vector<char*> argv;
  argv.reserve(luggage.command_line.size() + 1);
  for (std::string& word : luggage.command_line) argv.push_back(word.data());
  argv.push_back(nullptr);
  struct Order {
    int program;
    char* const* argv;
    const Luggage& luggage;
  };
  Order order{.program = bubblewrap.program.get(), .argv = argv.data(), .luggage = luggage};
  const auto in_child = [](void* given) -> int {
    const auto& [program, words, inherited] = *static_cast<const Order*>(given);
    return ExecInChild(program, words, inherited);
  };
  // On the memory of this process, which waits for the execution: nothing of it needs to be copied.
  constexpr size_t stack_size = 64 << 10;
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(stack_size);
  const pid_t child = ::clone(in_child, stack.get() + stack_size, CLONE_VM | CLONE_VFORK | SIGCHLD, &order);
  if (child < 0) return std::unexpected(ErrnoError("clone", "", errno));
  for (Pipe* const pipe : {&luggage.words, &luggage.report}) pipe->write_end.Reset();
  luggage.arguments_pipe.read_end.Reset();
  luggage.lifeline.inner.Reset();
  for (OwnedFd& stream : luggage.streams) stream.Reset();
  return child;
}

// What bubblewrap waits for: without its arguments it does nothing. The orders are there before the inner stage is.
Result<> Instruct(const Plan& plan, InnerOrders orders, Luggage& luggage) {
  TRY(orders.mounts, NoteMounts(plan));
  NoteIdentities(orders.mounts, orders.landlock);
  TRY_VOID(sys::FillMemoryFile(luggage.orders_sheet.get(), Encode(orders)));
  TRY_VOID(sys::SendAll(luggage.arguments_pipe.write_end.get(), NulSeparated(luggage.arguments.words)));
  ::shutdown(luggage.arguments_pipe.write_end.get(), SHUT_WR);  // a child of this process may have a copy
  return {};
}

// In bubblewrap's words, and what they mean here.
Error WhyNotStarted(int status, std::string words) {
  while (words.ends_with('\n')) words.pop_back();
  std::ranges::replace(words, '\n', ' ');
  if (words.empty()) words = fmt::format("bubblewrap has ended with status {} before the command was started", status);
  const std::string explanation = Explain(words);
  if (!explanation.empty()) words += ". " + explanation;
  return {.kind = ErrorKind::kSystem, .message = std::move(words)};
}

// Why it is ended here, unless it has said by itself why it cannot go on.
std::unexpected<Error> GiveUp(BubblewrapWatch& watch, Error why) {
  watch.KillAll();
  (void)watch.AwaitReport();
  if (watch.words().empty()) return std::unexpected(std::move(why));
  return std::unexpected(WhyNotStarted(watch.AwaitEnd(), watch.words()));
}

// The command's streams are the command's: who reads its output sees the end when the command closes it.
void ReleaseStreams(const OwnedFd& nothing) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing.get(), stream);
}

}  // namespace

Result<int> RunOuterStage(const Bubblewrap& bubblewrap, const Plan& plan, const InnerOrders& orders) {
  const std::optional<int> report_fd = orders.report_fd;
  TRY_VOID(CheckHost());
  (void)std::signal(SIGCHLD, SIG_DFL);          // where it is ignored nobody can be waited for
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // whom bubblewrap leaves behind can be found then
  OwnedFd signals = BubblewrapWatch::BlockSignals();
  if (!signals.is_open()) return std::unexpected(ErrnoError("signalfd", "", errno));
  if (report_fd && ::fcntl(*report_fd, F_SETFD, FD_CLOEXEC) < 0) {
    return std::unexpected(ErrnoError("fcntl", fmt::format("descriptor {}", *report_fd), errno));
  }
  const auto terminal = Terminal::OfStreams();
  TRY(Placeholders placeholders, Placeholders::Prepare(plan.placeholders));
  TRY(Luggage luggage, Pack(plan));
  const InnerOrders orders_inside = OrdersInside(orders, luggage);
  TRY(const pid_t child, Start(bubblewrap, luggage));
  BubblewrapWatch watch(child, std::move(signals),
                        {.words = std::move(luggage.words.read_end),
                         .report = std::move(luggage.report.read_end),
                         .lifeline = std::move(luggage.lifeline.outer)});
  // While bubblewrap comes up.
  if (const auto made = placeholders.Make(); !made) return GiveUp(watch, made.error());
  if (const auto sent = Instruct(plan, orders_inside, luggage); !sent) return GiveUp(watch, sent.error());
  if (const int inner = watch.AwaitInner(); inner >= 0) {
    if (const auto kept = placeholders.KeepUntilEndOf(inner); !kept) return GiveUp(watch, kept.error());
    watch.LetGo();
  }
  const auto report = watch.AwaitReport();
  if (report) {
    if (report_fd) {
      PassReport(*report_fd, *report);
      ::close(*report_fd);
    }
    ReleaseStreams(luggage.nothing);
  }
  const int status = watch.AwaitEnd();
  if (terminal) terminal->TakeBack();
  if (!report) return std::unexpected(WhyNotStarted(status, watch.words()));
  return status;
}

}  // namespace holdfast::sandbox
