#include "cli/runs/commands.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/connect/invocation.h"
#include "cli/runs/console.h"
#include "cli/runs/run_session.h"
#include "cli/runs/start_options.h"
#include "cli/runs/terminal_approver.h"
#include "cli/runs/terminal_questions.h"
#include "cli/sandbox/sandbox_options.h"
#include "cli/sandbox/sandbox_warnings.h"
#include "cli/terminal/screen.h"
#include "cli/text/duration.h"
#include "cli/text/run_name.h"
#include "wire/encode.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kForegroundTtl = 80s;  // the time that a run outlives the program that shows it; longer than kRecovery

// The options of the command line that the server does not see.
struct RunOptions {
  std::string name;
  bool detach = false;
  ConsoleOptions console;
};

Result<RunOptions> ReadOptions(const Arguments& arguments, TerminalQuestions& questions) {
  std::string name = arguments.Value("--name").value_or(RandomRunName());
  TRY_VOID(CheckRunName(name));
  TRY(EscapeKeys keys, EscapeKeys::Parse(arguments.ValueOr("--escape", "ctrl-]")));
  using Streams = ConsoleOptions::Streams;
  ConsoleOptions console{.run_name = name,
                         .streams = arguments.Has("--tty") ? Streams::kTerminal : Streams::kPipes,
                         .keys = keys,
                         .questions = questions};
  if (const auto limit = arguments.Value("--timeout")) {
    auto duration = ParseDuration(*limit);
    if (!duration) return Fail(ErrorKind::kInvalidParams, "--timeout: " + duration.error().message);
    if (*duration > 0ms) console.time_limit = *duration;
  }
  return RunOptions{.name = std::move(name), .detach = arguments.Has("--detach"), .console = std::move(console)};
}

// Makes room for a run with the name of one that has ended. A run that still goes on keeps its name.
loop::Task<Result<>> FreeName(Invocation& invocation, std::string name) {
  auto runs = co_await ListRuns(invocation);
  if (!runs) co_return std::unexpected(std::move(runs).error());
  const auto found = std::ranges::find(*runs, name, &wire::ListedSession::session_name);
  if (found == runs->end()) co_return Result<>();
  const wire::ListedProcess* process = MainProcessOf(*found);
  if (process == nullptr || process->state != wire::ProcessState::kClosed) {
    co_return Fail(
        ErrorKind::kInvalidRequest,
        fmt::format("a run named {} exists already; choose another name, or end it with `holdfast kill --end {}`", name,
                    name));
  }
  auto client = co_await invocation.Connect(Invocation::Starting::kNever);
  if (!client) co_return std::unexpected(std::move(client).error());
  co_return co_await EndRun(*client, std::move(name));
}

// The exit statuses are those of shells.
int StatusOfFailedStart(const Error& error) {
  if (error.kind == ErrorKind::kNoSuchProgram) return kNoSuchCommand;
  return error.kind == ErrorKind::kCannotExecute ? kCannotExecute : kOwnFailure;
}

// What the options say is checked before the server is asked.
int StatusOfOptions(const Error& error) { return error.kind == ErrorKind::kInvalidParams ? kWrongUse : kOwnFailure; }

// The server ends the command at its time limit, also while nobody is connected. While this program is connected, it
// can do so for a server that knows no limits; a detached command would run without one, so that such a server is
// refused.
wire::Limits LimitsFor(const RunOptions& options, const client::ExecServerClient& client) {
  const auto& limit = options.console.time_limit;
  if (!limit) return {};
  const bool is_known = client.environment() && !client.environment()->capabilities.limits.empty();
  if (!is_known && !options.detach) return {};
  return {.wall_ms = static_cast<uint64_t>(limit->count())};
}

struct Started {
  std::string name;

  void Fields(auto& f) { f.Required("name", name); }
};

loop::Task<int> Show(Invocation& invocation, client::ExecServerClient& client, std::shared_ptr<client::Process> process,
                     RunOptions options) {
  const std::string name = options.name;
  const ConsoleEnd end = co_await Converse(invocation, client, std::move(process), std::move(options.console));
  if (end.how != ConsoleEnd::How::kLeft) (void)co_await EndRun(client, name);  // otherwise it expires
  co_return end.status;
}

int Explain(const Invocation& invocation) {
  const auto text = ExplainSandbox(invocation);
  if (!text) return invocation.Complain(text.error(), StatusOfOptions(text.error()));
  Print(*text);
  return 0;
}

