#include "cli/runs/commands.h"

#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/connect/invocation.h"
#include "cli/runs/console.h"
#include "cli/runs/run_session.h"
#include "cli/terminal/screen.h"
#include "cli/text/duration.h"
#include "sys/io.h"
#include "sys/signal_name.h"
#include "wire/encode.h"
#include "wire/methods.h"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

struct Waited {
  std::string name;
  std::optional<int64_t> exit_code;

  void Fields(auto& f) {
    f.Required("name", name);
    f.Optional("exitCode", exit_code);
  }
};

// Waits for one run, and returns the exit status of its command; kTimedOut when the time is over.
loop::Task<int> WaitFor(Invocation& invocation, std::string name, loop::Deadline& limit) {
  auto client = co_await JoinRun(invocation, name, wire::SessionRole::kObserver);
  if (!client) co_return invocation.Complain(client.error(), kOwnFailure);
  wire::ProcessWaitParams params;
  params.process_id = kMainProcess;
  if (const auto left = limit.left()) params.timeout_ms = static_cast<uint64_t>(left->count());
  const auto waited = co_await client->Call<wire::ProcessWait>(std::move(params));
  if (!waited) co_return invocation.Complain(waited.error(), kOwnFailure);
  if (waited->timed_out) co_return invocation.Complain(fmt::format("{} has not ended in time", name), kTimedOut);
  if (invocation.wants_json()) PrintJson(wire::Encode(Waited{name, waited->exit_code}));
  if (waited->end && waited->end->cause == wire::EndCause::kWall) {
    co_return invocation.Complain(fmt::format("{} was ended at its time limit", name), kTimedOut);
  }
  co_return static_cast<int>(waited->exit_code.value_or(kOwnFailure));
}

loop::Task<int> Wait(Invocation& invocation) {
  std::optional<milliseconds> limit;
  if (const auto text = invocation.arguments().Value("--timeout")) {
    const auto duration = ParseDuration(*text);
    if (!duration) co_return invocation.Complain("--timeout: " + duration.error().message, kWrongUse);
    limit = *duration;
  }
  loop::Deadline deadline(invocation.loop(), limit);
  int status = 0;
  for (const std::string& name : invocation.arguments().Values("NAME")) {
    status = co_await WaitFor(invocation, name, deadline);
  }
  co_return status;
}

// Returns the name of a signal as the protocol has it, from "KILL", "SIGKILL" or "9".
Result<std::string> SignalName(const std::string& text) {
  std::string name = text.starts_with("SIG") ? text : "SIG" + text;
  if (sys::SignalByName(name)) return name;
  for (const char* known :
       {"SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGCONT", "SIGSTOP"}) {
    if (text == std::to_string(sys::SignalByName(known).value_or(0))) return known;
  }
  return Fail(ErrorKind::kInvalidParams, fmt::format("unknown signal {}; write it as TERM, KILL or INT", text));
}

loop::Task<int> KillOne(Invocation& invocation, std::string name, std::string signal) {
  if (invocation.arguments().Has("--end")) {
    auto client = co_await invocation.Connect(Invocation::Starting::kNever);
    if (!client) co_return invocation.Complain(client.error());
    const auto ended = co_await EndRun(*client, name);
    co_return ended ? 0 : invocation.Complain(ended.error());
  }
  auto client = co_await JoinRun(invocation, name, wire::SessionRole::kDriver);
  if (!client) co_return invocation.Complain(client.error());
  wire::ProcessSignalParams params;
  params.process_id = kMainProcess;
  params.signal = std::move(signal);
  const auto sent = co_await client->Call<wire::ProcessSignal>(std::move(params));
  co_return sent ? 0 : invocation.Complain(fmt::format("{}: {}", name, sent.error().message));
}

loop::Task<int> Kill(Invocation& invocation) {
  auto signal = SignalName(invocation.arguments().ValueOr("--signal", "TERM"));
  if (!signal) co_return invocation.Complain(signal.error(), 2);
  int status = 0;
  for (const std::string& name : invocation.arguments().Values("NAME")) {
    const int one = co_await KillOne(invocation, name, *signal);
    if (one != 0) status = one;
  }
  co_return status;
}

loop::Task<Result<>> SendText(client::Process& process, const Arguments& arguments) {
  std::string text;
  for (const std::string& word : arguments.Values("TEXT")) text += (text.empty() ? "" : " ") + word;
  if (!arguments.Has("--no-newline")) text += '\n';
  return process.Write(std::move(text));
}

