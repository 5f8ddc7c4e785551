#include "cli/runs/console.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "cli/runs/driver.h"
#include "cli/runs/input_relay.h"
#include "cli/runs/output_relay.h"
#include "cli/runs/signal_relay.h"
#include "cli/runs/wakeup.h"
#include "cli/terminal/raw_mode.h"
#include "cli/terminal/screen.h"
#include "loop/event.h"
#include "loop/scope.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kGrace = 2s;     // between SIGTERM and SIGKILL when the time limit is reached
constexpr auto kPatience = 3s;  // for the end of a process that was terminated
constexpr auto kRest = 1s;      // for the last output, when the conversation is about to end

// Returns why the server has ended the command, as a sentence; nothing if it has not.
std::optional<std::string> CauseText(const client::Exited& exit) {
  if (!exit.end) return std::nullopt;
  switch (*exit.end) {
    case wire::EndCause::kWall:
      return "the time limit is reached, and the command was ended";
    case wire::EndCause::kSessionEnded:
      return "the run was removed, and the command was ended";
    case wire::EndCause::kServerStopped:
      return "the server was stopped, and has ended the command";
  }
  return std::nullopt;
}

class Console {
 public:
  Console(Invocation& invocation, client::ExecServerClient& client, std::shared_ptr<client::Process> process,
          ConsoleOptions options)
      : invocation_(invocation),
        options_(std::move(options)),
        driver_(client, std::move(process)),
        output_(invocation.loop(), driver_.process(), options_.questions, changed_),
        input_(invocation.loop(), driver_, options_.questions, KeysInUse(), changed_),
        signals_(invocation.loop(), driver_, is_terminal() ? SignalRelay::Kind::kTerminal : SignalRelay::Kind::kPipes,
                 changed_) {}

  loop::Task<ConsoleEnd> Run();

 private:
  using How = ConsoleEnd::How;
  static constexpr int kLeaves = 2, kLeavesAtOnce = 3;  // by so many requests to end

  bool is_terminal() const {
    return options_.streams == ConsoleOptions::Streams::kTerminal && IsTerminal(STDIN_FILENO);
  }
  std::optional<EscapeKeys> KeysInUse() const { return is_terminal() ? std::optional(options_.keys) : std::nullopt; }
  bool done() const {
    return output_.finished() || output_.write_error() != 0 || signals_.asked_to_end() >= kLeavesAtOnce;
  }
  bool is_closing() const {
    const int asked = signals_.asked_to_end();
    return asked >= kLeaves || (output_.exit() && (is_terminal() || asked > 0));
  }

  loop::Task<std::optional<ConsoleEnd>> DoAction(EscapeKeys::Action action);
  loop::Task<> Terminate(std::chrono::milliseconds grace);
  loop::Task<ConsoleEnd> GiveUp(int status);
  loop::Task<> Close();
  loop::Task<ConsoleEnd> EndOnTimeLimit();
  ConsoleEnd EndOfCommand(const client::Exited& exit);
  loop::Task<ConsoleEnd> Conclude();

  Invocation& invocation_;
  const ConsoleOptions options_;
  Wakeup changed_{invocation_.loop()};
  Driver driver_;
  OutputRelay output_;
  InputRelay input_;
  SignalRelay signals_;
  std::optional<RawMode> raw_mode_;
  loop::Scope scope_;
};

loop::Task<ConsoleEnd> Console::Run() {
  if (is_terminal()) {
    auto raw_mode = RawMode::Enter(STDIN_FILENO);
    if (!raw_mode) co_return ConsoleEnd{How::kLeft, invocation_.Complain(raw_mode.error(), kOwnFailure)};
    raw_mode_.emplace(*std::move(raw_mode));
  }
  output_.Start();
  input_.Start();
  loop::Deadline limit(invocation_.loop(), options_.time_limit);
  while (!done() && !is_closing()) {
    const auto woken = co_await changed_.event().NextBefore(limit);
    if (woken == loop::Event::Woken::kByTime && !done()) {
      if (output_.exit()) break;
      co_return co_await EndOnTimeLimit();
    }
    if (signals_.TakeContinued()) input_.Wake();
    const auto action = input_.TakeAction();
    if (!action) continue;
    const auto end = co_await DoAction(*action);
    if (end) co_return *end;
  }
  co_await Close();
  co_return co_await Conclude();
}

