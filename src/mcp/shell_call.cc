#include "mcp/shell_call.h"

#include <utility>

#include "wire/encode.h"

namespace holdfast::mcp {
namespace {

using namespace std::chrono_literals;

constexpr int kTimedOutCode = 124;  // the status by which timeout(1) reports the same
constexpr int kKilledCode = 137;    // of a shell whose end was not seen, because everything was killed

// The time between two progress notifications of a call.
constexpr auto kProgressInterval = 100ms;

// The answer to a call whose processes cannot be killed, because the kernel holds them, is sent after this time.
constexpr auto kKillPatience = 5s;

// The call keeps its output itself, so the process need not.
constexpr process::OutputLimits kOutputLimits{
    .retained_bytes = 64u << 10, .retained_chunks = 16, .snapshot_bytes_per_stream = 0};

CallToolResult Contents(ShellResult result) {
  std::string text = wire::Encode(std::move(result));
  return {.content = {{.text = text}}, .structured_content = {std::move(text)}};
}

}  // namespace

// Stops the stopwatch while a question is open.
class ShellCall::Pause {
 public:
  explicit Pause(ShellCall& call) : call_(call) {
    call_.stopwatch_.Pause(Clock::now());
    call_.WatchTime();
  }
  ~Pause() {
    call_.stopwatch_.Resume(Clock::now());
    call_.WatchTime();
  }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  ShellCall& call_;
};

ShellCall::ShellCall(const ShellCallContext& context, std::chrono::milliseconds limit,
                     std::optional<wire::RawJson> progress_token, rpc::Reply<CallToolResult> reply, OnEnd on_end)
    : context_(context),
      progress_token_(std::move(progress_token)),
      on_end_(std::move(on_end)),
      stopwatch_(started_, limit),
      reply_(std::move(reply)),
      time_limit_(context.loop, [this] { OnTime(); }),
      progress_timer_(context.loop, [this] { SendProgress(); }) {}

void ShellCall::Start(const process::Command& command, const sandbox::SandboxSpec& sandbox) {
  if (auto started = TryStart(command, sandbox); !started) {
    ending_ = true;
    start_error_ = std::move(started).error();
    interception_.reset();
    Answer();
    return on_end_(*this);
  }
  WatchTime();
}

Result<> ShellCall::TryStart(const process::Command& command, const sandbox::SandboxSpec& sandbox) {
  TRY(InterceptedCommand intercepted, context_.interceptor.Begin(command, *this));
  interception_ = std::move(intercepted.interception);
  const process::Pipes io{.stdin_mode = process::Stdin::kNull};
  auto start = context_.start({.session_id = "mcp",
                               .command = std::move(intercepted.command),
                               .sandbox = sandbox,
                               .io = io,
                               .exec_supervisor = std::move(intercepted.exec_supervisor),
                               .kept = std::move(intercepted.kept)});
  TRY(process_, process::Process::Start(context_.loop, std::move(start), io, kOutputLimits, *this));
  return {};
}

void ShellCall::Cancel() {
  if (reply_) reply_->Withdraw();
  reply_.reset();
  EndRest();
}

std::optional<rpc::RequestId> ShellCall::open_request() const {
  return reply_ ? std::optional(reply_->id()) : std::nullopt;
}

loop::Task<escalate::Answer> ShellCall::Ask(escalate::Question question) {
  const Pause pause(*this);
  co_return co_await AskClient(context_.loop, context_.peer, context_.elicitation, std::move(question));
}

void ShellCall::WatchTime() {
  if (ending_) return;
  if (stopwatch_.paused()) return time_limit_.Stop();
  time_limit_.Start(std::chrono::ceil<std::chrono::milliseconds>(stopwatch_.Left(Clock::now())));
}

// The timer also measures the patience with processes that are being killed.
void ShellCall::OnTime() {
  if (ending_) return Answer();
  timed_out_ = true;
  EndRest();
}

// Ends everything that the call has started. OnGone follows.
void ShellCall::EndRest() {
  if (std::exchange(ending_, true)) return;
  time_limit_.Start(kKillPatience);
  process_->Kill({});
  interception_.reset();  // last, because it may wait for the thread of the supervisor
}

void ShellCall::OnStartFailed(process::Process&, const Error& error) {
  start_error_ = Error{ErrorKind::kSystem, error.message};
  EndRest();
}

void ShellCall::OnOutput(process::Process&, const process::Chunk& chunk) {
  const bool is_err = chunk.stream == process::Stream::kStderr;
  is_err ? output_.AppendErr(chunk.bytes) : output_.AppendOut(chunk.bytes);
  if (!progress_token_ || !reply_) return;
  progress_.Append(is_err ? ProgressText::From::kErr : ProgressText::From::kOut, chunk.bytes);
  if (!progress_timer_.running()) SendProgress();
}

// A client that does not read gets its progress later, in fewer pieces.
void ShellCall::SendProgress() {
  if (progress_.empty() || !reply_) return;
  progress_timer_.Start(kProgressInterval);
  if (context_.peer.congested()) return;
  progress_sent_ = output_.total_bytes();
  context_.peer.Notify<Progress>(
      {.progress_token = *progress_token_, .progress = progress_sent_, .message = progress_.Take()});
}

// What the shell leaves running ends with the call, as it does in a sandbox.
void ShellCall::OnExited(process::Process& process, uint64_t) {
  if (!timed_out_) exit_code_ = process.exit_code();
  EndRest();
}

void ShellCall::OnGone(process::Process&) {
  time_limit_.Stop();
  Answer();
  on_end_(*this);
}

void ShellCall::Answer() {
  if (!reply_) return;
  SendProgress();
  progress_timer_.Stop();
  if (start_error_ && !timed_out_) {
    reply_->Fail(*start_error_);
  } else {
    (*reply_)(Contents(MakeResult()));
  }
  reply_.reset();
}

ShellResult ShellCall::MakeResult() const {
  const auto time = Clock::now() - started_;
  const auto secs = std::chrono::floor<std::chrono::seconds>(time);
  const std::chrono::nanoseconds nanos = time - secs;
  return {.exit_code = exit_code_.value_or(timed_out_ ? kTimedOutCode : kKilledCode),
          .output = output_.Text(),
          .duration = {.secs = static_cast<uint64_t>(secs.count()), .nanos = static_cast<uint64_t>(nanos.count())},
          .timed_out = timed_out_};
}

}  // namespace holdfast::mcp