loop::Task<int> Run(Invocation& invocation) {
  if (invocation.arguments().Has("--explain")) co_return Explain(invocation);
  if (invocation.arguments().Values("COMMAND").empty()) {
    co_return invocation.Complain("no command to run; name it after --", kWrongUse);
  }
  if (invocation.arguments().Has("--tty") && !invocation.arguments().Has("--detach") && !IsTerminal(STDIN_FILENO)) {
    co_return invocation.Complain("-t needs a terminal as standard input; leave it out, or add -d", kWrongUse);
  }
  TerminalQuestions questions(invocation.loop());
  auto options = ReadOptions(invocation.arguments(), questions);
  if (!options) co_return invocation.Complain(options.error(), StatusOfOptions(options.error()));
  if (invocation.arguments().Has("--name")) {
    auto freed = co_await FreeName(invocation, options->name);
    if (!freed) co_return invocation.Complain(freed.error(), kOwnFailure);
  }
  client::SharedSession session{.name = options->name, .role = {}, .detached_ttl = {}};
  if (!options->detach) session.detached_ttl = kForegroundTtl;
  auto client =
      co_await invocation.Connect(Invocation::Starting::kOnDemand, std::move(session), TerminalApprover(questions));
  if (!client) co_return invocation.Complain(client.error(), kOwnFailure);
  auto start = StartOptionsFrom(invocation, options->name, *client);
  if (!start) {
    (void)co_await EndRun(*client, options->name);  // otherwise it expires, or stays if it is detached
    co_return invocation.Complain(start.error(), StatusOfOptions(start.error()));
  }
  start->limits = LimitsFor(*options, *client);
  const bool is_private = invocation.server().source == ServerChoice::Source::kPrivate;
  if (is_private && !start->sandbox.empty()) PrintSandboxWarningsOnce("holdfast run");
  auto process = co_await client->Start(*std::move(start));
  if (!process) {
    (void)co_await EndRun(*client, options->name);  // as above
    co_return invocation.Complain(process.error(), StatusOfFailedStart(process.error()));
  }
  if (!options->detach) co_return co_await Show(invocation, *client, *std::move(process), *std::move(options));
  if (invocation.wants_json()) {
    PrintJson(wire::Encode(Started{options->name}));
  } else {
    Print(options->name + "\n");
  }
  co_return 0;
}

std::vector<Option> Options() {
  return WithJsonOption(
      WithServerOptions(WithSandboxOptions(
          {{.flag = "--tty", .letter = "-t", .help = "give the command a terminal"},
           {.flag = "--detach", .letter = "-d", .help = "leave the command running, and print the name of the run"},
           {.flag = "--stdin", .letter = "-i", .help = "with -d: keep standard input open, for holdfast send"},
           {.flag = "--rules",
            .value = "FILE",
            .help = "judge every program that the command executes by this rules file of the server's machine",
            .completes = Completes::kFile,
            .times = Option::Times::kMany},
           {.flag = "--strict", .help = "with --rules: execute programs exactly as they were judged"},
           {.flag = "--timeout",
            .value = "TIME",
            .help = "end the command after this time, such as 90s, 5m or 1h30m, also while nobody is connected; 0 "
                    "means no limit"},
           {.flag = "--cwd",
            .letter = "-C",
            .value = "DIR",
            .help = "the directory of the command (default: the current one, or that of a remote server)",
            .completes = Completes::kDirectory},
           {.flag = "--env",
            .letter = "-e",
            .value = "NAME=VALUE",
            .help = "set a variable for the command; NAME alone passes on its value here",
            .times = Option::Times::kMany},
           {.flag = "--env-all",
            .help = "pass on all variables also with a sandbox or rules, in which those are left out whose names "
                    "contain KEY, SECRET, TOKEN or PASSWORD"},
           {.flag = "--name", .value = "NAME", .help = "the name of the run, by which other commands find it"},
           {.flag = "--escape",
            .value = "KEY",
            .help = "with -t: the key in front of d (detach) and z (stop this program)",
            .default_value = "ctrl-]"}},
          "none")),
      "with -d: print the name of the run as JSON");
}

