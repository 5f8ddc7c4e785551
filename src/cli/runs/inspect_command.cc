#include "cli/runs/commands.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/connect/invocation.h"
#include "cli/runs/run_session.h"
#include "cli/runs/run_text.h"
#include "cli/text/byte_count.h"
#include "cli/text/table.h"
#include "wire/encode.h"

namespace holdfast::cli {
namespace {

std::string Listed(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

void AddRestrictions(const wire::ListedProcess& process, TextTable& table) {
  if (const auto& sandbox = process.sandbox) {
    table.Add({"sandbox:", fmt::format("{}, {}", sandbox->files, sandbox->network ? "with a network" : "no network")});
    if (!sandbox->write.empty()) table.Add({"may write:", Listed(sandbox->write)});
    if (!sandbox->deny.empty()) table.Add({"denied:", Listed(sandbox->deny)});
  } else {
    table.Add({"sandbox:", "none"});
  }
  if (!process.rules) return;
  std::vector<std::string> files;
  for (const std::string& file : *process.rules) files.push_back(PathText(file));
  table.Add({"rules:", Listed(files)});
}

std::string Text(const wire::ListedSession& run) {
  TextTable table;
  table.Add({"name:", *run.session_name});
  table.Add({"session:", run.session_id});
  table.Add({"state:", StateText(run)});
  table.Add({"created:", MomentText(run.created_at_ms)});
  table.Add({"connections:", fmt::format("{}", run.connections)});
  table.Add({"driver:", run.driver.value_or("none")});
  if (const wire::ListedProcess* process = MainProcessOf(run)) {
    table.Add({"command:", CommandText(run)});
    if (process->cwd) table.Add({"directory:", DirectoryText(run)});
    AddRestrictions(*process, table);
    if (process->pid) table.Add({"pid:", fmt::format("{}", *process->pid)});
    table.Add({"output:", ByteCountText(process->output_bytes)});
    table.Add({"input:", ByteCountText(process->input_bytes)});
    if (process->exited_at_ms) table.Add({"ended:", MomentText(*process->exited_at_ms)});
  }
  return table.Text();
}

loop::Task<int> Inspect(Invocation& invocation) {
  const std::string name = invocation.arguments().ValueOr("NAME", "");
  auto runs = co_await ListRuns(invocation);
  if (!runs) co_return invocation.Complain(runs.error());
  const auto found = std::ranges::find(*runs, name, &wire::ListedSession::session_name);
  if (found == runs->end()) co_return invocation.Complain(fmt::format("there is no run named {}", name));
  if (invocation.wants_json()) {
    PrintJson(wire::Encode(*found));
  } else {
    Print(Text(*found));
  }
  co_return 0;
}

}  // namespace

Command InspectCommand() {
  return {.name = "inspect",
          .topic = Topic::kRuns,
          .summary = "Tells everything about a run.",
          .options = WithJsonOption(WithServerOptions({})),
          .arguments = {{.name = "NAME", .help = "the name of the run", .completes = Completes::kRun}},
          .examples = {{"holdfast inspect web", "Shows the state of a run, its command, and what restricts it."}},
          .run = Remotely(Inspect)};
}

}  // namespace holdfast::cli
