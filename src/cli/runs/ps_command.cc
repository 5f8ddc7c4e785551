#include "cli/runs/commands.h"

#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "cli/connect/invocation.h"
#include "cli/runs/run_session.h"
#include "cli/runs/run_text.h"
#include "cli/terminal/screen.h"
#include "cli/text/run_name.h"
#include "cli/text/table.h"
#include "wire/encode.h"

namespace holdfast::cli {
namespace {

using Runs = std::vector<wire::ListedSession>;

// A program reads the names, one on each line. What a server calls a run and no command would take as a name could be
// several lines, or be executed by a careless script, so it is left out.
std::string NamesText(const Invocation& invocation, const Runs& runs) {
  std::string text;
  for (const auto& run : runs) {
    if (IsRunName(*run.session_name)) {
      text += *run.session_name + "\n";
    } else {
      (void)invocation.Complain(fmt::format("{} is not a name, and was left out", ShownWord(*run.session_name)));
    }
  }
  return text;
}

// Returns the state, and how long ago the command has ended.
std::string StateAndTime(const wire::ListedSession& run, std::chrono::system_clock::time_point now) {
  const wire::ListedProcess* process = MainProcessOf(run);
  if (process == nullptr || !process->exited_at_ms) return StateText(run);
  return fmt::format("{} {} ago", StateText(run), AgeText(*process->exited_at_ms, now));
}

std::string TableText(const Runs& runs) {
  TextTable table;
  table.Add({"NAME", "STATE", "AGE", "SANDBOX", "DIRECTORY", "COMMAND"});
  const auto now = std::chrono::system_clock::now();
  for (const auto& run : runs) {
    table.Add({*run.session_name, StateAndTime(run, now), AgeText(run.created_at_ms, now), RestrictionText(run),
               DirectoryText(run), CommandText(run)});
  }
  std::string text = table.Text();
  if (!HasColours(STDOUT_FILENO)) return text;
  const size_t end = text.find('\n');
  return fmt::format("\x1b[1m{}\x1b[0m{}", text.substr(0, end), text.substr(end));
}

loop::Task<int> Ps(Invocation& invocation) {
  auto runs = co_await ListRuns(invocation);
  if (!runs) co_return invocation.Complain(runs.error());
  if (invocation.wants_json()) {
    wire::SessionListResult list;
    list.sessions = *std::move(runs);
    PrintJson(wire::Encode(list));
  } else {
    Print(invocation.arguments().Has("--quiet") ? NamesText(invocation, *runs) : TableText(*runs));
  }
  co_return 0;
}

}  // namespace

Command PsCommand() {
  return {
      .name = "ps",
      .topic = Topic::kRuns,
      .summary = "Lists the runs of a server.",
      .description =
          "A run that was detached, or started with -d, stays in the list when its command has ended, so "
          "that logs and wait still find it; holdfast prune removes all that have ended.",
      .options =
          WithJsonOption(WithServerOptions({{.flag = "--quiet", .letter = "-q", .help = "print only the names"}})),
      .examples = {{"holdfast ps", "Lists all runs of the private server."},
                   {"holdfast ps --json --server ws://build:8765", "Lists the runs of another server for a program."}},
      .hints = {{{"-a", "--all"}, "all runs are listed, also those that have ended"}},
      .elsewhere_called = {"list", "top"},
      .run = Remotely(Ps)};
}

}  // namespace holdfast::cli