// What docker and kubectl have for the same purpose.
std::vector<Hint> Hints() {
  return {
      {{"-v", "--volume", "--mount"},
       "a command sees the files of the server's machine; --sandbox says which of them it may write"},
      {{"-p", "--publish"}, "a command listens on the server's machine itself, so that no port has to be published"},
      {{"-m", "--memory", "--cpus"},
       "limits stand in front of the command, as in `prlimit --as=2000000000 COMMAND` or `nice COMMAND`"},
      {{"--rm"}, "a run is removed when its command ends, unless it was detached; `holdfast prune` removes those"},
      {{"--workdir"}, "write --cwd DIR or -C DIR"},
      {{"-u", "--user"}, "a command runs as the user of the server"},
      {{"--env-file"}, "write -e NAME=VALUE, or let the shell read the file: `set -a; . FILE; set +a`"},
      {{"--entrypoint", "--image"}, "there are no images; the program is the first word of the command"},
      {{"--privileged", "--cap-add"}, "a command without --sandbox may do all that the server's user may"},
      {{"--restart"}, "a command runs once; --timeout limits its time"},
      {{"--interactive"}, "standard input is passed on anyway; with -d, --stdin keeps it open"},
      {{"-n", "--namespace", "--context"}, "write --server URL to choose the machine"},
  };
}

}  // namespace

Command RunCommand() {
  return {
      .name = "run",
      .topic = Topic::kRuns,
      .summary = "Runs a command on a server, as if it ran here.",
      .description =
          "Standard input, output and error of the command are those of this program and stay apart. Signals are "
          "passed "
          "on, and the exit status is that of the command. Over a unix socket, as with the private server, the command "
          "has the environment and the directory of this program; otherwise it has those of the server.\n\n"
          "With an option of the sandbox, the command runs in one: everything may be read, and only what the options "
          "name may be written. The files of --sandbox and --config are read here, but the paths of a sandbox are "
          "those of the server's machine. If that is another one, a relative path is below the directory of the "
          "command there, and ~ is the home of the server's user. A command with a sandbox or with rules gets neither "
          "HOLDFAST_SERVER nor variables that look like secrets. HOLDFAST_RUN is the name of the run, also for a "
          "prompt: PS1='${HOLDFAST_RUN:+($HOLDFAST_RUN) }\\w\\$ '.\n\n"
          "With -t the command has a terminal, and every key goes to it, except the escape key: Ctrl-] d leaves the "
          "command running (holdfast attach comes back), Ctrl-] z stops this program, and Ctrl-] twice is passed "
          "on.\n\n"
          "With --rules each program that the command executes is run, refused, or taken out of the sandbox, as the "
          "rules say. If they leave a program to you, the question appears alone on your terminal, with a number "
          "that is the answer; without a terminal the program is refused.\n\n"
          "A first Ctrl-C or SIGTERM goes to the command, like other signals. From then on the run ends with the "
          "command, also while a process that it has left behind holds the output. A second one ends the run, and a "
          "third one leaves at once.\n\n"
          "If the connection is lost, it is made again, and the command does not notice.",
      .options = Options(),
      .arguments = {{.name = "COMMAND",
                     .help = "the program to run, and its arguments",
                     .count = Argument::Count::kOptionalRest,
                     .completes = Completes::kProgram}},
      .examples = WithSandboxExamples(
          {{"holdfast run make -j8", "Runs make in the current directory."},
           {"holdfast run -t bash", "Opens a shell with a terminal."},
           {"holdfast run --workspace-write --timeout 5m -- npm test",
            "Runs tests that may write only the current directory, for at most five minutes."},
           {"holdfast run --workspace-write --rules team.rules -- make release",
            "Runs make in a sandbox, from which the rules may let programs out."},
           {"holdfast run -d --name web -- python3 -m http.server", "Starts a server and leaves it running."},
           {"tar c src | holdfast run --server ws://build:8765 -- tar x -C /tmp", "Feeds a command through a pipe."}},
          "holdfast run", " -- make"),
      .exit_statuses = {{"0..255", "the exit status of the command"},
                        {"124", "the time limit was reached"},
                        {"2", "the command line is wrong"},
                        {"125", "holdfast itself failed: the server cannot be reached, or refuses the command"},
                        {"126", "the command cannot be executed"},
                        {"127", "there is no such command"},
                        {"128+N", "the command was ended by signal N"}},
      .hints = Hints(),
      .elsewhere_called = {"exec", "start"},
      .run = Remotely(Run)};
}

}  // namespace holdfast::cli
