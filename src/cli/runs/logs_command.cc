#include "cli/runs/logs_command.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "cli/connect/invocation.h"
#include "cli/runs/output_relay.h"
#include "cli/runs/run_session.h"
#include "cli/runs/terminal_questions.h"
#include "cli/runs/wakeup.h"
#include "sys/write_all.h"
#include "wire/encode.h"
#include "wire/methods.h"

namespace holdfast::cli {
namespace {

constexpr uint64_t kBytesAtOnce = 1 << 20;

// Prints one chunk as it is, or as a line of JSON.
int PrintChunk(const wire::OutputChunk& chunk, bool as_json) {
  if (as_json) return sys::WriteAll(STDOUT_FILENO, wire::Encode(chunk) + "\n");
  return sys::WriteAll(chunk.stream == wire::Stream::kStderr ? STDERR_FILENO : STDOUT_FILENO, chunk.chunk.view());
}

int EndOfWriting(const Invocation& invocation, int error) {
  if (error == EPIPE) return 128 + SIGPIPE;
  return invocation.Complain(ErrnoError("write", "standard output", error));
}

// Reads what the server has kept, and with `follow` what comes, until the run ends.
loop::Task<int> Read(Invocation& invocation, client::ExecServerClient& client, uint64_t after, bool follow) {
  constexpr uint64_t wait_ms = 60'000;
  for (;;) {
    wire::ProcessReadParams params;
    params.process_id = kMainProcess;
    params.after_seq = after;
    params.max_bytes = kBytesAtOnce;
    params.wait_ms = follow ? wait_ms : 0;
    const auto read = co_await client.Call<wire::ProcessRead>(std::move(params));
    if (!read) co_return invocation.Complain(read.error());
    for (const wire::OutputChunk& chunk : read->chunks) {
      if (const int error = PrintChunk(chunk, invocation.wants_json()); error != 0) {
        co_return EndOfWriting(invocation, error);
      }
      after = chunk.seq;
    }
    if (read->chunks.empty() && (read->closed || !follow)) co_return 0;
  }
}

// Prints output as it comes, as fast as it comes.
loop::Task<int> Follow(Invocation& invocation, client::ExecServerClient& client, uint64_t after) {
  auto process = co_await client.Attach(kMainProcess, after);
  if (!process) co_return invocation.Complain(process.error());
  Wakeup changed(invocation.loop());
  TerminalQuestions questions(invocation.loop());  // none is asked: an observer is not
  OutputRelay output(invocation.loop(), **process, questions, changed);
  output.Start();
  while (!output.finished() && output.write_error() == 0) co_await changed.event().Next();
  if (output.lost_events() > 0) {
    (void)invocation.Complain(fmt::format("{} pieces of output are no longer kept", output.lost_events()));
  }
  if (output.write_error() != 0) co_return EndOfWriting(invocation, output.write_error());
  co_return output.failure() ? invocation.Complain(*output.failure()) : 0;
}

loop::Task<int> Logs(Invocation& invocation) {
  const Arguments& arguments = invocation.arguments();
  const auto since = ParseNumber<uint64_t>(arguments.ValueOr("--since-seq", "1"));
  if (!since || *since == 0) co_return invocation.Complain("--since-seq: expected a number from 1 on", 2);
  auto client = co_await JoinRun(invocation, arguments.ValueOr("NAME", ""), wire::SessionRole::kObserver);
  if (!client) co_return invocation.Complain(client.error());
  const bool follow = arguments.Has("--follow");
  if (follow && !invocation.wants_json()) co_return co_await Follow(invocation, *client, *since - 1);
  co_return co_await Read(invocation, *client, *since - 1, follow);
}

}  // namespace

Command LogsCommand() {
  return {.name = "logs",
          .topic = Topic::kRuns,
          .summary = "Prints the output of a run.",
          .description =
              "The server keeps the last megabyte of output. Standard error of the command goes to standard "
              "error. The run does not notice that it is watched.",
          .options = WithJsonOption(WithServerOptions(
              {{.flag = "--follow", .letter = "-f", .help = "go on with new output until the command has ended"},
               {.flag = "--since-seq",
                .value = "N",
                .help = "begin with the output that has this number; --json prints the numbers"}})),
          .arguments = {{.name = "NAME", .help = "the name of the run", .completes = Completes::kRun}},
          .examples = {{"holdfast logs web", "Prints what web has written."},
                       {"holdfast logs -f web | grep error", "Watches it for errors."}},
          .hints = {{{"-n", "--tail"}, "write `holdfast logs NAME | tail -n N`"},
                    {{"--since", "-t", "--timestamps"}, "the server keeps no times; --since-seq begins at a number"}},
          .run = Remotely(Logs)};
}

}  // namespace holdfast::cli
