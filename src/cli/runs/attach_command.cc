#include "cli/runs/commands.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cli/connect/invocation.h"
#include "cli/runs/console.h"
#include "cli/runs/run_session.h"
#include "cli/runs/terminal_approver.h"
#include "cli/runs/terminal_questions.h"
#include "cli/terminal/screen.h"
#include "wire/methods.h"

namespace holdfast::cli {
namespace {

// Returns whether the process has a terminal, which then gets the size of this one. A size that differs for a moment
// makes programs on the whole screen draw it again.
loop::Task<bool> FitTerminal(client::Process& process) {
  const auto size = WindowSizeOf(STDIN_FILENO).value_or(sys::WindowSize());
  const auto smaller = static_cast<uint16_t>(std::max(1, size.rows - 1));
  const auto nudged = co_await process.Resize({.rows = smaller, .cols = size.cols});
  if (!nudged) co_return false;
  (void)co_await process.Resize({.rows = size.rows, .cols = size.cols});  // the process may have ended
  co_return true;
}

// Returns whether the command has ended. If that cannot be found out, its run is rather kept.
loop::Task<bool> HasEnded(client::ExecServerClient& client) {
  wire::ProcessWaitParams params;
  params.process_id = kMainProcess;
  params.timeout_ms = 0;
  const auto waited = co_await client.Call<wire::ProcessWait>(std::move(params));
  co_return !waited || waited->exited;
}

loop::Task<int> Attach(Invocation& invocation) {
  const Arguments& arguments = invocation.arguments();
  const std::string name = arguments.ValueOr("NAME", "");
  auto keys = EscapeKeys::Parse(arguments.ValueOr("--escape", "ctrl-]"));
  if (!keys) co_return invocation.Complain(keys.error(), kWrongUse);
  TerminalQuestions questions(invocation.loop());
  auto client = co_await JoinRun(invocation, name, wire::SessionRole::kDriver, TerminalApprover(questions));
  if (!client) co_return invocation.Complain(client.error(), kOwnFailure);
  const uint64_t after = arguments.Has("--new") ? co_await LatestSeq(*client) : 0;
  auto process = co_await client->Attach(kMainProcess, after);
  if (!process) co_return invocation.Complain(process.error(), kOwnFailure);
  const bool had_ended = co_await HasEnded(*client);
  const bool has_terminal = co_await FitTerminal(**process);
  using Streams = ConsoleOptions::Streams;
  ConsoleOptions options{.run_name = name,
                         .streams = has_terminal ? Streams::kTerminal : Streams::kPipes,
                         .keys = *keys,
                         .questions = questions};
  const ConsoleEnd end = co_await Converse(invocation, *client, *std::move(process), std::move(options));
  const bool ended_here = end.how == ConsoleEnd::How::kFinished && !had_ended;
  if (ended_here) (void)co_await EndRun(*client, name);  // it may be gone already
  co_return end.status;
}

}  // namespace

Command AttachCommand() {
  return {.name = "attach",
          .topic = Topic::kRuns,
          .summary = "Connects this terminal with a run.",
          .description =
              "The output that the server has kept is shown first. Another client that is attached to the run "
              "becomes an observer. Ctrl-] d leaves the command running; see holdfast run. A run whose command ends "
              "meanwhile is removed from the list; one whose command had ended before stays, as with holdfast logs.",
          .options = WithServerOptions({{.flag = "--new", .help = "show only output that comes from now on"},
                                        {.flag = "--escape",
                                         .value = "KEY",
                                         .help = "the key in front of d (detach) and z (stop this program)",
                                         .default_value = "ctrl-]"}}),
          .arguments = {{.name = "NAME", .help = "the name of the run", .completes = Completes::kRun}},
          .examples = {{"holdfast attach brave-otter-42", "Comes back to a shell that was detached."}},
          .exit_statuses = {{"0", "detached"},
                            {"0..255", "the exit status of the command, if it has ended"},
                            {"2", "the command line is wrong"},
                            {"125", "holdfast itself failed"}},
          .hints = {{{"--detach-keys"}, "write --escape KEY"}},
          .run = Remotely(Attach)};
}

}  // namespace holdfast::cli