// Waits for the last output, which somebody may hold open for ever.
loop::Task<> Console::Close() {
  loop::Deadline rest(invocation_.loop(), kRest);
  while (!done() && !rest.passed()) co_await changed_.event().NextBefore(rest);
  output_.Stop();
  while (!done() && signals_.asked_to_end() < kLeaves) co_await changed_.event().Next();
}

loop::Task<std::optional<ConsoleEnd>> Console::DoAction(EscapeKeys::Action action) {
  if (action == EscapeKeys::Action::kStop) {
    raw_mode_->Suspend();
    StopThisProgram();
    const auto raw = raw_mode_->Resume();
    if (!raw) co_return ConsoleEnd{How::kLeft, invocation_.Complain(raw.error(), kOwnFailure)};
    co_return std::nullopt;
  }
  const auto kept = co_await driver_.Keep();
  raw_mode_.reset();
  if (!kept) co_return ConsoleEnd{How::kLeft, invocation_.Complain(kept.error(), kOwnFailure)};
  (void)invocation_.Complain(fmt::format("detached; `holdfast attach {}` comes back", options_.run_name));
  co_return ConsoleEnd{How::kLeft, 0};
}

// The process may have ended meanwhile, so that a failure means nothing.
loop::Task<> Console::Terminate(std::chrono::milliseconds grace) { (void)co_await driver_.Terminate(grace); }

// Ends the process, because nobody wants its output any more.
loop::Task<ConsoleEnd> Console::GiveUp(int status) {
  co_await Terminate(0ms);
  co_return ConsoleEnd{How::kFinished, status};
}

loop::Task<ConsoleEnd> Console::EndOnTimeLimit() {
  // The answer cannot be read while standard output is full, so it is not waited for.
  scope_.Start(Terminate(kGrace));
  loop::Deadline limit(invocation_.loop(), kPatience);
  while (!done() && !limit.passed()) co_await changed_.event().NextBefore(limit);
  raw_mode_.reset();
  const client::Exited timed_out{.exit_code = kTimedOut, .end = wire::EndCause::kWall};
  co_return EndOfCommand(timed_out);
}

loop::Task<ConsoleEnd> Console::Conclude() {
  raw_mode_.reset();
  if (output_.lost_events() > 0) {
    (void)invocation_.Complain(fmt::format(
        "{} pieces of output are gone: the server keeps only the end of a long output", output_.lost_events()));
  }
  if (signals_.asked_to_end() >= kLeavesAtOnce) co_return ConsoleEnd{How::kLeft, 128 + signals_.last_signal()};
  if (output_.write_error() == EPIPE) co_return co_await GiveUp(128 + SIGPIPE);
  if (output_.write_error() != 0) {
    const Error error = ErrnoError("write", "standard output", output_.write_error());
    co_return co_await GiveUp(invocation_.Complain(error, kOwnFailure));
  }
  if (output_.failure()) {
    co_return ConsoleEnd{How::kLeft, invocation_.Complain(*output_.failure(), kOwnFailure)};
  }
  if (output_.exit()) co_return EndOfCommand(*output_.exit());
  if (signals_.asked_to_end() < kLeaves) co_return ConsoleEnd{How::kFinished, kOwnFailure};
  const int status = 128 + signals_.last_signal();
  co_return ConsoleEnd{How::kGivenUp, invocation_.Complain("the command has not ended", status)};
}

ConsoleEnd Console::EndOfCommand(const client::Exited& exit) {
  if (exit.sandbox_denied) (void)invocation_.Complain("the sandbox has denied something to the command");
  if (const auto cause = CauseText(exit)) (void)invocation_.Complain(*cause);
  const bool timed_out = exit.end == wire::EndCause::kWall;
  return {How::kFinished, timed_out ? kTimedOut : static_cast<int>(exit.exit_code)};
}

}  // namespace

loop::Task<ConsoleEnd> Converse(Invocation& invocation, client::ExecServerClient& client,
                                std::shared_ptr<client::Process> process, ConsoleOptions options) {
  Console console(invocation, client, std::move(process), std::move(options));
  co_return co_await console.Run();
}

}  // namespace holdfast::cli
