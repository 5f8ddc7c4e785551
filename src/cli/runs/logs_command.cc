#include "cli/runs/commands.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/shown_text.h"
#include "base/utf8.h"
#include "cli/connect/invocation.h"
#include "cli/runs/output_relay.h"
#include "cli/runs/run_session.h"
#include "cli/runs/terminal_questions.h"
#include "cli/runs/wakeup.h"
#include "cli/text/byte_count.h"
#include "sys/write_all.h"
#include "wire/encode.h"
#include "wire/methods.h"
#include "wire/process_messages.h"

namespace holdfast::cli {
namespace {

// The lines of JSON that `holdfast logs --json` prints.

// Output that the server had dropped before it could be read.
struct LostOutput {
  uint64_t to_seq = 0;            // the number of the last chunk of it
  std::optional<uint64_t> bytes;  // absent if it is not known how much of what was dropped comes before it
};

struct Line {
  uint64_t seq;
  wire::Stream stream;
  std::optional<std::string_view> text;
  std::optional<wire::Bytes> base64;

  void Fields(auto& f) {
    f.Required("seq", seq);
    f.Required("stream", stream);
    f.Optional("text", text);
    f.Optional("base64", base64);
  }
};

struct Range {
  uint64_t to_seq;
  std::optional<uint64_t> bytes;

  void Fields(auto& f) {
    f.Required("toSeq", to_seq);
    f.Optional("bytes", bytes);
  }
};

struct Notice {
  Range lost;

  void Fields(auto& f) { f.Required("lost", lost); }
};

// Returns a chunk with its output as `text` if it is UTF-8, else as `base64`.
std::string ChunkLine(const wire::OutputChunk& chunk) {
  Line line{.seq = chunk.seq, .stream = chunk.stream, .text = {}, .base64 = {}};
  if (IsUtf8(chunk.chunk.view())) {
    line.text = chunk.chunk.view();
  } else {
    line.base64 = wire::Bytes{chunk.chunk.view()};
  }
  return wire::Encode(line);
}

// The lines of JSON that `holdfast logs --json` prints.
std::string LostLine(const LostOutput& lost) { return wire::Encode(Notice{{lost.to_seq, lost.bytes}}); }

constexpr uint64_t kBytesAtOnce = 1 << 20;

// The place in the output up to which everything is printed, or known to be gone.
struct Place {
  uint64_t seq = 0;
  std::optional<uint64_t> bytes;  // in front of the place; unknown to a user who begins in the middle

  static Place Behind(uint64_t seq) {
    return {.seq = seq, .bytes = seq == 0 ? std::optional<uint64_t>(0) : std::nullopt};
  }
};

// Prints one chunk as it is, or as a line of JSON.
int PrintChunk(const wire::OutputChunk& chunk, bool as_json) {
  if (as_json) return sys::WriteAll(STDOUT_FILENO, ShownJson(ChunkLine(chunk)) + "\n");
  return sys::WriteAll(chunk.stream == wire::Stream::kStderr ? STDERR_FILENO : STDOUT_FILENO, chunk.chunk.view());
}

std::string LossText(const Place& place, const LostOutput& lost) {
  const std::string where =
      place.seq == 0 ? "the beginning of the output" : fmt::format("output behind number {}", place.seq);
  const std::string what = lost.bytes ? ByteCountText(*lost.bytes) : fmt::format("up to number {}", lost.to_seq);
  return fmt::format("{} is gone ({}): the server keeps only the end of a long output", where, what);
}

// Says what the server has dropped behind the place, and moves the place behind that.
void TellLoss(const Invocation& invocation, const wire::ProcessReadResult& read, Place& place) {
  if (!read.dropped || read.dropped->seq <= place.seq) return;
  LostOutput lost{.to_seq = read.dropped->seq, .bytes = {}};
  if (place.bytes && *place.bytes <= read.dropped->bytes) lost.bytes = read.dropped->bytes - *place.bytes;
  if (invocation.wants_json()) {
    PrintJson(LostLine(lost));
  } else {
    (void)invocation.Complain(LossText(place, lost));
  }
  place = {.seq = read.dropped->seq, .bytes = read.dropped->bytes};
}

int EndOfWriting(const Invocation& invocation, int error) {
  if (error == EPIPE) return 128 + SIGPIPE;
  return invocation.Complain(ErrnoError("write", "standard output", error));
}

// Reads the next output behind the place. It is not printed yet.
loop::Task<Result<wire::ProcessReadResult>> ReadBehind(client::ExecServerClient& client, Place place,
                                                       uint64_t max_bytes, uint64_t wait_ms) {
  wire::ProcessReadParams params;
  params.process_id = kMainProcess;
  params.after_seq = place.seq;
  params.max_bytes = max_bytes;
  params.wait_ms = wait_ms;
  return client.Call<wire::ProcessRead>(std::move(params));
}

// Reads what the server has kept, and with `follow` what comes, until the run ends.
loop::Task<int> Read(Invocation& invocation, client::ExecServerClient& client, Place place, bool follow) {
  constexpr uint64_t wait_ms = 60'000;
  for (;;) {
    const auto read = co_await ReadBehind(client, place, kBytesAtOnce, follow ? wait_ms : 0);
    if (!read) co_return invocation.Complain(read.error());
    TellLoss(invocation, *read, place);
    for (const wire::OutputChunk& chunk : read->chunks) {
      if (const int error = PrintChunk(chunk, invocation.wants_json()); error != 0) {
        co_return EndOfWriting(invocation, error);
      }
      place.seq = chunk.seq;
      if (place.bytes) *place.bytes += chunk.chunk.view().size();
    }
    if (read->chunks.empty() && (read->closed || !follow)) co_return 0;
  }
}

// Prints output as it comes, as fast as it comes.
loop::Task<int> Follow(Invocation& invocation, client::ExecServerClient& client, Place place) {
  const auto first = co_await ReadBehind(client, place, 1, 0);
  if (!first) co_return invocation.Complain(first.error());
  TellLoss(invocation, *first, place);
  auto process = co_await client.Attach(kMainProcess, place.seq);
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
  const Place begin = Place::Behind(*since - 1);
  if (follow && !invocation.wants_json()) co_return co_await Follow(invocation, *client, begin);
  co_return co_await Read(invocation, *client, begin, follow);
}

}  // namespace

Command LogsCommand() {
  return {.name = "logs",
          .topic = Topic::kRuns,
          .summary = "Prints the output of a run.",
          .description =
              "The server keeps the last megabyte of output; if the beginning is gone, a line on standard error says "
              "so. Standard error of the command goes to standard error. The run does not notice that it is "
              "watched.\n\n"
              "With --json each line is one piece of output: seq is its number, stream is stdout, stderr or pty, and "
              "the output is text if it is UTF-8, else base64. Where output is gone, a line has lost instead: toSeq is "
              "the number of the last piece that is gone, and bytes says how much is.",
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