loop::Task<Result<>> SendInput(client::Process& process) {
  std::vector<char> block(256 << 10);
  for (ssize_t n; (n = sys::Read(STDIN_FILENO, block.data(), block.size())) > 0;) {
    auto written = co_await process.Write(std::string(block.data(), static_cast<size_t>(n)));
    if (!written) co_return written;
  }
  co_return Result<>();
}

loop::Task<int> Send(Invocation& invocation) {
  const Arguments& arguments = invocation.arguments();
  auto client = co_await JoinRun(invocation, arguments.ValueOr("NAME", ""), wire::SessionRole::kDriver);
  if (!client) co_return invocation.Complain(client.error());
  // This command does not read the output of the run.
  const uint64_t latest = co_await LatestSeq(*client);
  auto process = co_await client->Attach(kMainProcess, latest, {.when_full = client::WhenFull::kReadLater});
  if (!process) co_return invocation.Complain(process.error());
  const bool has_text = !arguments.Values("TEXT").empty();
  auto sent = has_text ? co_await SendText(**process, arguments) : Result<>();
  // A user who gives --eof in a terminal does not want to type input as well.
  const bool only_eof = arguments.Has("--eof") && IsTerminal(STDIN_FILENO);
  if (!has_text && !only_eof) sent = co_await SendInput(**process);
  if (sent && arguments.Has("--eof")) sent = co_await (*process)->CloseStdin();
  co_return sent ? 0 : invocation.Complain(sent.error());
}

const std::vector<Argument>& Names() {
  static const std::vector<Argument> names = {
      {.name = "NAME", .help = "the names of the runs", .count = Argument::Count::kMany, .completes = Completes::kRun}};
  return names;
}

}  // namespace

Command WaitCommand() {
  return {.name = "wait",
          .topic = Topic::kRuns,
          .summary = "Waits until runs have ended.",
          .options = WithJsonOption(
              WithServerOptions({{.flag = "--timeout", .value = "TIME", .help = "wait no longer than this"}})),
          .arguments = Names(),
          .examples = {{"holdfast wait tests && echo passed", "Waits for a run and uses its exit status."}},
          .exit_statuses = {{"0..255", "the exit status of the last run"},
                            {"2", "the command line is wrong"},
                            {"124", "the time was over first, or the last run has reached its own time limit"},
                            {"125", "holdfast itself failed"}},
          .run = Remotely(Wait)};
}

Command KillCommand() {
  return {.name = "kill",
          .topic = Topic::kRuns,
          .summary = "Sends a signal to runs, or ends them.",
          .options = WithServerOptions({{.flag = "--signal",
                                         .letter = "-s",
                                         .value = "SIGNAL",
                                         .help = "the signal, such as TERM, INT or KILL",
                                         .completes = Completes::kSignal,
                                         .default_value = "TERM"},
                                        {.flag = "--end",
                                         .help = "end the whole run: its processes get SIGTERM, then SIGKILL, and its "
                                                 "output is forgotten"}}),
          .arguments = Names(),
          .examples = {{"holdfast kill web", "Asks a run to end."},
                       {"holdfast kill -s HUP web", "Lets a server read its configuration again."},
                       {"holdfast kill --end web", "Ends a run and removes it from the list."}},
          .hints = {{{"-1", "-2", "-3", "-9", "-15"}, "write the signal behind -s, as in -s KILL"}},
          .elsewhere_called = {"stop"},
          .run = Remotely(Kill)};
}

Command SendCommand() {
  return {.name = "send",
          .topic = Topic::kRuns,
          .summary = "Writes to the standard input or the terminal of a run.",
          .options = WithServerOptions(
              {{.flag = "--no-newline", .letter = "-n", .help = "do not put a newline behind the text"},
               {.flag = "--eof", .help = "close the standard input of the command at the end"}}),
          .arguments = {{.name = "NAME", .help = "the name of the run", .completes = Completes::kRun},
                        {.name = "TEXT",
                         .help = "the text, its words separated by blanks; without it, standard input is passed on",
                         .count = Argument::Count::kOptionalRest}},
          .examples = {{"holdfast send shell ls -l", "Types a line into a shell."},
                       {"holdfast send --eof sorter < words.txt", "Feeds a file to a command."}},
          .run = Remotely(Send)};
}

}  // namespace holdfast::cli
